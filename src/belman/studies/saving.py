"""The state of a study as text, which a snapshot is, and back; and what a state must agree on."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from belman import codec
from belman.deciders import state_file
from belman.delays.counts import PRIOR
from belman.errors import StateError
from belman.studies.outcomes.book import Outcome
from belman.studies.outcomes.early import EarlyLearning
from belman.studies.state import State

FORMAT = 4


def to_text(state: State) -> str:
    """Return the whole state as text: equal texts are equal states, to the last bit."""
    state.decider.lay_out()  # leaves what was learnt, and nothing of how it was worked with
    text = _text(_plain(state))
    return f"{digest(text)}\n{text}"


def _plain(state: State) -> dict[str, Any]:
    return {"format": FORMAT, "number": state.number, **codec.write(state)}


def from_text(text: str) -> State:
    """Return the state of a text that `to_text` gave; StateError where it cannot be trusted."""
    own, _, body = text.partition("\n")
    if own != digest(body):
        raise StateError("a snapshot is damaged: its checksum does not match its content")
    return state_file.trusted(lambda: _rebuilt(body), "a snapshot", "a study")


def _rebuilt(text: str) -> State:
    content = json.loads(text)
    if (result := content.pop("format")) != FORMAT:
        raise StateError(f"a snapshot has format {result}: this belman reads {FORMAT}")
    last = len(content["register"]) - 1
    state = codec.read(State, content, {"last arm": last, "number": content["number"]})
    _check(state)
    again = _plain(state)
    if _text(again) == text:
        return state
    del again["format"]
    apart = ("settings", "decider")  # which check themselves
    said = {name: part for name, part in content.items() if name not in apart}
    state_file.check_kept(said, {name: part for name, part in again.items() if name in said})
    anew = ("family", "policy", "model", "totals")  # which may be described otherwise
    state_file.check_kept(content["decider"]["state"], again["decider"]["state"], anew)
    return state


def _check(state: State) -> None:
    """Raise StateError where parts of a state contradict one another."""
    known = {*state.decider.arms, *state.decider.retired} or set(state.register)
    if len(state.positions) != len(state.register) or set(state.register) != known:
        raise StateError("a snapshot plays other arms than its register says")
    if len(state.tally.arms) != len(state.register):
        raise StateError("a snapshot does not say what became of its traffic")
    if state.decider.kind != state.settings.kind:
        raise StateError("a snapshot decides by other means than its settings say")
    for cut in (cut for arm in state.tally.arms for cut in arm.cuts.values()):
        if len(cut.belief) != state.decider.family.dimension:
            raise StateError("a snapshot keeps of an arm's past what is not a belief")
    if state.shipped in state.retired:
        raise StateError("a snapshot has shipped an arm that it does not play")
    for outcome in state.book.open.values():
        state.decider.recall(state.register[outcome.arm], outcome.context, outcome.candidate)
    tickets = {key: one for key, one in state.book.open.items() if type(key) is int}
    times = [one.time for one in tickets.values()]
    if list(tickets) != sorted(tickets) or times != sorted(times):
        raise StateError("the tickets of a snapshot are not in the order of their asks")
    waiting = Counter(one.arm for one in tickets.values())
    if any(
        state.learnt(position).pending != waiting[position] for position in state.positions.values()
    ):
        raise StateError("a snapshot waits for other rewards than those of its tickets")
    if not state.tally.metrics.names >= {name for _, name in state.tally.metrics.sums}:
        raise StateError("a snapshot sums up metrics that it does not name")
    if (state.spending is None) != (state.settings.budget is None):
        raise StateError("a snapshot has a budget, or has none, unlike its study")
    if (state.early is not None) != state.settings.early:
        raise StateError("a snapshot learns early, or does not, unlike its study")
    if state.early is not None:
        _check_early(state, state.early, tickets)


def _check_early(state: State, early: EarlyLearning, tickets: Mapping[int, Outcome]) -> None:
    """Refuse a distribution of delays that does not count the open tickets."""
    distribution, told = early.distribution, early.told
    is_own = distribution.window == state.settings.window and distribution.prior == PRIOR
    if (
        not is_own
        or distribution.arms != len(state.register)
        or not isinstance(distribution.alarm, str | None)
    ):
        raise StateError("the distribution of delays of a snapshot is that of another study")
    asks = [(one.arm, one.time, told.get(number)) for number, one in tickets.items()]
    if not told.keys() <= tickets.keys() or not distribution.is_of(asks):
        raise StateError("the distribution of delays of a snapshot does not count its tickets")


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """Return the checksum of a snapshot."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
