"""A machine that lives the lives of studies: any settings, any calls in any order, in several
worlds at once (`worlds.py`), which have to decide the same, chances included, and know the same.

`python -m tests.studies.machine --minutes 60` goes on for so long, with new lives all the time, and
says how many there were. What it finds is printed as the calls that show it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from belman import errors
from belman.engine import tiers
from tests.studies import machine_settings as choices
from tests.studies.conftest import Clock
from tests.studies.machine_settings import Drawn
from tests.studies.postgres import Postgres
from tests.studies.worlds import Places, World, plain

SOME = st.integers(0, 30)
NUMBERS = itertools.count(1)
COUNTED: Counter[str] = Counter()
CHANGES = (
    "retire_arm", "add_arm", "set_policy", "set_exposure", "pause", "resume", "ship", "unship",
)  # fmt: skip
REFUSED = object()
EXPOSURES = ("exposure.Constant(0.3)", "exposure.Paper()", "0.5")


class DifferenceError(AssertionError):
    """Two worlds that differ, and the calls that led there."""


class Lives(RuleBasedStateMachine):
    """One life: settings, and calls that all worlds answer."""

    kinds: tuple[str, ...] = choices.KINDS
    without: frozenset[str] = frozenset()  # calls that are left out
    places: Places

    def __init__(self) -> None:
        super().__init__()
        self.worlds: list[World] = []
        self.tickets, self.rows = 0, 0
        self.observed: list[str] = []  # rows, as code
        self.weighted: tuple[str, ...] = ()  # arms that the last weights name
        self.broken = True

    @initialize(data=st.data(), every=st.sampled_from((1, 3)), watchful=st.booleans())
    def begin(self, data: Any, every: int, watchful: bool) -> None:
        self.drawn: Drawn = data.draw(choices.settings(self.kinds))
        self.clock, self.watchful = Clock(), watchful
        code = self.drawn.code(f"study {next(NUMBERS)}")
        self.script = [f"study = {code}  # a snapshot every {every} events"]
        self.worlds = self.places.worlds(self.clock, every)
        try:
            for world in self.worlds:
                world.begin(code)
        except errors.BelmanError as error:
            COUNTED[f"settings refused: {str(error)[:60]}"] += 1
            hypothesis.reject()
        self.rewards = choices.FAMILIES[self.drawn.family][1]
        self.arms = ["candidate"] if self.drawn.kind == "candidates" else ["a", "b", "c"]
        self.broken = False
        COUNTED["lives"] += 1
        COUNTED.update(f"{name}: {value}" for name, value in self.drawn.features.items())

    # Calls in all worlds

    def call(self, code: str, kept: str = "") -> Any:
        """What all worlds answer, or REFUSED. It is `kept` under a name in each."""
        operation = code.partition("(")[0]
        if operation.removeprefix("study.") in self.without:
            return REFUSED
        COUNTED[operation] += 1
        self.script.append(f"{kept}{code}")
        answers = [self._answer(world, code) for world in self.worlds]
        how, first = answers[0]
        for world, answer in zip(self.worlds, answers, strict=True):
            self.hold(world, plain(answer), plain(answers[0]))
            if kept == "t += " and how == "gives":
                found = answer[1]
                world.names["t"] += found if isinstance(found, list) else [found]
            elif kept and how == "gives":
                world.names[kept.removesuffix(" = ")] = answer[1]
        if how == "refuses":
            COUNTED["refused"] += 1
            self.script[-1] += f"  # {type(first).__name__}"
            return REFUSED
        return first

    def _answer(self, world: World, code: str) -> tuple[str, Any]:
        try:
            return world.answer(code)
        except Exception as error:
            raise self._failed(f"{world.title}: {type(error).__name__}: {error}") from error

    def hold(self, world: World, found: Any, wanted: Any) -> None:
        """Fail where a world differs from the first."""
        if found != wanted:
            first = self.worlds[0].title
            raise self._failed(f"{first}: {wanted}\n{world.title}: {found}")

    def _failed(self, what: str) -> DifferenceError:
        self.broken = True
        return DifferenceError("\n" + "\n".join([*self.script, what]))

    # Asking and telling

    def _asked(self, who: int) -> str:
        """The context, and the candidates, of an ask, as code."""
        if self.drawn.kind == "independent":
            return ""
        contexts = choices.CONTEXTUAL[self.drawn.kind][1]
        found = f"context={contexts[who % len(contexts)]}"
        if self.drawn.kind == "candidates":
            found += f", candidates={choices.CANDIDATES[who % len(choices.CANDIDATES)]}"
        return found

    def _ask(self, *arguments: str) -> None:
        code = ", ".join(filter(None, arguments))
        found = self.call(f"study.ask({code})", "t += ")
        if found is not REFUSED:
            self.tickets += len(found) if isinstance(found, list) else 1

    @rule(n=st.sampled_from(("", "", "1", "2", "5")), who=SOME, more=st.integers(0, 9))
    def ask(self, n: str, who: int, more: int) -> None:
        rest = {7: "attributes={'device': 'phone'}", 8: "key='one'"}.get(more, "")
        if more == 9 and self.drawn.kind != "independent" and "top" not in self.without:
            rest = "top=2"
        self._ask(n, self._asked(who), rest)
        self.after()

    @rule(turns=st.integers(1, 4), who=SOME, rewards=SOME)
    def play(self, turns: int, who: int, rewards: int) -> None:
        """Some turns whose rewards are told at once."""
        for turn in range(turns):
            before = self.tickets
            self._ask(self._asked(who + turn))
            if self.tickets > before:
                given = self.rewards[(rewards >> turn) % len(self.rewards)]
                self.call(f"study.tell(t[{before}], {given})")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, reward=SOME, metrics=st.integers(0, 3))
    def tell(self, some: int, reward: int, metrics: int) -> None:
        given = self.rewards[reward % len(self.rewards)]
        more = f", metrics={{'refund': {metrics % 2}}}" if metrics else ""
        self.call(f"study.tell(t[{some % self.tickets}], {given}{more})")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, reward=SOME)
    def correct(self, some: int, reward: int) -> None:
        given = (*self.rewards, None)[reward % (len(self.rewards) + 1)]
        self.call(f"study.correct(t[{some % self.tickets}], {given}, 'refund')")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, count=st.integers(1, 2))
    def give_back(self, some: int, count: int) -> None:
        first = some % self.tickets
        self.call(f"study.give_back(t[{first}:{first + count}])")
        self.after()

    @rule(some=SOME, reward=SOME, who=SOME, count=st.integers(1, 3))
    def record(self, some: int, reward: int, who: int, count: int) -> None:
        arm, given = repr(self._arm(some)), self.rewards[reward % len(self.rewards)]
        if self.drawn.kind == "candidates":
            arm = "{'price': 3, 'taste': 'sweet'}"
        context = ""
        if self.drawn.kind != "independent":
            contexts = choices.CONTEXTUAL[self.drawn.kind][1]
            context = f", {contexts[who % len(contexts)]}"
        self.call(f"study.record([({arm}, {given}{context})] * {count})")
        self.after()

    # Changes

    def _arm(self, some: int) -> str:
        return self.arms[some % len(self.arms)]

    @rule(what=st.sampled_from(CHANGES), some=SOME)
    def change(self, what: str, some: int) -> None:
        arm, policies = repr(self._arm(some)), choices.fitting(self.drawn)
        given = {
            "retire_arm": arm,
            "add_arm": arm,
            "set_policy": policies[some % len(policies)],
            "set_exposure": EXPOSURES[some % len(EXPOSURES)],
            "ship": arm if some % 2 or self.drawn.family == "money" else "",
        }
        self.call(f"study.{what}({given.get(what, '')})")
        if what == "pause" and some % 4:
            self.call("study.resume()")
        self.after()

    @rule()
    def add_new_arm(self) -> None:
        arm = f"new {len(self.arms)}"
        if self.call(f"study.add_arm({arm!r})") is not REFUSED:
            self.arms.append(arm)
        self.after()

    # Deciding elsewhere

    @rule(decisions=st.sampled_from((1, 10, 100)), who=SOME, every=st.sampled_from(("", "30")))
    def publish(self, decisions: int, who: int, every: str) -> None:
        self._publish(f"{decisions}, every={every}" if every else str(decisions), who)
        self.after()

    def _publish(self, given: str, who: int) -> None:
        if self.drawn.kind == "segments":
            contexts = choices.CONTEXTUAL["segments"][1]
            given += f", segment={contexts[who % len(contexts)]}"
        self._weigh(f"study.publish({given})")

    @rule()
    def weights(self) -> None:
        self._weigh("study.weights()")
        self.after()

    def _weigh(self, code: str) -> None:
        found = self.call(code, "w = ")
        if found is not REFUSED:
            pairs = zip(found.arms, found.weights, strict=True)
            self.weighted = tuple(arm for arm, weight in pairs if weight > 0.01)

    @rule(some=SOME, reward=SOME, ago=st.sampled_from((0, 20, 100)), count=st.integers(1, 3))
    def observe(self, some: int, reward: int, ago: int, count: int) -> None:
        rows = []
        for i in range(count):
            given = self.rewards[(reward + i) % len(self.rewards)]
            if self.weighted:
                arm = self.weighted[(some + i) % len(self.weighted)]
                who = f"unit(w, {arm!r}, {i}), w.version"
            else:
                arm, who = self._arm(some + i), f"'unit {self.rows}', None"
            self.rows += 1
            self.observed.append(f"{who}, {arm!r}, {given}")
            rows.append(f"({self.observed[-1]}, clock() - {ago})")
        self.call(f"study.observe([{', '.join(rows)}], key='rows {self.rows}')")
        self.after()

    @precondition(lambda self: self.observed)
    @rule(some=SOME, reward=SOME)
    def correct_rows(self, some: int, reward: int) -> None:
        given = (*self.rewards, None)[reward % (len(self.rewards) + 1)]
        row = self.observed[some % len(self.observed)]
        self.call(f"study.correct_rows([({row}, {given})], 'refund')")
        self.after()

    @rule(some=SOME, n=st.integers(1, 9))
    def observe_sums(self, some: int, n: int) -> None:
        rewards = [self.rewards[i % len(self.rewards)] for i in range(n)]
        sums = f"'n': {n}, 'sum': {sum(rewards)}, 'squares': {sum(r * r for r in rewards)}"
        self.rows += 1
        row = f"{{'version': None, 'arm': {self._arm(some)!r}, {sums}}}"
        self.call(f"study.observe([{row}], key='sums {self.rows}')")
        self.after()

    # Time, and looking

    @rule(seconds=st.sampled_from((0.5, 20.0, 61.0)))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds
        self.script.append(f"clock.now += {seconds}")
        self.after()

    @rule(look=st.sampled_from(("check", "report", "explain", "beliefs", "metrics", "tickets")))
    def look(self, look: str) -> None:
        """Whoever looks at one world changes nothing in it."""
        slow = self.drawn.family == "money" and look in ("report", "beliefs")
        if slow or look in self.without:
            return
        given = self._asked(0) if look == "explain" else ""
        self.script.append(f"study.{look}({given})  # in the first world alone")
        COUNTED[f"study.{look}"] += 1
        self._answer(self.worlds[0], f"study.{look}({given})")

    def after(self) -> None:
        """What holds after every step; a life that nobody watches is looked at in its end."""
        if self.watchful:
            self.compare()

    def compare(self) -> None:
        """All worlds know the same, name no retired arm, and decide the same next."""
        kind, asked = self.drawn.kind, self._asked(0)
        looks = ["study.status()"]
        if self.drawn.family != "money":  # takes half a minute where Python integrates
            looks.append("study.beliefs()")
        if kind in ("segments", "contexts"):
            looks.append(f"study.beliefs({asked})")
        if kind == "segments":
            looks.append("study.segments()")
        tables = [self._looked(world, looks) for world in self.worlds]
        for i, look in enumerate(looks):
            for world, found in zip(self.worlds, tables, strict=True):
                if found[i] != tables[0][i]:
                    self.script.append(look)
                    self.hold(world, found[i], tables[0][i])
        if kind != "candidates" and "explain" not in self.without:
            self._looked(self.worlds[0], [f"study.explain({asked})"])
        self._ask(asked)
        self._ask("3", self._asked(1))

    def _looked(self, world: World, looks: list[str]) -> list[Any]:
        """What is seen of a study, in which no retired arm is named."""
        found = self._answer(world, f"[study.retired, {', '.join(looks)}]")[1]
        for look, table in zip(looks[1:], found[2:], strict=True):
            named = set(table["arm"]) & set(found[0])
            if named and "retired" not in self.without:
                raise self._failed(f"{world.title}: {look} names {named}, which is retired")
        return [plain(table) for table in found[1:]]

    def teardown(self) -> None:
        if self.broken:
            return
        self.compare()
        if self.drawn.kind in ("independent", "segments"):
            self._publish("10", 0)
        for world in self.worlds:
            self._answer(world, "study.check()")


def lives(
    urls: Sequence[str], examples: int, steps: int, seed: int | None = None, **chosen: Any
) -> None:
    """Live so many lives of at most so many steps in these databases: the same ones every time, or
    those of a seed.
    """
    with closing(Places(urls)) as places:
        _live(examples, steps, seed, places=places, **chosen)


def _live(examples: int, steps: int, seed: int | None, **chosen: Any) -> None:
    machine: Any = type("Life", (Lives,), chosen)
    if seed is not None:
        machine = hypothesis.seed(seed)(machine)
    options = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=seed is None,
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=hypothesis.Verbosity.quiet,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    run_state_machine_as_test(machine, settings=options)


@contextmanager
def quickly() -> Iterator[None]:
    """Python runs kernels, since there are few turns and many policies."""
    with tiers.interpreted(), np.errstate(all="ignore"):
        yield


@contextmanager
def files() -> Iterator[list[str]]:
    """Four databases of SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        yield [f"sqlite:///{folder}/{i}.db?synchronous=normal" for i in range(4)]


@contextmanager
def server() -> Iterator[list[str]]:
    """Four databases of a PostgreSQL server."""
    with closing(Postgres()) as found:
        yield [found.database(f"world{i}") for i in range(4)]


def main() -> None:
    """Live for as long as told; leave with an error if anything is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.studies.machine", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(choices.KINDS))
    parser.add_argument("--without", default="", help="calls, or 'retired', to leave out")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    given = parser.parse_args()
    until, found = time.monotonic() + 60.0 * given.minutes, 0
    kinds, without = tuple(given.kinds.split(",")), frozenset(given.without.split(","))
    chosen = {"kinds": kinds, "without": without}
    with quickly(), server() if given.postgresql else files() as urls:
        for seed in itertools.count(given.seed):
            if time.monotonic() > until:
                break
            try:
                lives(urls, 40, given.steps, seed, **chosen)
            except DifferenceError as difference:
                found += 1
                print(f"== seed {seed}{difference}\n", flush=True)
    for name, count in sorted(COUNTED.items()):
        print(f"{count:9,}  {name}")
    print(f"{found} differences")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
