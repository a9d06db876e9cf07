"""Mutated state files: a clear error, or an agent that is what the file says and plays on.

    python -m tests.attack.state_files 100000 7                  # interpreted kernels
    python -m tests.attack.state_files 100000 7 first bernoulli  # compiled ones

Files of every policy and family, of a dispatcher and of a study's snapshot are changed at random
places to hostile values, and their checksums made anew. Each is loaded in a child process, which is
watched: a crash, a hang, any other exception, or an agent that is not the file's, is a failure.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from belman import Agent
from belman.agent import state_file
from belman.dispatch import Breaker, Dispatcher
from belman.errors import BelmanError
from belman.families import FAMILIES
from belman.policies import POLICIES
from belman.studies.event_log import Event, Kind
from belman.studies.settings import settings
from belman.studies.state import State, _digest
from tests.attack.harness import Attack, Trials

TURNS = 50
SECONDS = 60.0  # in which a file is loaded and played, however slow the machine
_SETTINGS: dict[str, dict[str, Any]] = {
    "explore-then-commit": {"explore": 2},
    "successive-rejects": {"budget": 40},
    "successive-accepts-rejects": {"budget": 40, "m": 2},
    "sequential-halving": {"budget": 40, "m": 2},
    "kl-ucb++": {"horizon": 100},
    "ids": {"draws": 20},
    "ts-ucb": {"draws": 5},
}
_HOSTILE: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 4, 5, 7, 50_000_000, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63),
    10**30, 0.5, -0.0, 1e-320, 1e-300, 1e-9, 1e9, 1e15, 1e16, 1e100, 1e200, 1.7e308, -1.7e308,
    "inf", "-inf", "nan", "", "0", "a", None, True, False, [], {}, [1, 50_000_000], [[1.0]],
    {"name": "belman"}, {"name": "phases"}, {"tuple": []}, {"repr": "x"},
)  # fmt: skip


class Sample(NamedTuple):
    """A saved state: what it is, its content without a checksum, and how it is read."""

    name: str
    content: dict[str, Any]
    signed: Callable[[dict[str, Any]], str]
    load: Callable[[str], Any]


def _signed(content: dict[str, Any]) -> str:
    body = {name: value for name, value in content.items() if name != "checksum"}
    return json.dumps(body | {"checksum": state_file._checksum(body)}, ensure_ascii=False)


def _signed_dispatcher(content: dict[str, Any]) -> str:
    agents = content.get("agents")
    if isinstance(agents, list):
        texts = [_signed(agent) if isinstance(agent, dict) else agent for agent in agents]
        content = content | {"agents": texts}
    return _signed(content)


def _signed_snapshot(content: dict[str, Any]) -> str:
    if isinstance(content.get("agent"), dict):
        content = content | {"agent": json.loads(_signed(content["agent"]))}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"{_digest(text)}\n{text}"


def _dispatcher(text: str) -> Dispatcher:
    return Dispatcher.from_json(text, clock=lambda: 0.0)


def _agents(rng: random.Random, families: Sequence[str]) -> Iterator[tuple[str, Agent]]:
    for policy, kind in POLICIES.items():
        if kind.sees_truth or (policy == "gittins" and os.environ.get("BELMAN_COMPILE") == "never"):
            continue  # a table of indices takes minutes where it is not compiled
        who = kind(**_SETTINGS.get(policy, {}))
        for family in families:
            if family in ("chi-squared", "beta") and policy != "belman":
                continue  # by quadrature: slow, and the same loader
            try:
                agent = Agent(
                    ["a", "b", "c"],
                    family,
                    who,
                    discount=rng.choice((1.0, 0.9)),
                    seed=rng.getrandbits(32),
                )
            except BelmanError:
                continue  # a policy for other families
            _play(agent, rng, rng.randrange(2, 12))
            yield f"{policy}, {family}", agent


def samples(seed: int, families: Sequence[str] = tuple(FAMILIES)) -> list[Sample]:
    """States of every kind, each in the middle of its life; agents of some families alone."""
    rng = random.Random(seed)
    found = [
        Sample(name, _content(agent.to_json()), _signed, Agent.from_json)
        for name, agent in _agents(rng, families)
    ]
    real: dict[str, Any] = {"slots": {"x": 2, "y": "learnt"}, "breaker": Breaker(), "limit": 9}
    for name, more in {"dispatcher": {}, "dispatcher for real servers": real}.items():
        dispatcher = Dispatcher("xyz", queues=("p", "q"), seed=3, clock=lambda: 0.0, **more)
        for queue in ("p", "q", "q"):
            server = dispatcher.assign(queue)
            if queue == "p":
                dispatcher.completed(server, time=0.5)
        content = _content(dispatcher.to_json())
        content["agents"] = [_content(agent) for agent in content["agents"]]
        found.append(Sample(name, content, _signed_dispatcher, _dispatcher))
    state = State(settings(["a", "b", "c"], seed=5))
    for number, arm in enumerate((0, 1, 2, 2), start=1):
        state.fold(Event(number, int(Kind.ASKED), 1.0, arm=arm))
    state.fold(Event(5, int(Kind.TOLD), 2.0, arm=0, ticket=1, reward=1.0))
    state.fold(Event(6, int(Kind.ARM_RETIRED), 3.0, arm=2))
    text = state.to_text().partition("\n")[2]
    found.append(Sample("snapshot", json.loads(text), _signed_snapshot, State.from_text))
    return found


def _content(text: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(text)
    content.pop("checksum")
    return content


# Mutating


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) inside plain data."""
    keys: Any = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def mutated(content: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy with one to three hostile changes."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        part = content
        name = rng.choice([key for key in content if key not in ("format", "version")] or [""])
        if isinstance(content.get(name), (dict, list)) and rng.random() < 0.9:
            part = content[name]
        places = list(_places(part))
        if not places:
            break
        holder, key = rng.choice(places) if part is not content else (content, name)
        _change(holder, key, rng)
    return content


def _change(holder: Any, key: Any, rng: random.Random) -> None:
    old, kind = holder[key], rng.randrange(8)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(rng.choice(holder)))
    elif kind == 2 and isinstance(holder, list):
        del holder[key]
    elif kind == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[key] = rng.choice((-old, old + 1, old * 1e6, old / 3, old - 1, old * 1e-12))
    else:
        holder[key] = copy.deepcopy(rng.choice(_HOSTILE))


