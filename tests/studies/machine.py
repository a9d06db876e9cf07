"""A machine that lives the lives of studies: any settings, any calls in any order, in several
worlds at once (`worlds.py`), which have to decide the same, chances included, and know the same.

`python -m tests.studies.machine --minutes 60` goes on for so long, with new lives all the time, and
says how many there were. What it finds is printed as the fewest calls that show it.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from belman import assign, errors
from belman.engine import tiers
from tests.studies import machine_settings as choices
from tests.studies.life import ALONE, KEEP, REFUSED, WAIT, DifferenceError, Life, shrunk
from tests.studies.machine_settings import Drawn
from tests.studies.postgres import Postgres
from tests.studies.worlds import Places, unit

SOME = st.integers(0, 30)
#: Keys of requests, of which some come again: with the same request, or with another.
KEYS = st.sampled_from(("", "", "", "", "key='1'", "key='2'", "key='3'"))
NUMBERS = itertools.count(1)
COUNTED: Counter[str] = Counter()
CHANGES = (
    "archive", "add_arm", "add_arm", "set_policy", "set_exposure", "pause", "resume", "ship",
    "unship", "set_guard", "spend",
)  # fmt: skip
GUARDS = ("{'refund': '< 0.2'}", "{'refund': '< 0.6', 'stars': '> 1 up to 5'}", "None", "{'x': 3}")
#: The chances of the arms of rows, where they were logged.
LOGGED = "{'a': 0.5, 'b': 0.25, 'c': 0.25}"
EXPOSURES = ("exposure.Constant(0.3)", "exposure.Paper()", "0.5")
LOOKS = (
    "check()", "report()", "report(by='device')", "beliefs()", "metrics()", "tickets()",
    "history()", "changes()", "verdict()", "agent().beliefs()", "report(by='country')", "replay",
    "contexts()", "report(control='a')", "fresh_for()", "asked('1')",
)  # fmt: skip
QUICK = ("check()", "tickets()", "history()", "fresh_for()", "asked('1')")


class Lives(RuleBasedStateMachine):
    """One life: settings, and calls that all worlds answer."""

    kinds: tuple[str, ...] = choices.KINDS
    without: frozenset[str] = frozenset()  # calls that are left out
    positions: Places
    last: Life  # that was lived

    def __init__(self) -> None:
        super().__init__()
        self.life: Life | None = None
        self.tickets, self.rows, self.steps = 0, 0, 0
        self.told: list[int] = []  # tickets
        self.observed: dict[str, float] = {}  # rows as code, and what each counts as
        self.logged: set[str] = set()  # of these, the rows that came with chances
        self.takes_rows = True  # as far as is known
        self.result: Any = None  # the last weights
        self.weighted: tuple[str, ...] = ()  # arms that the last weights name

    @initialize(data=st.data(), every=st.sampled_from((1, 3)), watchful=st.booleans())
    def begin(self, data: Any, every: int, watchful: bool) -> None:
        self.drawn: Drawn = data.draw(choices.settings(self.kinds))
        self.watchful = watchful
        try:
            self.life = Life(self.positions, self.drawn.code(f"study {next(NUMBERS)}"), every)
        except errors.BelmanError as error:
            COUNTED[f"settings refused: {str(error)[:60]}"] += 1
            hypothesis.reject()
        type(self).last = self.life
        self.rewards = choices.FAMILIES[self.drawn.family][1]
        self.arms = ["candidate"] if self.drawn.kind == "candidates" else ["a", "b", "c"]
        COUNTED["lives"] += 1
        COUNTED.update(f"{name}: {value}" for name, value in self.drawn.features.items())

    # Calls in all worlds

    def call(self, code: str, kept: str = "") -> Any:
        """What all worlds answer, or REFUSED; tickets are `kept` in each."""
        assert self.life is not None
        operation = code.partition("(")[0]
        if operation.removeprefix("study.") in self.without:
            return REFUSED
        result = self.life.line(f"{kept}{code}")
        COUNTED[operation if result is not REFUSED else f"{operation}, refused"] += 1
        return result

    @rule(some=SOME)
    def again(self, some: int) -> None:
        """A call that was made before is made once more, as requests are that got no answer."""
        assert self.life is not None
        calls = [line for line in self.life.script if line.startswith("study.")]
        if calls:
            self.call(calls[-1 - some % len(calls)])
        self.after()

    # Asking and telling

    def _context(self, who: int) -> str:
        contexts = choices.CONTEXTUAL[self.drawn.kind][1]
        result = contexts[who % len(contexts)]
        has_array = "text" in self.drawn.get("context", "")
        return result if has_array else re.sub(r", 'text': \[.*?\]", "", result)

    def _asked(self, who: int) -> str:
        """The context, and the candidates, of an ask, as code."""
        if self.drawn.kind == "independent":
            return ""
        result = f"context={self._context(who)}"
        if self.drawn.kind == "candidates":
            result += f", candidates={choices.CANDIDATES[who % len(choices.CANDIDATES)]}"
        return result

    def _ask(self, *arguments: str) -> None:
        self._keep(f"study.ask({_listed(*arguments)})")

    def _keep(self, code: str) -> None:
        result = self.call(code, KEEP)
        if result is not REFUSED:
            self.tickets += len(result) if isinstance(result, list) else 1

    def _told(self, some: int, reward: int, metrics: int) -> str:
        """A ticket and what is told of it, as code."""
        self.told.append(some % self.tickets)
        given, ticket = self.rewards[reward % len(self.rewards)], f"t[{some % self.tickets}]"
        if self.drawn.family == "utility":
            part = {3: f"{{'gain': {given}}}", 4: f"{{'refund': {metrics % 2}}}"}
            whole = f"{{'gain': {given}, 'refund': {metrics % 2}}}"
            return f"{ticket}, metrics={part.get(metrics, whole)}"
        more = f"metrics={{'refund': {metrics % 2}}}" if metrics else ""
        return _listed(ticket, str(given), more)

    @rule(n=st.sampled_from(("", "", "1", "2", "5")), who=SOME, more=st.integers(0, 5), key=KEYS)
    def ask(self, n: str, who: int, more: int, key: str) -> None:
        rest = {3: "attributes={'device': 'phone'}", 4: "attributes={'device': 'desk'}"}
        if more == 5 and self.drawn.kind != "independent" and "top" not in self.without:
            rest[5] = "top=2"
        self._ask(n, self._asked(who), rest.get(more, ""), key)
        self.after()

    @rule(turns=st.integers(1, 4), who=SOME, rewards=SOME, metrics=SOME)
    def play(self, turns: int, who: int, rewards: int, metrics: int) -> None:
        """Some turns whose rewards are told at once."""
        for turn in range(turns):
            before = self.tickets
            self._ask(self._asked(who + turn))
            if self.tickets > before:
                self.call(f"study.tell({self._told(before, rewards >> turn, metrics >> turn)})")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, reward=SOME, metrics=st.integers(0, 4), key=KEYS)
    def tell(self, some: int, reward: int, metrics: int, key: str) -> None:
        self.call(f"study.tell({_listed(self._told(some, reward, metrics), key)})")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, reward=SOME, who=SOME)
    def together(self, some: int, reward: int, who: int) -> None:
        """A tell, an ask and a tell in one transaction."""
        tells = [f"Tell({self._told(some + i, reward + i, i)})" for i in range(2)]
        asks = f"Ask({_listed(str(1 + who % 2), self._asked(who))})"
        self.call(f"study.together([{tells[0]}, {asks}, {tells[1]}])")
        self.after()

    @rule(who=SOME, n=st.integers(1, 2), key=KEYS)
    def defer(self, who: int, n: int, key: str) -> None:
        """Tickets of which nobody knows yet whether they are used."""
        self._keep(f"one(study, Ask({_listed(str(n), self._asked(who), 'deferred=True', key)}))")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, count=st.integers(1, 2))
    def activate(self, some: int, count: int) -> None:
        self.call(f"one(study, Activate(t[{some % self.tickets}:][:{count}]))")
        self.after()

    @rule(who=SOME, reward=SOME, metrics=SOME, seconds=st.sampled_from((0.5, 61.0)))
    def show_later(self, who: int, reward: int, metrics: int, seconds: float) -> None:
        """A deferred ticket is told, and activated, in either order, perhaps too late."""
        assert self.life is not None
        before = self.tickets
        self._keep(f"one(study, Ask({_listed('1', self._asked(who), 'deferred=True')}))")
        if self.tickets > before:
            calls = [
                f"study.tell({self._told(before, reward, metrics)})",
                f"one(study, Activate([t[{before}]]))",
            ]
            self.call(calls[who % 2])
            self.life.line(f"{WAIT}{seconds}")
            self.call(calls[1 - who % 2])
        self.after()

    @precondition(lambda self: self.drawn.kind == "candidates")
    @rule(who=SOME, reward=SOME, deferred=st.booleans(), again=st.integers(0, 3))
    def fill_slots(self, who: int, reward: int, deferred: bool, again: int) -> None:
        """Several slots are filled at once, and told at once."""
        candidates = choices.CANDIDATES[who % len(choices.CANDIDATES)]
        slots = [
            f"Slot('top', {self._context(who)}, [0, 1])",
            f"Slot('side', {self._context(who + 1)}, [1, 0])",
        ]
        key = f"slots {max(self.steps - again, 0)}"
        before = self.tickets
        rest = f"{candidates}, [{_listed(*slots)}], {deferred}"
        self._keep(f"one(study, AskSlots('{key}', {rest}))")
        if self.tickets > before:
            self.call(f"study.asked_slots('{key}')")
            tells = [f"Tell({self._told(before + i, reward + i, i)})" for i in range(2)]
            self.call(f"one(study, TellAll([{_listed(*tells)}]))")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, reward=SOME, key=KEYS)
    def correct(self, some: int, reward: int, key: str) -> None:
        given = (*self.rewards, None)[reward % (len(self.rewards) + 1)]
        ticket = f"t[{self.told[some % len(self.told)] if self.told else some % self.tickets}]"
        told = f"{ticket}, {given}, 'refund'"
        if self.drawn.family == "utility" and given is not None:
            told = f"{ticket}, None, 'refund', metrics={{'gain': {given}}}"
        self.call(f"study.correct({_listed(told, key)})")
        self.after()

    @rule(who=SOME, reward=SOME, metrics=SOME)
    def refund(self, who: int, reward: int, metrics: int) -> None:
        """A ticket is told, counts, and is corrected, perhaps more than once."""
        before = self.tickets
        self._ask(self._asked(who))
        if self.tickets > before:
            assert self.life is not None
            self.call(f"study.tell({self._told(before, reward, metrics)})")
            self.life.line(f"{WAIT}61.0")
            for turn in range(1, 2 + who % 2):
                given = (*self.rewards, None)[(reward + turn) % (len(self.rewards) + 1)]
                told = f"t[{before}], {given}, 'refund'"
                if self.drawn.family == "utility" and given is not None:
                    told = f"t[{before}], None, 'refund', metrics={{'gain': {given}}}"
                self.call(f"study.correct({told})")
        self.after()

    @precondition(lambda self: self.tickets > 3 and self.drawn.family != "money")
    @rule(some=SOME)
    def replay(self, some: int) -> None:
        """Every world estimates the same of another policy."""
        policies = choices.fitting(self.drawn)
        self.call(f"study.replay({policies[some % len(policies)]}, seed={some})")
        self.after()

    @precondition(lambda self: self.tickets)
    @rule(some=SOME, count=st.integers(1, 2))
    def give_back(self, some: int, count: int) -> None:
        first = some % self.tickets
        self.call(f"study.give_back(t[{first}:{first + count}])")
        self.after()

    @rule(some=SOME, reward=SOME, who=SOME, count=st.integers(1, 3), key=KEYS)
    def record(self, some: int, reward: int, who: int, count: int, key: str) -> None:
        arm, given = repr(self._arm(some)), self.rewards[reward % len(self.rewards)]
        if self.drawn.kind == "candidates":
            arm = "{'price': 3, 'taste': 'sweet'}"
        rest = "" if self.drawn.kind == "independent" else f", {self._context(who)}"
        self.call(f"study.record({_listed(f'[({arm}, {given}{rest})] * {count}', key)})")
        self.after()

    # Changes

    def _arm(self, some: int) -> str:
        return self.arms[some % len(self.arms)]

    @rule(some=SOME, key=KEYS)
    def retire(self, some: int, key: str) -> None:
        self.call(f"study.retire_arm({_listed(repr(self._arm(some)), key)})")
        self.after()

    @rule(what=st.sampled_from(CHANGES), some=SOME, key=KEYS)
    def change(self, what: str, some: int, key: str) -> None:
        arm, policies = repr(self._arm(some)), choices.fitting(self.drawn)
        given = {
            "add_arm": arm,
            "set_policy": policies[some % len(policies)],
            "set_exposure": EXPOSURES[some % len(EXPOSURES)],
            "set_guard": GUARDS[some % len(GUARDS)],
            "spend": _listed(str(some / 10), f"arm={arm}" if some % 2 else ""),
            "ship": arm if some % 2 or self.drawn.family == "money" else "",
        }
        if what == "archive":
            self.call("archive(study, 'done')")
            self.call("restore(study.storage, study.name)")
        else:
            self.call(f"study.{what}({_listed(given.get(what, ''), key)})")
        if what in ("archive", "pause") and some % 4:
            self.call("study.resume()")
        self.after()

    @rule(keep=st.sampled_from((None, 30.0, 70.0)))
    def archive_events(self, keep: float | None) -> None:
        """Old events go to a file."""
        self.call(f"archive_events(study, {keep})")
        self.after()

    @precondition(lambda self: len(self.arms) < 6)
    @rule()
    def add_new_arm(self) -> None:
        arm = f"new {len(self.arms)}"
        if self.call(f"study.add_arm({arm!r})") is not REFUSED:
            self.arms.append(arm)
        self.after()

    # Deciding elsewhere

    @rule(
        decisions=st.sampled_from((1, 10, 100)),
        who=SOME,
        every=st.sampled_from(("", "every=30")),
        by=st.sampled_from(("", "", "by='growthbook'", "by='eppo'")),
        key=KEYS,
    )
    def publish(self, decisions: int, who: int, every: str, by: str, key: str) -> None:
        self._publish(_listed(str(decisions), every, by, key), who)
        self.after()

    @rule(by=st.sampled_from(("Elsewhere()", "GrowthBook(2)", "Eppo()")), some=SOME, key=KEYS)
    def declare(self, by: str, some: int, key: str) -> None:
        """Somebody else assigned units, by a hash of theirs or by lots that nobody knows."""
        shares = f"{{{self._arm(some)!r}: 0.6, {self._arm(some + 1)!r}: 0.4}}"
        theirs = f"Weights.of('x', {shares}, salt='salt {some}', assigner={by})"
        self._weigh(f"study.declare({_listed(theirs, repr('elsewhere'), key)})")
        self.after()

    def _publish(self, given: str, who: int) -> None:
        if self.drawn.kind == "segments":
            given += f", segment={self._context(who)}"
        elif who % 4 == 3:
            given += ", segment='some'"
        self._weigh(f"study.publish({given})")

    @rule(who=SOME)
    def weights(self, who: int) -> None:
        self._weigh(f"study.weights({self._context(who) if self._has_segments else ''})")
        self.after()

    @property
    def _has_segments(self) -> bool:
        return self.drawn.kind == "segments"

    def _weigh(self, code: str) -> None:
        result = self.call(code)
        if result is not REFUSED:
            pairs = zip(result.arms, result.weights, strict=True)
            self.weighted = tuple(arm for arm, weight in pairs if weight > 0.01)
            self.result = result

    @rule(
        some=SOME,
        reward=SOME,
        ago=st.sampled_from((0, 20, 100)),
        count=st.integers(1, 3),
        attributes=st.sampled_from(("", "", "{'device': 'phone'}")),
    )
    def observe(self, some: int, reward: int, ago: int, count: int, attributes: str) -> None:
        if self.takes_rows or some % 8 == 7:
            self._observe(some, reward, ago, count, attributes)
        self.after()

    def _observe(self, some: int, reward: int, ago: int, count: int, attributes: str = "") -> None:
        rows, news, logged = [], {}, set[str]()
        for i in range(count):
            given = self.rewards[(reward + i) % len(self.rewards)]
            in_context = ""
            if self.drawn.kind == "contexts":
                in_context = self._context(some + i)
                attributes = attributes or "None"
            if self.result is not None and self.result.contexts is not None and in_context:
                name = f"unit {self.rows}"
                arm = assign(self.result, name, ast.literal_eval(in_context)).arm
                who = f"{name!r}, {self.result.version}, {arm!r}"
            elif self.weighted:
                arm = self.weighted[(some + i) % len(self.weighted)]
                who = f"{unit(self.result, arm, some + i)!r}, {self.result.version}, {arm!r}"
            else:
                who = f"'unit {self.rows}', None, {self._arm(some + i)!r}"
            self.rows += 1
            news[who] = given
            rest = [f"clock() - {ago}", attributes, in_context]
            if ", None, " in who and some % 3 == 1:
                logged.add(who)
                rest = [f"clock() - {ago}", attributes or "None", in_context or "None", LOGGED]
            rows.append(f"({_listed(who, str(given), *rest)})")
        key = f"key='rows {self.rows}'" if some % 2 else ""
        result = self.call(f"study.observe({_listed(f'[{_listed(*rows)}]', key)})")
        if result is not REFUSED:
            self.observed |= news
            self.logged |= logged
        elif not self.observed:
            self.takes_rows = False  # rewards one by one, or none of this study's versions

    @rule(some=SOME, reward=SOME, key=KEYS)
    def correct_rows(self, some: int, reward: int, key: str) -> None:
        """A row that counted counts otherwise, mostly; some were never there, or are open."""
        assert self.life is not None
        if self.takes_rows and not self.observed:
            self._observe(some, reward, 0, 2)
        if self.drawn.features["window"] != "none" and some % 4 != 3:
            self.life.line(f"{WAIT}61.0")
        given = (*self.rewards, None)[reward % (len(self.rewards) + 1)]
        known = list(self.observed) or ["'nobody', None, 'a'"]
        if (self.drawn.kind == "independent" and self.takes_rows) or some % 8 == 7:
            who = known[some % len(known)]
            row = f"{who}, {self.observed.get(who, self.rewards[0])}"
            given_row = f"[({row}, {given}{f', None, {LOGGED}' if who in self.logged else ''})]"
            result = self.call(f"study.correct_rows({_listed(given_row, repr('refund'), key)})")
            if result is not REFUSED and given is not None:
                self.observed[who] = given
            elif result is not REFUSED:
                self.observed.pop(who, None)
        self.after()

    @precondition(lambda self: self.takes_rows and self.drawn.features["window"] == "none")
    @rule(some=SOME, n=st.integers(1, 9), key=KEYS)
    def observe_sums(self, some: int, n: int, key: str) -> None:
        rewards = [self.rewards[i % len(self.rewards)] for i in range(n)]
        sums = f"'n': {n}, 'sum': {sum(rewards)}, 'squares': {sum(r * r for r in rewards)}"
        self.rows += 1
        version, arm = "None", self._arm(some)
        if self.weighted and (some % 3 or self._has_segments):
            version, arm = str(self.result.version), self.weighted[some % len(self.weighted)]
        row = f"{{'version': {version}, 'arm': {arm!r}, {sums}}}"
        key = key or f"key='sums {self.rows}'"
        self.call(f"study.observe([{row}], {key})")
        self.after()

    # Time, and looking

    @rule(seconds=st.sampled_from((0.5, 20.0, 61.0, 1900.0)))
    def wait(self, seconds: float) -> None:
        assert self.life is not None
        self.life.line(f"{WAIT}{seconds}")
        self.after()

    @rule(look=st.sampled_from(LOOKS))
    def look(self, look: str) -> None:
        """Whoever looks at one world changes nothing in it."""
        assert self.life is not None
        slow = self.drawn.family == "money" and look not in QUICK
        if look == "replay":
            policies = choices.fitting(self.drawn)
            look = f"replay({policies[self.steps % len(policies)]})"
        if not slow and look.partition("(")[0] not in self.without:
            COUNTED[f"study.{look}"] += 1
            self.life.line(f"{ALONE}{look}")

    def after(self) -> None:
        """What holds after every step; a life that nobody watches is looked at in its end."""
        self.steps += 1
        COUNTED["steps"] += 1
        if self.watchful:
            self.compare()

    def compare(self) -> None:
        """All worlds know the same, name no retired arm, and decide the same next."""
        kind, asked = self.drawn.kind, self._asked(0)
        looks = []
        if self.drawn.family != "money":  # takes half a minute where Python integrates
            looks.append("beliefs()")
        if kind in ("segments", "contexts"):
            looks.append(f"beliefs({asked})")
        if kind == "segments":
            looks.append("segments()")
        if kind in ("contexts", "candidates"):
            looks.append("coefficients()")
        if kind != "candidates" and "explain" not in self.without:
            looks.append(f"explain({asked})")
        seen = [f"shown(study, study.{look})" for look in looks]
        self.call(f"[{_listed('study.status()', 'evidence(study)', *seen)}]")
        if self.steps % 2:
            self._ask(asked)
        else:
            self._ask("3", self._asked(1))

    def teardown(self) -> None:
        if self.life is None or self.life.is_broken:
            return
        self.compare()
        self._ask(self._asked(0))
        if self.drawn.kind in ("independent", "segments"):
            self._publish("10", 0)
        self.call("study.check() and None")


def _listed(*arguments: str) -> str:
    return ", ".join(filter(None, arguments))


def lives(
    urls: Sequence[str], examples: int, steps: int, drawn_anew: bool = False, **chosen: Any
) -> None:
    """Live so many lives of at most so many steps in these databases: the same ones every time, or
    others. The first difference is raised, by the fewest calls that show it.
    """
    with closing(Places(urls)) as positions:
        machine: Any = type("Life", (Lives,), {"positions": positions, **chosen})
        try:
            _live(machine, examples, steps, drawn_anew)
        except DifferenceError as difference:
            raise shrunk(machine.last) or difference from None


def _live(machine: Any, examples: int, steps: int, drawn_anew: bool) -> None:
    options = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=not drawn_anew,
        backend="hypothesis-urandom" if drawn_anew else "hypothesis",
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=hypothesis.Verbosity.quiet,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    run_state_machine_as_test(machine, settings=options)


@contextmanager
def quickly() -> Iterator[None]:
    """Python runs kernels, since there are few turns and many policies; estimates of a replay may
    rest on few draws, and few levels have columns, since lives are short.
    """
    with tiers.interpreted(), np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("belman.studies.views.replay.LEAST_SIZE", 1.0)
        patch.setattr("belman.studies.views.replay.MOST_MISSING", 1.0)
        for name, value in (("_WAITING", 2), ("_OFTEN", 2), ("_HALVED", 8)):
            patch.setattr(f"belman.deciders.featured.slots.{name}", value)
        patch.setattr("belman.deciders.featured.budget.MOST_COLUMNS", 1)
        patch.setattr("belman.deciders.featured.budget._TIMES", 1.1)
        yield


@contextmanager
def files() -> Iterator[list[str]]:
    """Four databases of SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        yield [f"sqlite:///{folder}/{i}.db?synchronous=normal" for i in range(4)]


@contextmanager
def server() -> Iterator[list[str]]:
    """Four databases of a PostgreSQL server."""
    with closing(Postgres()) as result:
        yield [result.database(f"world{i}") for i in range(4)]


def main() -> None:
    """Live for as long as told; leave with an error if anything is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.studies.machine", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(choices.KINDS))
    parser.add_argument("--without", default="", help="calls, or 'retired', to leave out")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    given = parser.parse_args()
    until, result = time.monotonic() + 60.0 * given.minutes, 0
    kinds, without = tuple(given.kinds.split(",")), frozenset(given.without.split(","))
    chosen = {"kinds": kinds, "without": without}
    with quickly(), server() if given.postgresql else files() as urls:
        while time.monotonic() < until:
            try:
                lives(urls, 40, given.steps, drawn_anew=True, **chosen)
            except DifferenceError as difference:
                result += 1
                print(f"{difference}\n", flush=True)
    for name, count in sorted(COUNTED.items()):
        print(f"{count:9,}  {name}")
    print(f"{result} differences")
    sys.exit(bool(result))


if __name__ == "__main__":
    main()
