"""Mutated state files: a clear error, or an agent that is what the file says and plays on.

    python -m tests.attack.state_files 100000 7                  # interpreted kernels
    python -m tests.attack.state_files 100000 7 first bernoulli  # compiled ones

Files of every policy and family, of agents with contexts, segments and boxes, of dispatchers, of
studies' snapshots and of published weights are changed at random places to hostile values, and
their checksums made anew. Each is loaded in a child process, which is
watched: a crash, a hang, any other exception, or an agent that is not the file's, is a failure.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from belman.deciders import state_file
from belman.errors import BelmanError
from belman.families import FAMILIES
from tests.attack.harness import Attack, Trials
from tests.attack.mutations import differences, mutated
from tests.attack.playing_on import play_on
from tests.attack.sample import Sample
from tests.attack.saved_states import samples

PLAYED, TURNS = 0.2, 5  # a share of the agents goes on so many turns, and is then looked at
SECONDS = 120.0  # of the processor in which a file is loaded and played, however slow the machine
ASLEEP = 30.0  # times as long on the clock, if it waits instead of working
SENT = 1_000  # files after which a child says what it found
_LOCK = threading.Lock()  # of the environment, in which children are begun
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # small matrices, on all cores already
#: What the next file says anew: its release, settings that the old one left to their defaults, and
#: in a snapshot how a policy worked, of which only what was learnt is kept.
_ANEW = re.compile(
    r"(.*/(agents/\d+|agent|blank))?/belman\b.*"
    r"|.*/(family|model|policy|exposure|settings|breaker)\b.* was put in"
    r"|/(segment|decisions|published|valid_until) was put in"
    r"|(.*/)?policy was .*|.*/family/prior\b.*|/agent/(working|memory|rng|stale)\b.*"
)


def attacked(sample: Sample, rng: random.Random) -> str:
    """'refused' or 'equal'; raises what the loader should not have raised."""
    said = mutated(sample.content, rng)
    try:
        result = sample.load(sample.signed(said))
    except BelmanError:
        return "refused"
    kept = sample.content_of(result)
    changed = [position for position in differences(said, kept) if not _ANEW.fullmatch(position)]
    if changed:
        raise AssertionError(f"the state is not that of its file: {changed[:3]}")
    if rng.random() < 0.1 and sample.content_of(sample.load(sample.signed(kept))) != kept:
        raise AssertionError("what was loaded is not what was saved of it")
    if rng.random() < PLAYED:
        play_on(result, rng, TURNS)
    return "equal"


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
    count: int,
    seed: int,
    compile: str = "never",
    families: Sequence[str] = tuple(FAMILIES),
    children: int = 1,
) -> dict[str, Any]:
    """Attack the loader so many times; counts, and a line for each failure.

    `compile` is 'first' for compiled kernels (minutes of compiling per family, once), or 'never'.
    """
    total: Counter[str] = Counter()
    failures: list[str] = []
    shares = [
        range(child * count // children, (child + 1) * count // children)
        for child in range(children)
    ]
    with ThreadPoolExecutor(children) as pool:
        for counts, result in pool.map(lambda one: _through(one, compile, seed, families), shares):
            total += counts
            failures += result
    return {"refused": 0, "equal": 0, **total, "failures": failures}


def _through(
    numbers: range, compile: str, seed: int, families: Sequence[str]
) -> tuple[Counter[str], list[str]]:
    """All files of these numbers, by a child and, where that dies, by the next."""
    total: Counter[str] = Counter()
    failures: list[str] = []
    while numbers:
        with _watched(compile, seed, numbers, families) as (child, at, pipe):
            while numbers:
                said = _heard(child, at, pipe)
                if said is None:
                    child.join()
                    if at.value < numbers[0]:
                        raise RuntimeError("the attack itself failed before its first file")
                    failures.append(f"{at.value}: ended by {child.exitcode}")
                    print(failures[-1], flush=True)
                    total["lost"] += at.value - numbers[0]  # of which is not known how they ended
                    numbers = range(at.value + 1, numbers.stop)
                    break
                first, counts, result = said
                numbers = range(first, numbers.stop)
                total += counts
                failures += result
                for failure in result:
                    print(failure, flush=True)
                if first % (20 * SENT) == 0:
                    print(f"{first:,} files: {dict(total)}, {len(failures)} failures", flush=True)
    return total, failures


@contextmanager
def _watched(compile: str, *work: Any) -> Iterator[tuple[Any, Any, Any]]:
    """A child at work, the number that it is at, and the pipe on which it speaks."""
    spawn = multiprocessing.get_context("spawn")
    at = spawn.Value("q", -1, lock=False)
    ours, theirs = spawn.Pipe(duplex=False)
    child = spawn.Process(target=_child, args=(*work, at, theirs))
    with _LOCK, mock.patch.dict(os.environ, {"BELMAN_COMPILE": compile, **_ONE_THREAD}):
        child.start()
    theirs.close()
    try:
        yield child, at, ours
    finally:
        child.join()
        ours.close()
        child.close()


def _heard(child: Any, at: Any, pipe: Any) -> Any:
    """What a child says next; None if it died, or was killed since it hung."""
    seen, busy, began = -1, 0.0, 0.0
    while not pipe.poll(0.2):
        if at.value != seen:
            seen, busy, began = at.value, _busy(child.pid), time.monotonic()
        worked, waited = _busy(child.pid) - busy, (time.monotonic() - began) / ASLEEP
        if max(worked, waited) > SECONDS and seen >= 0:
            child.kill()
    with suppress(EOFError):
        return pipe.recv()
    return None


def _busy(process: int) -> float:
    """Seconds for which a process has kept the processor busy, where the system says so."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(trials: Trials) -> None:
    """A trial is a file; kernels are interpreted, which takes no compiling."""
    families = ("bernoulli", "gaussian") if trials.count < ATTACK.long else tuple(FAMILIES)
    children = 1 if trials.count < ATTACK.long else os.cpu_count() or 1
    seed = trials.luck.getrandbits(32)
    result = main(trials.count, seed, families=families, children=children)
    trials.done += result["refused"] + result["equal"]
    trials.result += result["failures"]


ATTACK = Attack(
    "state files",
    "saved agents of every kind, dispatchers, snapshots and weights documents with hostile values "
    "in them, checksums made anew",
    "a clear error, or an agent that is what the file says and plays on",
    run,
    short=60,
    long=1_000_000,
    seconds=3_600.0,
)


if __name__ == "__main__":
    how_many, with_seed = int(sys.argv[1]), int(sys.argv[2])
    how = sys.argv[3] if len(sys.argv) > 3 else "never"
    distributions = sys.argv[4:] or tuple(FAMILIES)
    result = main(how_many, with_seed, how, distributions, children=os.cpu_count() or 1)
    print({"refused": result["refused"], "equal": result["equal"]})
    print(f"{len(result['failures'])} failures", *result["failures"][:20], sep="\n")
    sys.exit(bool(result["failures"]))