# Loading


def _play(agent: Agent, rng: random.Random, turns: int) -> None:
    numbers = {
        "bernoulli": (0.0, 1.0), "poisson": (0.0, 3.0), "geometric": (1.0, 4.0), "beta": (0.2, 0.7),
        "bounded-exponential": (0.2, 0.7),
    }.get(agent.scale.base.name, (0.5, 2.0))  # fmt: skip
    for _ in range(turns):
        arm = agent.ask()
        if rng.random() < 0.9:
            reward = rng.choice(numbers)
            if agent.scale.range is not None:
                low, high = agent.scale.range
                reward = low + (high - low) * reward
            try:
                agent.tell(arm, reward)
            except BelmanError:  # a law may be so narrow, or a belief so far, that none is left
                agent.cancel(arm)


def attacked(sample: Sample, rng: random.Random) -> str:
    """'refused' or 'equal'; raises what the loader should not have raised."""
    text = sample.signed(mutated(sample.content, rng))
    try:
        found = sample.load(text)
    except BelmanError:
        return "refused"
    again = found.to_text if isinstance(found, State) else found.to_json
    before = again()
    if sample.load(before) is None or again() != before:
        raise AssertionError("what was loaded is not what was saved of it")
    if isinstance(found, Agent):
        _play(found, rng, TURNS)
        found.beliefs()
    elif isinstance(found, State):
        _play(found.agent, rng, TURNS)
    else:
        roster = found._roster
        for queue in roster.agents:
            for _ in range(TURNS if roster.free(draw=True) and roster.limit in (None, 9) else 0):
                server = found.assign(queue)
                found.completed(server, time=0.5)
    return "equal"


def _child(seed: int, numbers: range, families: Sequence[str], at: Any, out: Any) -> None:
    warnings.simplefilter("error")
    every = samples(seed, families)
    counts = {"refused": 0, "equal": 0}
    failures = []
    for number in numbers:
        at.value = number
        rng = random.Random(f"{seed}/{number}")
        sample = every[number % len(every)]
        try:
            counts[attacked(sample, rng)] += 1
        except Exception:
            failures.append(f"{number}: {sample.name}: {traceback.format_exc(limit=-3)}")
    out.send((counts, failures))


def main(
    count: int, seed: int, compile: str = "never", families: Sequence[str] = tuple(FAMILIES)
) -> dict[str, Any]:
    """Attack the loader so many times; counts, and a line for each failure.

    `compile` is 'first' for compiled kernels (minutes of compiling per family, once), or 'never'.
    """
    spawn = multiprocessing.get_context("spawn")
    total: dict[str, Any] = {"refused": 0, "equal": 0, "failures": []}
    first = 0
    while first < count:
        at = spawn.Value("q", -1, lock=False)
        ours, theirs = spawn.Pipe(duplex=False)
        numbers = range(first, count)
        child = spawn.Process(target=_child, args=(seed, numbers, families, at, theirs))
        before = os.environ.get("BELMAN_COMPILE")
        os.environ["BELMAN_COMPILE"] = compile
        child.start()
        if before is None:
            del os.environ["BELMAN_COMPILE"]
        else:
            os.environ["BELMAN_COMPILE"] = before
        theirs.close()
        seen, since = -1, time.monotonic()
        while child.is_alive() and not ours.poll(0.2):
            if at.value != seen:
                seen, since = at.value, time.monotonic()
            elif time.monotonic() - since > SECONDS and seen >= 0:
                child.kill()
        try:
            counts, failures = ours.recv()
            first = count
        except EOFError:
            child.join()
            if at.value < first:
                raise RuntimeError("the attack itself failed before its first file") from None
            counts, failures = {}, [f"{at.value}: ended by {child.exitcode}"]
            first = at.value + 1
        child.join()
        ours.close()
        child.close()
        for name, number in counts.items():
            total[name] += number
        total["failures"] += failures
    return total


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
