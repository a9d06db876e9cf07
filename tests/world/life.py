"""One life: two services, a program, an edge and an analyst on one file, by a list of operations.

An operation is drawn ahead and does not depend on what happened before it: it picks its ticket or
its arm by a number, of those that there are. So any operation can be left out, and what was found
is shown by the fewest of them.
"""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import random
import sqlite3
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from belman import errors, exposure, measures, policies
from belman.assignment import Elsewhere, Eppo, GrowthBook, LocalDecider, Weights, assign
from belman.engine import tiers
from belman.service.client import Client
from belman.studies.log.event_log import EventLog
from tests.studies.test_chain import back_up
from tests.world.crowd import parsed, request
from tests.world.network import FATES, URL, Request, SimulatedTransport
from tests.world.notes import (
    BrokenPromiseError,
    Call,
    Notes,
    holds,
    no_retired_arm,
    number_of,
)
from tests.world.processes import NAME, Inline, Killed, Process, Program, Service

ARMS = ("a", "b", "c", "d", "e")
KINDS: tuple[dict[str, Any], ...] = (
    {}, {}, {"range": (0, 10)}, {"family": "gaussian-unknown"}, {"segments": ["country"]},
    {"context": ["country", "age"], "model": "linear"},
)  # fmt: skip
WINDOWS: tuple[dict[str, Any], ...] = (
    {}, {}, {"window": 60}, {"window": 60, "early": False}, {"window": 60, "accumulate": True},
    {"window": 60, "silence": "forget"},
)  # fmt: skip
RULES: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"uniform_share": 0.3}, {"floor": 0.1}, {"control": "b", "control_share": 0.25},
    {"control": "b", "goal": "decide"}, {"guard": {"refund": "< 0.3"}}, {"discount": 0.9},
    {"drift": "auto"}, {"stop_when": measures.Sure(0.7), "then": "ship"}, {"minimise": True},
)  # fmt: skip
POLICIES = (
    policies.BelMan(), policies.Thompson(), policies.UCB1(), policies.EpsilonGreedy(),
)  # fmt: skip
ASSIGNERS = ("belman", "belman", "growthbook", "eppo")
REWARDS = {"gaussian-unknown": (-1.5, 0.25, 2.0), "bounded": (0.0, 2.5, 7.0), "linear": (0.5, 2.0)}
CONTEXTS = ({"country": "fr", "age": 31.0}, {"country": "de", "age": 50.5}, {"country": "it"})
#: What is done, and how often.
OFTEN = {
    "ask": 7, "tell": 9, "again": 3, "correct": 3, "give_back": 1, "record": 1, "retire_arm": 1,
    "add_arm": 1, "set_policy": 1, "set_exposure": 1, "set_guard": 1, "pause": 1, "resume": 2,
    "ship": 1, "unship": 1, "publish": 2, "declare": 1, "observe": 3, "sums": 1,
    "correct_rows": 1, "wait": 3, "look": 2, "fetch": 2, "decide": 3, "send": 2, "edge_dies": 1,
    "dies": 1, "insist": 2, "arrive": 2, "backup": 1, "restore": 1, "compare": 1, "crowd": 2,
    "archive": 4,
}  # fmt: skip
LOOKS = ("beliefs", "report", "explain", "metrics", "history", "verdict", "status", "replay")
#: The service has no route for these.
PROGRAM_ONLY = {"record", "set_policy"}
SETTLED = (errors.ServiceError, errors.StorageError)


@dataclass
class Operation:
    """What is done, by whom, and what befalls it."""

    do: str
    who: int
    some: int
    more: int
    plan: dict[int, Any] = field(default_factory=dict)
    net: tuple[str, ...] = ()
    key: int = 0

    def __str__(self) -> str:
        who = ("service 0", "service 1", "program")[self.who]
        fates = "".join(f", at moment {at} {fate}" for at, fate in self.plan.items())
        net = f", network {' '.join(self.net)}" if self.net else ""
        return f"{self.key:3} {who}: {self.do} {self.some}/{self.more}{fates}{net}"


