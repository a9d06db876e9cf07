"""Mutated state files: a clear error, or an agent that is what the file says and plays on.

    python -m tests.attack.state_files 100000 7                  # interpreted kernels
    python -m tests.attack.state_files 100000 7 first bernoulli  # compiled ones

Files of every policy and family, of a dispatcher and of a study's snapshot are changed at random
places to hostile values, and their checksums made anew. Each is loaded in a child process, which is
watched: a crash, a hang, any other exception, or an agent that is not the file's, is a failure.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from belman import Agent
from belman.agent import state_file
from belman.errors import BelmanError
from belman.families import FAMILIES
from belman.studies.event_log import Event, Kind
from belman.studies.state import State
from tests.attack.harness import Attack, Trials
from tests.attack.mutations import differences, mutated
from tests.attack.saved_states import Sample, play, samples

TURNS = 30
SECONDS = 600.0  # in which a file is loaded and played, however slow the machine
SENT = 1_000  # files after which a child says what it found
#: What the next file says anew: its release, settings that the old one left to their defaults, and
#: in a snapshot how a policy worked, of which only what was learnt is kept.
_ANEW = re.compile(
    r"(/agents/\d+|/agent)?/belman\b.*|.*/(family|policy|exposure|settings)\b.* was put in"
    r"|(.*/)?policy was .*|.*/family/prior\b.*|/agent/(working|memory|mind|stale)\b.*"
)


def attacked(sample: Sample, rng: random.Random) -> str:
    """'refused' or 'equal'; raises what the loader should not have raised."""
    said = mutated(sample.content, rng)
    try:
        found = sample.load(sample.signed(said))
    except BelmanError:
        return "refused"
    kept = sample.content_of(found)
    changed = [place for place in differences(said, kept) if not _ANEW.fullmatch(place)]
    if changed:
        raise AssertionError(f"the state is not that of its file: {changed[:3]}")
    if rng.random() < 0.1 and sample.content_of(sample.load(sample.signed(kept))) != kept:
        raise AssertionError("what was loaded is not what was saved of it")
    if isinstance(found, Agent):
        play(found, rng, TURNS)
        found.beliefs()
    elif isinstance(found, State):
        _go_on(found, rng)
    else:
        roster = found._roster
        for queue in roster.agents:
            for _ in range(TURNS if roster.free(draw=True) and roster.limit in (None, 9) else 0):
                server = found.assign(queue)
                found.completed(server, time=0.5)
    return "equal"


def _go_on(state: State, rng: random.Random) -> None:
    """Asks and tells, some before their windows close and some never."""
    now = state.tickets.time
    for _ in range(TURNS // 3):
        now += rng.choice((0.0, 1.0, 60.0))
        state.close(now)
        state.count_early(now)
        ((arm, draw, chance),) = state.decide(1)
        asked = Event(state.number + 1, int(Kind.ASKED), now, arm, draw, chance)
        state.fold(asked, decided=True)
        if rng.random() < 0.7:
            told = {"arm": arm, "ticket": asked.number, "reward": float(rng.random() < 0.5)}
            state.fold(Event(state.number + 1, int(Kind.TOLD), now + 0.5, **told))
            now += 0.5
    state.status()


def _child(seed: int, numbers: range, families: Sequence[str], at: Any, out: Any) -> None:
    """Attack with these numbers; what came of it is sent on after every few thousand."""
    warnings.simplefilter("error")
    state_file._checksum = lambda document: ""  # of every file the right one, at no cost
    every = samples(seed, families)
    counts: Counter[str] = Counter()
    failures = []
    for number in numbers:
        at.value = number
        rng = random.Random(f"{seed}/{number}")
        sample = every[number % len(every)]
        try:
            counts[attacked(sample, rng)] += 1
        except Exception:
            failures.append(f"{number}: {sample.name}: {traceback.format_exc(limit=-3)}")
        if (number + 1) % SENT == 0 or number == numbers[-1]:
            out.send((number + 1, counts, failures))
            counts, failures = Counter(), []


def main(
    count: int, seed: int, compile: str = "never", families: Sequence[str] = tuple(FAMILIES)
) -> dict[str, Any]:
    """Attack the loader so many times; counts, and a line for each failure.

    `compile` is 'first' for compiled kernels (minutes of compiling per family, once), or 'never'.
    """
    total: Counter[str] = Counter()
    failures: list[str] = []
    first = 0
    while first < count:
        with _watched(compile, seed, range(first, count), families) as (child, at, pipe):
            while first < count:
                said = _heard(child, at, pipe)
                if said is None:
                    child.join()
                    if at.value < first:
                        raise RuntimeError("the attack itself failed before its first file")
                    failures.append(f"{at.value}: ended by {child.exitcode}")
                    print(failures[-1], flush=True)
                    total["lost"] += at.value - first  # of which is not known how they ended
                    first = at.value + 1
                    break
                first, counts, found = said
                total += counts
                failures += found
                if first % (20 * SENT) == 0:
                    print(f"{first:,} files: {dict(total)}, {len(failures)} failures", flush=True)
    return {"refused": 0, "equal": 0, **total, "failures": failures}


@contextmanager
def _watched(compile: str, *work: Any) -> Iterator[tuple[Any, Any, Any]]:
    """A child at work, the number that it is at, and the pipe on which it speaks."""
    spawn = multiprocessing.get_context("spawn")
    at = spawn.Value("q", -1, lock=False)
    ours, theirs = spawn.Pipe(duplex=False)
    child = spawn.Process(target=_child, args=(*work, at, theirs))
    before = os.environ.get("BELMAN_COMPILE")
    os.environ["BELMAN_COMPILE"] = compile
    child.start()
    if before is None:
        del os.environ["BELMAN_COMPILE"]
    else:
        os.environ["BELMAN_COMPILE"] = before
    theirs.close()
    try:
        yield child, at, ours
    finally:
        child.join()
        ours.close()
        child.close()


def _heard(child: Any, at: Any, pipe: Any) -> Any:
    """What a child says next; None if it died, or was killed since it hung."""
    seen, since = -1, time.monotonic()
    while not pipe.poll(0.2):
        if at.value != seen:
            seen, since = at.value, time.monotonic()
        elif time.monotonic() - since > SECONDS and seen >= 0:
            child.kill()
    with suppress(EOFError):
        return pipe.recv()
    return None


def run(trials: Trials) -> None:
    """A trial is a file; kernels are interpreted, which takes no compiling."""
    found = main(trials.count, trials.luck.getrandbits(32), families=("bernoulli", "gaussian"))
    trials.done += found["refused"] + found["equal"]
    trials.found += found["failures"]


ATTACK = Attack(
    "state files",
    "saved agents, dispatchers and snapshots with hostile values in them, checksums made anew",
    "a clear error, or an agent that is what the file says and plays on",
    run,
    short=60,
    long=20_000,
    seconds=600.0,
)


if __name__ == "__main__":
    how_many, with_seed = int(sys.argv[1]), int(sys.argv[2])
    how = sys.argv[3] if len(sys.argv) > 3 else "never"
    result = main(how_many, with_seed, how, sys.argv[4:] or tuple(FAMILIES))
    print({"refused": result["refused"], "equal": result["equal"]})
    print(f"{len(result['failures'])} failures", *result["failures"][:20], sep="\n")
    sys.exit(bool(result["failures"]))
