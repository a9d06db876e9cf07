"""`python -m tests.attack [--seed=SEED] [NAME[=COUNT] …]`: the long form, as the table of the
promises.

All attacks, or those of these names, so often as is said or else in their long form; with another
seed they are other trials.
"""

from __future__ import annotations

import sys
import time

from tests.attack.attacks import ATTACKS
from tests.attack.harness import Attack


def chosen(words: list[str]) -> list[tuple[Attack, int]]:
    """The attacks of these words with their counts; leaves with an error where there is none."""
    known = {attack.name: attack for attack in ATTACKS}
    result = []
    for word in words or list(known):
        name, _, count = word.partition("=")
        if name not in known or (count and not count.isdecimal()):
            sys.exit(f"no attack {word!r}: there are {', '.join(known)}, each also with =COUNT")
        result.append((known[name], int(count) if count else known[name].long))
    return result


def main() -> None:
    """Run them; leave with an error if one finds something."""
    print("| attack | what is tried | what holds | trials | found |\n|---|---|---|--:|--:|")
    result, words = [], sys.argv[1:]
    seed = int(words.pop(0).partition("=")[2]) if words and words[0].startswith("--seed=") else None
    for attack, count in chosen(words):
        if missing := attack.needs():
            print(f"{attack.name}: {missing}", file=sys.stderr)
            continue
        started = time.monotonic()
        trials = attack.trials(count, seed)
        row = [attack.name, attack.what, attack.holds, f"{trials.done:,}", len(trials.result)]
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        took = time.monotonic() - started
        print(f"{attack.name}: {took:.0f} s of {attack.seconds:.0f}", file=sys.stderr)
        result += [f"{attack.name}: {one}" for one in trials.result]
    print(*result[:50], sep="\n", file=sys.stderr)
    sys.exit(bool(result))


if __name__ == "__main__":
    main()
