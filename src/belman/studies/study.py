"""A study: a named agent whose every decision and reward is written down before it counts."""

from __future__ import annotations

import copy
import itertools
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, overload

from numpy.typing import ArrayLike

from belman.agent import Agent, doors, state_file
from belman.errors import ArmError, BelmanError, PolicyError, StateError, StudyError
from belman.exposure import Exposure
from belman.exposure import exposure as as_exposure
from belman.policies import Policy
from belman.studies import import_export
from belman.studies.event_log import Event, Kind
from belman.studies.import_export import past_data
from belman.studies.limits import Limits
from belman.studies.open_tickets import counted_between
from belman.studies.replay import Estimate, replay
from belman.studies.replica import Replica
from belman.studies.settings import Settings, check_arm, check_policy, kept
from belman.studies.state import State
from belman.studies.storage import Storage
from belman.studies.tickets import Ticket, ticket_of
from belman.studies.unit_of_work import Ask, Tell, UnitOfWork, batches, check_reason
from belman.table import Table

Clock = Callable[[], float]
Change = Callable[[State], dict[str, Any] | None]
LIMITS = Limits()
PastData = Iterable[tuple[Hashable, float]] | str | os.PathLike[str]


class Study:
    """A named, durable agent for any number of threads and processes; `open_study` opens one.

    Every method that changes the study is one short transaction: it waits its turn, takes in what
    others have committed, decides, and writes its events down. When it returns, they are on disk;
    when it raises, nothing has happened. Objects are safe to share between threads.
    """

    def __init__(
        self, name: str, storage: Storage, *, clock: Clock | None = None, limits: Limits = LIMITS
    ) -> None:
        self._replica = Replica(name, storage, clock, limits)
        self._replica.look(lambda state: None)

    # Deciding and learning

    @overload
    def ask(self, n: None = None, *, key: str | None = None) -> Ticket: ...
    @overload
    def ask(self, n: int, *, key: str | None = None) -> list[Ticket]: ...
    def ask(self, n: int | None = None, *, key: str | None = None) -> Any:
        """A ticket for the arm to try now, or a list of `n` for a batch.

        Tickets that are out count as observed at their expected statistic, so that concurrent
        askers spread. A request that may be sent again carries an idempotency `key` of its own: the
        same key gives the same tickets.
        """
        count = 1 if n is None else doors.check_count(n)
        tickets = self._replica.transact(lambda unit: unit.ask(Ask(count, key)))
        return tickets[0] if n is None else tickets

    def tell(self, ticket: str | Ticket, reward: float, *, key: str | None = None) -> bool:
        """Learn the reward of a ticket, hours later and from another process if need be.

        True if it was news. The same reward once more changes nothing and gives False; another one
        raises TicketError. In a study with a window it is welcome while the window is open: the
        last one stands, or they add up where the study accumulates, and then a request that may be
        sent again carries an idempotency `key` of its own. Once the window has closed it raises
        TicketError; see `correct`.
        """
        return self._replica.transact(lambda unit: unit.tell(Tell(ticket, reward, key)))

    def correct(
        self, ticket: str | Ticket, reward: float | None, reason: str, *, key: str | None = None
    ) -> bool:
        """Replace what a ticket counted as, for refunds and fraud; None forgets it.

        True if that changes anything. The belief is as if the ticket had counted so at its time
        (under a discount, what is left of it is corrected). It is for tickets that counted: those
        whose window has closed, or that were told where there is no window.
        """
        return self._replica.transact(lambda unit: unit.correct(ticket, reward, reason, key))

    def together(self, requests: Sequence[Ask | Tell]) -> list[list[Ticket] | bool | BelmanError]:
        """Many asks and tells in one transaction (group commit), which costs one wait for the disk;
        in several where they ask for more tickets than one may give.

        Each gets its own answer in its place: the tickets of an ask, whether a tell was news, or
        the error that it alone would have raised.
        """
        found: list[list[Ticket] | bool | BelmanError] = []
        for batch in batches(requests, self._replica.limits.tickets):
            found += self._replica.transact(partial(UnitOfWork.answers, requests=batch))
        return found

    def record(self, rewards: PastData, reason: str = "") -> int:
        """Learn from past data as a warm start, all or (one row is bad) none of it; the count.

        Past data are (arm, reward) pairs, or a CSV or Parquet file with columns `arm` and `reward`.
        """
        check_reason(reason)
        if isinstance(rewards, (str, os.PathLike)):
            rows = past_data(rewards, self._replica.look(lambda state: tuple(state.register)))
        else:
            rows = list(rewards)
        return self._replica.transact(lambda unit: unit.record(rows, reason))

    def expire(self) -> int:
        """Let every ticket expire that is due (asks and tells do so too); gives the count."""
        return self._replica.transact(lambda unit: unit.overdue)

    # Changing it while it runs

    def pause(self, reason: str = "") -> None:
        """Decide nothing until resumed; tells are welcome all the same."""
        self._set_paused(True, reason)

    def resume(self, reason: str = "") -> None:
        """Decide again."""
        self._set_paused(False, reason)

    def _set_paused(self, paused: bool, reason: str) -> None:
        def check(state: State) -> None:
            if state.paused == paused:
                words = "is paused already" if paused else "is not paused"
                raise StudyError(f"study {self.name!r} {words}")

        self._change(Kind.PAUSED if paused else Kind.RESUMED, reason, check)

    def add_arm(self, arm: Hashable, prior: ArrayLike | None = None, reason: str = "") -> None:
        """Take in a new arm, or a retired one with what was learnt of it (which takes no prior)."""
        name = check_arm(arm)

        def body(state: State) -> dict[str, Any]:
            doors.check_new(name, state.agent.arms)
            if name in state.places:
                if prior is not None:
                    back = f"arm {name!r} was retired and comes back with what was learnt of it"
                    raise ArmError(f"{back}: it takes no prior")
                return {"arm": state.places[name]}
            family = state.agent.family
            belief = family.check_belief(family.prior if prior is None else prior)
            state.agent.policy.check(family, len(state.agent.arms) + 1)
            encoded = state_file.encode_arm(name)
            return {"arm": len(state.register), "name": encoded, "prior": belief}

        self._change(Kind.ARM_ADDED, reason, body)

    def retire_arm(self, arm: Hashable, reason: str = "") -> None:
        """Play an arm no more; rewards of its tickets still count, and it may come back."""

        def body(state: State) -> dict[str, Any]:
            state.agent.belief(arm)  # refuses an arm that it does not play
            if len(state.agent.arms) == 1:
                raise ArmError(f"arm {arm!r} is the last one: a study needs at least one arm")
            return {"arm": state.places[arm]}

        self._change(Kind.ARM_RETIRED, reason, body)

    def set_exposure(self, exposure: Exposure, reason: str = "") -> None:
        """Explore more or less from here on, under a policy that has an exposure."""
        given = as_exposure(exposure)

        def body(state: State) -> dict[str, Any]:
            policy = state.agent.policy
            if "exposure" not in {field.name for field in fields(policy)}:
                raise PolicyError(f"policy {policy.name!r} has no exposure to set: BelMan has one")
            return {"policy": kept(replace(policy, exposure=given))}  # type: ignore[call-arg]

        self._change(Kind.POLICY_CHANGED, reason, body)

    def set_policy(self, policy: Policy, reason: str = "") -> None:
        """Let another policy choose from here on, with all that was learnt so far."""
        chosen = check_policy(policy)

        def body(state: State) -> dict[str, Any]:
            doors.check_policy(chosen, state.agent.family, len(state.agent.arms))
            return {"policy": kept(chosen)}

        self._change(Kind.POLICY_CHANGED, reason, body)

    def _change(self, kind: Kind, reason: str, body: Change) -> None:
        check_reason(reason)

        def work(unit: UnitOfWork) -> None:
            content = body(unit.state) or {}
            arm = content.pop("arm", None)
            text = json.dumps({"reason": reason, **content}, ensure_ascii=False)
            unit.write(kind, arm=arm, body=text)

        self._replica.transact(work)

    # Looking

    @property
    def name(self) -> str:
        """The name under which the storage keeps it."""
        return self._replica.name

    @property
    def storage(self) -> Storage:
        """Where it is kept."""
        return self._replica.storage

    @property
    def settings(self) -> Settings:
        """What was chosen when the study was created."""
        return self._replica.look(lambda state: state.settings)

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The arms that are played."""
        return self._replica.look(lambda state: state.agent.arms)

    @property
    def retired(self) -> tuple[Hashable, ...]:
        """The arms that were retired."""
        return self._replica.look(
            lambda state: tuple(map(state.register.__getitem__, state.retired))
        )

    @property
    def register(self) -> tuple[Hashable, ...]:
        """Every arm there ever was; the `arm` of an event is a place in it."""
        return self._replica.look(lambda state: tuple(state.register))

    @property
    def policy(self) -> Policy:
        """Who chooses."""
        return self._replica.look(lambda state: state.agent.policy)

    @property
    def paused(self) -> bool:
        """Whether it decides nothing at present."""
        return self._replica.look(lambda state: state.paused)

    @property
    def outstanding(self) -> int:
        """How many tickets are out."""
        return self.moment[1]

    @property
    def number(self) -> int:
        """The number of the last event."""
        return self._replica.look(lambda state: state.number)

    @property
    def moment(self) -> tuple[int, int]:
        """The number of the last event, and how many tickets are out, which time alone may change:
        a study whose moment is the same is the same.
        """

        def read(state: State) -> tuple[int, int]:
            tickets = state.tickets
            due = () if tickets.window is None else tickets.due(self._replica.now())
            return state.number, len(tickets.asks) - len(due)

        return self._replica.look(read)

    def status(self) -> dict[str, Any]:
        """Counts of all kinds, from one moment; of a study with a window also its rule, and how
        many open tickets nobody has told yet.
        """
        return {"name": self.name, **self._replica.look_now(State.status)}

    def agent(self) -> Agent:
        """An agent that believes what the study believes now; the study does not notice it."""
        return self._replica.look_now(lambda state: copy.deepcopy(state.agent))

    def beliefs(self, level: float = 0.95) -> Table:
        """Per arm played: rewards told, expected reward, credible interval, P(best)."""
        return self.agent().beliefs(level)

    def explain(self) -> Table:
        """Why this arm now: what the policy sees of each arm, the largest index first."""
        return self.agent().explain()

    def tickets(self) -> list[Ticket]:
        """The tickets that are out, oldest first."""

        def read(state: State) -> tuple[dict[int, tuple[int, float]], list[Hashable]]:
            return dict(state.tickets.asks), list(state.register)

        out, register = self._replica.look_now(read)
        asks = self.events(min(out) - 1) if out else ()
        secret = self._replica.secret
        return [ticket_of(event, register, secret) for event in asks if event.number in out]

    def history(self, last: int | None = None) -> Table:
        """The log as a table: every event with its time and reason; or the `last` so many."""
        after = 0 if last is None else max(self.number - doors.check_count(last), 0)
        rows, names = list(self._lines(after)), import_export.COLUMNS
        return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log to a file whose name ends in .csv or .parquet; gives the event count."""
        return import_export.write(path, self._lines(0))

    def _lines(self, after: int) -> Iterator[tuple[Any, ...]]:
        """Events after a number as lines; with them, where there is a window, what counted."""
        number, register = self._replica.look(lambda state: (state.number, list(state.register)))
        secret, settings = self._replica.secret, self.settings
        start = after
        if settings.window is not None and after:
            with self.storage.transaction(write=False) as transaction:
                start = self._replica.log.before_open(transaction, after, settings.window)
        events = itertools.takewhile(lambda event: event.number <= number, self.events(start))
        if settings.window is None:
            return import_export.lines(events, register, secret, False)
        told = counted_between(settings, events, after, self._replica.now())
        return import_export.lines(told, register, secret, True)

    def replay(self, policy: Policy, seed: int = 0) -> Estimate:
        """What another policy would have earned by the log; ReplayError where it cannot tell."""
        family, arms = self._replica.look(lambda state: (state.agent.family, len(state.register)))
        doors.check_policy(policy, family, arms)
        return replay(self.settings, self.events(), policy, seed, self._replica.now())

    def events(self, after: int = 0) -> Iterator[Event]:
        """The log, from the event that follows number `after`."""
        self._replica.look(lambda state: None)  # finds a server that restarted
        with self.storage.transaction(write=False) as transaction:
            yield from self._replica.log.after(transaction, after)

    def check(self) -> str:
        """The digest of the state; StateError where the log folded anew differs in a single bit."""
        ours = self._replica.look(State.to_text)
        log = self._replica.folded(until=json.loads(ours.partition("\n")[2])["number"]).to_text()
        if ours != log:
            raise StateError(f"the state of study {self.name!r} is not the fold of its log")
        return ours.partition("\n")[0]

    def __repr__(self) -> str:
        now = self.status()
        nouns = {"arms": "arm{}", "told": "reward{} told", "outstanding": "ticket{} out"}
        counts = [f"{now[key]} {noun.format('s' * (now[key] != 1))}" for key, noun in nouns.items()]
        words = ", ".join(counts)
        return f"Study({self.name!r}, {words}{', paused' * now['paused']})"