def drawn(luck: random.Random, key: int, inner: bool = False) -> Operation:
    """An operation."""
    do = luck.choices(list(OFTEN), list(OFTEN.values()))[0]
    plan: dict[int, Any] = {}
    if luck.random() < 0.3:
        fates: list[Any] = ["die", "die", "fail", "fail", float(luck.choice((1, 20, 61)))]
        fate = luck.choice(fates)
        if luck.random() < 0.3 and not inner:
            fate = drawn(luck, 500 + key, inner=True)
        plan[luck.randrange(9)] = fate
    net = tuple(luck.choices(FATES, (6, 1, 1, 1, 1, 1), k=luck.choice((0, 0, 1, 3))))
    return Operation(
        do, luck.randrange(3), luck.randrange(100), luck.randrange(100), plan, net, key
    )


@dataclass
class Script:
    """A life as data: what the study is like, how often it keeps a snapshot, and what is done."""

    seed: int
    settings: dict[str, Any]
    every: int
    operations: list[Operation]

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: {self.settings}, a snapshot every {self.every} events"]
        return "\n".join([*lines, *map(str, self.operations)])


def script(seed: int, steps: int) -> Script:
    """The life of a seed."""
    luck = random.Random(seed)
    settings = {"seed": luck.randrange(9)} | luck.choice(KINDS) | luck.choice(WINDOWS)
    settings |= luck.choice(RULES)
    if "model" not in settings and "drift" not in settings:
        settings["policy"] = luck.choice((POLICIES[0], *POLICIES))
    if "segments" in settings or "model" in settings:
        for name in ("early", "discount", "drift", "stop_when", "then"):
            settings.pop(name, None)
    every = luck.choice((1, 3, 10, 10**9))
    return Script(seed, settings, every, [drawn(luck, key) for key in range(steps)])


