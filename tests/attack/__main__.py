"""`python -m tests.attack [NAME …]`: the long form, as the table of docs/guide/promises.md."""

from __future__ import annotations

import sys
import time

from tests.attack.attacks import ATTACKS


def main() -> None:
    """Run the attacks of these names, or all; leave with an error if one finds something."""
    names = sys.argv[1:] or [attack.name for attack in ATTACKS]
    if unknown := set(names) - {attack.name for attack in ATTACKS}:
        sys.exit(f"no attack {', '.join(sorted(unknown))}")
    print("| attack | what is tried | what holds | trials | found |\n|---|---|---|--:|--:|")
    found = []
    for attack in ATTACKS:
        if attack.name in names and (missing := attack.needs()):
            print(f"{attack.name}: {missing}", file=sys.stderr)
        elif attack.name in names:
            started = time.monotonic()
            trials = attack.trials(attack.long)
            row = [attack.name, attack.what, attack.holds, f"{trials.done:,}", len(trials.found)]
            print(f"| {' | '.join(map(str, row))} |", flush=True)
            took = time.monotonic() - started
            print(f"{attack.name}: {took:.0f} s of {attack.seconds:.0f}", file=sys.stderr)
            found += [f"{attack.name}: {one}" for one in trials.found]
    print(*found[:50], sep="\n", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