class World:
    """Everything that is around a study, and the study."""

    def __init__(self, folder: str, given: Script) -> None:
        self.path, self.copy = f"{folder}/studies.db", f"{folder}/copy.db"
        self.given, self.now = given, 1e6
        self.notes, self.backup = Notes(), None
        self.processes: list[Process | None] = [None, None, None]
        self.stack: list[Operation] = []
        self.flying: list[Request] = []
        self.counted: Counter[str] = Counter()
        self.units, self.is_restored = 0, False
        self.files, self.folder = 0, folder
        self.tried: dict[str, float] = {}  # when a call was made for the first time, by its key
        self.result: list[str] = []
        self.edge: Any = None
        self.sending: list[dict[str, Any]] = []  # rows of the edge of which nobody knows
        client = Client(URL)
        client._transport = SimulatedTransport(self._exchange)
        self.remote = client._remote(NAME)
        for name in (self.path, self.copy):
            for end in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name + end)
        for name in glob.glob(f"{folder}/*.parquet"):
            os.unlink(name)
        self.processes[2] = Program(*self._around(), arms=ARMS[:3], **given.settings)
        family = self.study.settings.family.name
        self.rewards = REWARDS.get(family, (0.0, 1.0))
        if self.study.settings.has_features:
            self.rewards = REWARDS["linear"]
        elif given.settings.get("range"):
            self.rewards = REWARDS["bounded"]

    # Processes

    def clock(self) -> float:
        return self.now

    def _around(self) -> tuple[Any, ...]:
        return self.path, self.clock, self._befalls

    def _befalls(self, fate: Any) -> None:
        """Time passes in the middle of a transaction, or somebody else does something."""
        if isinstance(fate, float):
            self.now += fate
        else:
            self.perform(fate)

    def process(self, who: int) -> Any:
        """A process, which is started anew where it has died."""
        result = self.processes[who]
        if result is None or result.is_dead:
            if result is not None:
                result.end()
            self.processes[who] = None
            result = (Program if who == 2 else Service)(*self._around())
            self.processes[who] = result
        return result

    @property
    def program(self) -> Program:
        result: Program = self.process(2)
        return result

    @property
    def study(self) -> Any:
        return self.program.study

    def end(self) -> None:
        """End every process."""
        for process in self.processes:
            if process is not None:
                process.end()
        self.processes = [None, None, None]
        if self.edge is not None:
            self.edge.close(0.0)
            self.edge = None

    # The network

    def _exchange(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        operation = self.stack[-1]
        fate, *rest = operation.net or ("ok",)
        operation.net = tuple(rest)
        self.counted[f"network: {fate}"] += 1
        if fate == "lost":
            raise ConnectionResetError("it was lost")
        if fate == "refused":
            return 503, {"content-type": "text/plain"}, b"busy"
        if fate == "late":
            self.flying.append(request)
            raise TimeoutError("no answer in time")
        result = self._arrives(request, operation.who + operation.more)
        if fate == "twice":
            result = self._arrives(request, operation.who + operation.more + 1)
        if fate == "unanswered":
            raise TimeoutError("no answer in time")
        return result

    def _arrives(self, request: Request, where: int) -> tuple[int, dict[str, str], bytes]:
        """A request is at a service, whoever sent it, and whenever."""
        service: Service = self.process(where % 2)
        if service.is_busy:
            raise ConnectionRefusedError("it is busy")
        service.begin(self._plan())
        try:
            (result,) = service.answer([request])
        except Killed:
            service.end()
            self.counted["deaths of a service"] += 1
            raise ConnectionResetError("the service died") from None
        self._is_no_fault(result, request)
        return result

    def _plan(self) -> dict[int, Any]:
        """What is to happen to the operation that is under way, once."""
        plan, self.stack[-1].plan = self.stack[-1].plan, {}
        return plan

    def _is_no_fault(self, result: Any, request: Request) -> None:
        status, _, body = result
        fine = status < 500 or status == 503 or (self.is_restored and b"state" in body)
        holds(fine, f"{request.method} {request.target} {request.body!r}: {status} {body!r}")

    def sleep(self, seconds: float) -> None:
        """The transport waits before it sends once more; what was late may arrive meanwhile."""
        self.now += seconds
        if self.flying and self.stack[-1].more % 2:
            self._arrive()

    def _arrive(self) -> None:
        request = self.flying.pop(self.stack[-1].some % len(self.flying))
        with contextlib.suppress(OSError):
            self._arrives(request, self.stack[-1].some)

    # Calls

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Make a call under a key of its own, and note what comes of it; None where nothing does.

        It goes to a service, or to the study of a program.
        """
        operation = self.stack[-1]
        remote = operation.who < 2 and method not in PROGRAM_ONLY
        return self.insist(Call(method, arguments, named, f"key {operation.key}", remote))

    def insist(self, call: Call, again: bool = False) -> Any:
        """Make a call, perhaps not for the first time."""
        self.tried.setdefault(call.key, self.now)
        try:
            answer = self._made(call)
        except errors.BelmanError as error:
            return self._failed(call, error, again)
        except Killed:
            self.counted["deaths of a program"] += 1
            self.program.end()
            return self._failed(call, errors.StorageError("died"), again)
        self.counted[call.method] += 1
        if not again:
            self.notes.take(call, answer)
        return answer

    def _failed(self, call: Call, error: errors.BelmanError, again: bool) -> Any:
        """Nobody knows whether a call was heard, or it is refused: then it was not, unless it is
        still on its way.
        """
        is_known = not isinstance(error, SETTLED) and not self.flying
        if isinstance(error, errors.StateError):
            holds(self.is_restored, f"{call}: {error}")
        self.counted[f"{call.method}, {'refused' if is_known else 'unknown'}"] += 1
        holds(not (again and is_known), f"{call} was answered before, and now: {error}")
        if is_known:
            self.notes.unknown.pop(call.key, None)
        elif not again:
            self.notes.unknown[call.key] = call
        return None

    def _made(self, call: Call) -> Any:
        named = call.named | ({} if call.method == "give_back" else {"key": call.key})
        if call.remote:
            return getattr(self.remote, call.method)(*call.arguments, **named)
        program = self.program
        if program.is_busy:
            raise errors.StorageError("it is busy")
        program.begin(self._plan())
        program.is_busy = True
        try:
            return getattr(program.study, call.method)(*call.arguments, **named)
        finally:
            program.is_busy = False
            program.begin({})

    def perform(self, operation: Operation) -> None:
        """Do what an operation says."""
        self.stack.append(Operation(**vars(operation)))
        try:
            getattr(self, f"do_{operation.do}", self._changes)(self.stack[-1])
        except Killed:
            if self.processes[2] is not None and self.processes[2].is_dead:
                self.processes[2].end()
        except SETTLED:
            pass  # while a process was started: it is tried again by whoever needs it next
        finally:
            self.stack.pop()

    # Operations

    def _context(self, some: int) -> dict[str, Any]:
        kind = self.given.settings
        if "segments" in kind:
            return {"context": {"country": CONTEXTS[some % 3]["country"]}}
        return {"context": CONTEXTS[some % 3]} if "context" in kind else {}

    def _ticket(self, some: int) -> str | None:
        result = list(self.notes.tickets)
        return result[-1 - some % len(result)] if result else None

    def _reward(self, some: int) -> float:
        return self.rewards[some % len(self.rewards)]

    def do_ask(self, by: Operation) -> None:
        count = (None, None, 1, 2, 5)[by.more % 5]
        more = {} if by.some % 3 else {"attributes": {"device": ("phone", "desk")[by.some % 2]}}
        self.call("ask", count, **self._context(by.some), **more)

    def do_tell(self, by: Operation) -> None:
        if (ticket := self._ticket(by.some)) is not None:
            metrics = {} if by.more % 3 else {"metrics": {"refund": float(by.more % 2)}}
            self.call("tell", ticket, self._reward(by.more), **metrics)

    def do_correct(self, by: Operation) -> None:
        told = list(self.notes.told)
        ticket = told[by.some % len(told)] if told and by.more % 4 else self._ticket(by.some)
        if ticket is not None:
            reward = (*self.rewards, None)[by.more % (len(self.rewards) + 1)]
            self.call("correct", ticket, reward, "refund")

    def do_give_back(self, by: Operation) -> None:
        if (ticket := self._ticket(by.some)) is not None:
            self.notes.returned.add(ticket)
            self.call("give_back", [ticket])

    def do_record(self, by: Operation) -> None:
        rest = tuple(self._context(by.some).values())
        self.call("record", [(ARMS[by.some % 3], self._reward(by.more), *rest)], "past")

    def _changes(self, by: Operation) -> None:
        arm = ARMS[by.some % len(ARMS)]
        given: dict[str, tuple[Any, ...]] = {
            "retire_arm": (arm,),
            "add_arm": (arm,),
            "set_policy": (POLICIES[by.more % len(POLICIES)],),
            "set_exposure": (exposure.Constant(0.3),),
            "set_guard": (({"refund": "< 0.2"}, None)[by.more % 2],),
            "ship": (arm,) if by.more % 2 else (),
        }
        self.call(by.do, *given.get(by.do, ()))

    def do_publish(self, by: Operation) -> None:
        named: dict[str, Any] = {"every": 30.0} if by.more % 2 else {}
        named |= {"by": ASSIGNERS[by.some % len(ASSIGNERS)]}
        if "segments" in self.given.settings and by.who == 2:
            named |= {"segment": self._context(by.some)["context"]}
        self.call("publish", 10 + by.more, **named)

    def _unit(self) -> str:
        self.units += 1
        return f"unit {self.units}"

    def do_declare(self, by: Operation) -> None:
        """Somebody else assigned units, by a hash of theirs or by lots that nobody knows."""
        assigner = (Elsewhere(), GrowthBook(2), Eppo())[by.some % 3]
        shares = dict(zip(ARMS[:3], ((0.5, 0.3, 0.2), (0.2, 0.4, 0.4))[by.more % 2], strict=True))
        theirs = Weights.of("theirs", shares, salt=f"salt {by.key}", assigner=assigner)
        self.call("declare", theirs, "elsewhere")

    def do_observe(self, by: Operation) -> None:
        """Rows of units that were assigned without weights, by lots whose chances were logged, or
        by weights that were declared.
        """
        declared = [result for call, result in self.notes.answered if call.method == "declare"]
        rows = []
        for i in range(1 + by.more % 3):
            unit, arm = self._unit(), ARMS[(by.some + i) % 3]
            row = {"unit": unit, "version": None, "arm": arm, "time": self.now}
            row |= {"reward": self._reward(by.more + i)}
            if by.some % 4 == 1:
                row["chances"] = dict(zip(ARMS[:3], (0.5, 0.25, 0.25), strict=True))
            elif by.some % 4 == 2 and declared:
                theirs = declared[by.more % len(declared)]
                row["version"] = theirs.version
                if not isinstance(theirs.assigner, Elsewhere):
                    row["arm"] = assign(theirs, unit).arm
            rows.append(row | (self._context(by.some) if "model" in self.given.settings else {}))
        self.call("observe", rows)

    def do_sums(self, by: Operation) -> None:
        n, reward = 1 + by.more % 4, self._reward(by.more)
        sums = {"n": n, "sum": n * reward, "squares": n * reward * reward}
        self.call("observe", [{"version": None, "arm": ARMS[by.some % 3], **sums}])

    def do_correct_rows(self, by: Operation) -> None:
        every = [call for call, _ in self.notes.answered] + [*self.notes.unknown.values()]
        corrected = {
            call.arguments[0][0]["unit"] for call in every if call.method == "correct_rows"
        }
        rows = [
            call.arguments[0][0]
            for call, _ in self.notes.answered
            if call.method == "observe" and call.arguments[0][0].get("unit", "") not in corrected
        ]
        rows = [row for row in rows if "n" not in row and "context" not in row]
        if rows:
            row = rows[by.some % len(rows)]
            reward = (*self.rewards, None)[by.more % (len(self.rewards) + 1)]
            if reward != row["reward"]:
                names = ("unit", "version", "arm", "chances")
                known = {name: row[name] for name in names if name in row}
                known |= {"was": row["reward"], "reward": reward}
                self.call("correct_rows", [known], "refund")

    def do_wait(self, by: Operation) -> None:
        self.now += (0.5, 20.0, 61.0)[by.more % 3]

    def do_look(self, by: Operation) -> None:
        """An analyst looks, which changes nothing."""
        program, look = self.program, LOOKS[by.more % len(LOOKS)]
        if program.is_busy:
            return
        number, study = program.study.number, program.study
        named = self._context(by.some) if look in ("beliefs", "explain") else {}
        given = (policies.Thompson(),) if look == "replay" else ()
        with contextlib.suppress(errors.ReplayError, errors.SettingError, errors.StudyError,
                                 errors.PolicyError):  # fmt: skip
            result = getattr(study, look)(*given, **named)
            if look in ("beliefs", "explain"):
                no_retired_arm(study, result)
        holds(program.study.number == number, f"{look} changed the study")
        self.counted[f"look: {look}"] += 1

    def do_again(self, by: Operation) -> None:
        """A call is made once more that was answered before, with its key."""
        if not self.notes.answered:
            return
        call, first = self.notes.answered[by.some % len(self.notes.answered)]
        by.plan = {}
        before, is_calm = self.study.number, not (self.flying or by.net)
        result = self.insist(call, again=True)
        if result is not None:
            self.notes.answered_as_the_first_time(call, first, result)
        moved = self.study.number != before
        holds(not (moved and is_calm), f"{call} was made twice")

    def do_insist(self, by: Operation) -> None:
        """A caller that does not know what became of its call makes it once more."""
        if self.notes.unknown:
            key = list(self.notes.unknown)[by.some % len(self.notes.unknown)]
            self.insist(self.notes.unknown[key])

    def do_arrive(self, by: Operation) -> None:
        if self.flying:
            self._arrive()

    def do_dies(self, by: Operation) -> None:
        process = self.processes[by.who]
        if process is not None and not process.is_busy:
            process.end()

    def do_crowd(self, by: Operation) -> None:
        """Some ask and tell at once, and a service takes them together."""
        service = self.process(by.who % 2)
        if service.is_busy:
            return
        calls, requests = [], []
        path, header = f"/api/studies/{NAME}", {"content-type": "application/json"}
        for i in range(2 + by.more % 3):
            key = f"key {by.key}.{i}"
            ticket = self._ticket(by.some + i)
            if i % 2 and ticket is not None:
                call = Call("tell", (ticket, self._reward(by.more + i)), {}, key, True)
            else:
                call = Call("ask", (1 + i,), self._context(by.some), key, True)
            calls.append(call)
            self.tried.setdefault(key, self.now)
            requests.append(request(call, path, header))
        service.begin(self._plan())
        try:
            result = service.answer(requests)
        except Killed:
            service.end()
            result = [(503, {}, b"")] * len(calls)
        for call, one, sent in zip(calls, result, requests, strict=True):
            self._is_no_fault(one, Request(*sent))
            if one[0] == 200:
                self.notes.take(call, parsed(call, one[2]))
            elif one[0] == 503:
                self.notes.unknown[call.key] = call
        self.counted["crowd"] += 1

    # The edge

    def do_fetch(self, by: Operation) -> None:
        if any(one.do in ("send", "fetch") for one in self.stack[:-1]):
            return
        edge = self._edge()
        before = edge._weights
        edge.fetch()
        self.counted["edge: fetch"] += 1
        after = edge._weights
        if after is not None and after is not before:
            holds(before is None or after.version >= before.version, "weights go back")
            self.counted["edge: new weights"] += 1
        problem = edge.problem or ""
        holds("signature" not in problem and "signed" not in problem, problem)

    def _edge(self) -> Any:
        if self.edge is None:
            keys = self.study.public_keys
            self.edge = LocalDecider(
                URL, NAME, fallback=ARMS[0], clock=self.clock, keys=keys, start=False
            )
            service = self.edge._service
            service._transport = SimulatedTransport(self._exchange, retries=1)
            observe = service.observe

            def observed(key: str, rows: list[dict[str, Any]]) -> None:
                self.sending = rows
                observe(key, rows)
                self.notes.rows[f"edge {key}"] = [(row["arm"], row["reward"]) for row in rows]
                self.sending = []

            service.observe = observed
        return self.edge

    def do_decide(self, by: Operation) -> None:
        edge = self._edge()
        context = self._context(by.some) if "model" in self.given.settings else {}
        decision = edge.decide(self._unit(), **context)
        result = edge.weights
        holds(result is None or decision.arm in result.arms, f"{decision} is none of its weights")
        edge.observe(decision, self._reward(by.some))

    def do_send(self, by: Operation) -> None:
        if any(one.do in ("send", "fetch") for one in self.stack[:-1]):
            return  # the edge is in the middle of it
        self._edge().send()
        self.counted["edge: send"] += 1

    def do_edge_dies(self, by: Operation) -> None:
        if self.edge is not None and by.more % 3 == 0 and len(self.stack) == 1:
            self._edge_is_lost()
            self.edge = None

    def _edge_is_lost(self) -> None:
        """Nobody will ever know whether what an edge was sending was heard."""
        if self.edge is not None and self.edge._outbox._batches:
            self.notes.maybe += [row["reward"] for row in self.sending]
        self.sending = []

    # Backups

    def do_backup(self, by: Operation) -> None:
        if len(self.stack) == 1:
            back_up(self.path, self.copy)
            self.backup = self.notes.copied(), self.study.number
            self.behind = {who for who in range(3) if self.processes[who] is None}

    def do_restore(self, by: Operation) -> None:
        """A backup is put back under the processes; whoever knows more says so. Then all are
        started anew.
        """
        if self.backup is None or len(self.stack) > 1 or by.more % 2:
            return
        self.study.number  # noqa: B018 (it knows all that there is)
        knew = self.study.number
        notes, number = self.backup
        back_up(self.copy, self.path)
        self.is_restored, self.flying = True, []
        program = self.program
        try:
            program.study.ask(**self._context(0))
            said = False
        except errors.StateError:
            said = True
        except errors.PausedError:
            said = False  # it was found in step, and is refused for the pause alone
        holds(said == (knew > number), f"it knew {knew} events, there are {number}: {said}")
        futures = {one for one in self.notes.tickets if number_of(one) > number}
        self._edge_is_lost()
        self.end()
        if not said:
            # its ask is of this life
            back_up(self.copy, self.path)
        self.is_restored = False
        maybe = self.notes.maybe
        self.notes = notes.copied()
        self.notes.lost |= futures
        self.notes.maybe = maybe
        for ticket in list(self.notes.lost)[:2]:
            try:
                self.study.tell(ticket, self.rewards[0])
                holds(False, f"{ticket} of a lost future was taken for another")
            except (errors.UnknownTicketError, errors.TicketError):
                pass
        self.counted["restores"] += 1

    def do_archive(self, by: Operation) -> None:
        """Old events go to a file; what somebody may yet send again is younger than they are."""
        keep = (None, 30.0, 200.0)[by.more % 3] if len(self.stack) == 1 else 200.0
        old = self.now - (keep or 0.0)
        waits = self.edge is not None and self.edge.counts.waiting
        unknown = [key for key in self.notes.unknown if self.tried[key] <= old]
        program = self.program
        if self.flying or waits or unknown or program.is_busy:
            return
        self.files += 1
        program.begin({at: fate for at, fate in self._plan().items() if type(fate) is not float})
        program.is_busy = True
        try:
            path = f"{self.folder}/{self.files}.parquet"
            moved = program.study.archive_events(path, keep=keep, reason="old")
            self.counted["archive"] += moved > 0
            self.counted["events archived"] += moved
        except (*SETTLED, errors.StudyError):
            self.counted["archive, failed"] += 1
        finally:
            program.is_busy = False
            program.begin({})
            self._forget(old)

    def _forget(self, old: float) -> None:
        """Send nothing again whose key is archived, or that has none in the log, being no news or
        given back, and whose ticket is archived.
        """

        def is_known(call: Call, answer: Any) -> bool:
            of, has_key = None, bool(answer)
            if call.method in ("tell", "correct"):
                of = call.arguments[0]
            elif call.method == "give_back":
                (of,), has_key = call.arguments[0], False
            asked = self.notes.tickets[of].time if of in self.notes.tickets else self.now
            return self.tried[call.key] > old and (asked > old or has_key)

        self.notes.answered = [one for one in self.notes.answered if is_known(*one)]

    # What has to hold

    def do_compare(self, by: Operation) -> None:
        if len(self.stack) == 1:
            by.plan, by.net = {}, ()
            self.same_next_decisions()

    def same_next_decisions(self) -> None:
        """Live state, snapshot, fold of the log and other processes decide the same next."""
        self.study.check()
        for who in range(2):
            for commit in self.process(who).app.state.registry._open.values():
                commit.study.check()
        for one in self.process(0).app.state.registry._read.values():
            one.check()
        fresh = Program(*self._around())
        with mock.patch.object(EventLog, "newest_snapshot", return_value=None):
            folded = Program(*self._around())
        try:
            programs = {"program": self.program, "snapshot": fresh, "fold": folded}
            decided = {name: self._decides(one) for name, one in programs.items()}
            for who in range(2):
                decided[f"service {who}"] = self._serves(self.process(who))
        finally:
            fresh.end()
            folded.end()
        first = decided.pop("program")
        for name, result in decided.items():
            holds(result == first, f"program: {first}\n{name}: {result}")
        self.counted["comparisons"] += 1

    def _decides(self, program: Any) -> Any:
        program.driver.inserted = []
        program.begin({"commit": "fail"})
        try:
            program.study.ask(2, **self._context(0))
        except errors.BelmanError as error:
            return type(error).__name__, _decisions(program)
        finally:
            program.begin({})
        return None

    def _serves(self, service: Any) -> Any:
        call = Call("ask", (2,), self._context(0), "", True)
        service.driver.inserted = []
        service.begin({"commit": "fail"})
        sent = request(call, f"/api/studies/{NAME}", {"content-type": "application/json"})
        ((status, _, _),) = service.answer([sent])
        named = {503: "StorageError", 409: "PausedError"}
        return named.get(status, status), _decisions(service)

    def heal(self) -> None:
        """Nothing fails any more: what is on its way arrives, and every caller insists."""
        self.stack.append(Operation("heal", 0, 0, 0))
        while self.flying:
            self._arrive()
        for _ in range(3):
            for call in list(self.notes.unknown.values()):
                self.insist(call)
        if self.edge is not None:
            self.edge.send()
            holds(not self.edge.counts.waiting, f"the edge keeps {self.edge.counts}")
        self.now += 1_000.0
        holds(not self.notes.unknown, f"unknown: {[*map(str, self.notes.unknown.values())]}")

    def judge(self) -> None:
        """Hold the promises against the log."""
        study = self.study
        events = list(study.events())
        self.notes.nothing_lost_and_nothing_twice(events, study)
        if "drift" not in self.given.settings:
            self.notes.counts_by_hand(events, study)
        if not study.settings.has_features:
            no_retired_arm(study, study.beliefs())
        self.same_next_decisions()


def _decisions(process: Any) -> list[Any]:
    names = ("kind", "arm", "draw", "probability", "reward", "time")
    return [tuple(row.get(name) for name in names) for row in process.driver.inserted]


class _Time:
    """The time of the transport, which is the world's."""

    def __init__(self, world: World) -> None:
        self._world = world

    def sleep(self, seconds: float) -> None:
        self._world.sleep(seconds)

    def time_ns(self) -> int:
        return int(self._world.now * 1e9)


class _Secrets:
    """Secrets by a seed."""

    def __init__(self, seed: int) -> None:
        self._luck = random.Random(seed)

    def token_bytes(self, n: int) -> bytes:
        return self._luck.randbytes(n)

    def token_hex(self, n: int) -> str:
        return self._luck.randbytes(n).hex()


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """Python runs the kernels, threads work at once, and nobody logs."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    with (
        tiers.interpreted(),
        np.errstate(all="ignore"),
        warnings.catch_warnings(action="ignore"),
        mock.patch("belman.service.registry.ThreadPoolExecutor", Inline),
        mock.patch("belman.studies.log.event_log.NOTE_EVERY", 4),
    ):
        yield
    logging.disable(before)


def live(given: Script, folder: str, counted: Counter[str] | None = None) -> str | None:
    """What a life shows that should not be, or None."""
    secrets = _Secrets(given.seed)
    with (
        mock.patch("belman.studies.unit_of_work.SNAPSHOT_EVERY", given.every),
        mock.patch("belman.studies.unit_of_work.secrets", secrets),
        mock.patch("belman.studies.open_or_create.secrets", secrets),
        mock.patch("belman.studies.requests.publishing.secrets", secrets),
    ):
        try:
            world = World(folder, given)
        except errors.BelmanError as error:
            return repr(error) if isinstance(error, (*SETTLED, errors.StateError)) else None
        try:
            with mock.patch("belman.assignment.transport.time", _Time(world)):
                for operation in given.operations:
                    world.perform(operation)
                world.heal()
                world.judge()
        except BrokenPromiseError as error:
            return f"{type(error).__name__}: {error}"
        except (Exception, Killed, sqlite3.Error):
            return traceback.format_exc()
        finally:
            world.end()
            if counted is not None:
                counted.update(world.counted)
    return None
