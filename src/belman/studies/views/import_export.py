"""A study's log for other programs, and other programs' data for a study: CSV and Parquet."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from belman import frames
from belman.deciders import Draw
from belman.errors import SettingError, listing, needing
from belman.escaping import for_csv
from belman.files import replacing
from belman.frames import Frame
from belman.studies.log import archives
from belman.studies.log.chain import mark
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import CONTEXT, DEFERRED, Counted
from belman.studies.outcomes.candidates import CANDIDATE, CANDIDATES, CHOSEN, Catalogue, whole
from belman.studies.outcomes.walk import walk
from belman.studies.replica import Replica
from belman.studies.rules.attributes import Attributes, given_in
from belman.studies.rules.metrics import Metrics, together, told_in
from belman.studies.rules.written import ArmTexts
from belman.studies.settings import StudySettings
from belman.studies.state import State
from belman.studies.ticket import ticket_id

COLUMNS = ("number", "time", "event", "ticket", "arm", "draw", "probability", "reward", "reason")
METRICS = "metrics"  # one column more, of a study to which any were told
ATTRIBUTES = "attributes"  # and one more, of a study whose tickets have any
IN_CONTEXT = "context"  # and one more, of a study with contexts
ENDINGS = (".csv", ".parquet")

_CHUNK = 50_000
_CHANCES = ("probability", "propensity", "chance")  # of the arm in each row
_SO_FAR = "told so far"

Row = tuple[Any, ...]


def lines(
    replica: Replica, events: Callable[[int], Iterator[Event]], after: int, *, as_text: bool = False
) -> tuple[Sequence[str], Iterator[Row]]:
    """The events after a number as a person reads them: names of columns, and lines.

    None is for what a line does not have. Where there is a window, a tell is not the last word, and
    a line without a number says what a ticket counted as, and when. A study to which metrics were
    told has a column for them. Arms are as they are named, or `as_text` for a file.
    """

    def read(state: State) -> tuple[int, list[Hashable], StudySettings, list[int], Catalogue]:
        tally = state.tally
        given = (tally.metrics.names, tally.attribute_names, state.settings.has_contexts)
        shown = [
            *range(len(COLUMNS)),
            *(len(COLUMNS) + i for i, names in enumerate(given) if names),
        ]
        known = Catalogue(dict(state.catalogue.rows))
        return state.number, list(state.register), state.settings, shown, known

    number, register, settings, shown, known = replica.look(read)
    start, windowed = after, settings.window is not None
    if settings.window is not None and after:
        with replica.storage.transaction(write=False) as transaction:
            start = replica.log.before_open(transaction, after, settings.window)
    log = itertools.takewhile(lambda event: event.number <= number, events(start))
    told = _with_counted(settings, log, replica.now(), after) if windowed else log
    named = ArmTexts(register)
    names = list(map(named.text, register)) if as_text else register

    @lru_cache(maxsize=256)
    def event_of(number: int) -> Event | None:
        with replica.storage.transaction(write=False) as transaction:
            return archives.find(replica.log, transaction, number)

    candidates = partial(whole, known=known, event_of=event_of)
    rows = (_line(one, names, replica.secret, windowed, candidates) for one in told)
    all_names = (*COLUMNS, METRICS, ATTRIBUTES, IN_CONTEXT)
    return [all_names[i] for i in shown], (tuple(row[i] for i in shown) for row in rows)


def _with_counted(
    settings: StudySettings, log: Iterable[Event], now: float, after: int
) -> Iterator[Event | Counted]:
    """Yield events, and in their midst what tickets counted as, up to now."""
    for event, _, closed, _ in walk(settings, log, now, after):
        yield from (one for one in closed if type(one.key) is int)
        if event is not None:
            yield event


def _line(
    one: Event | Counted,
    names: Sequence[Hashable],
    secret: str,
    windowed: bool,
    candidates: Callable[[Any], list[Any]],
) -> Row:
    when = datetime.fromtimestamp(one.time, UTC)
    if isinstance(one, Counted):
        outcome = one.outcome
        ticket, metrics = ticket_id(one.key, secret, outcome.mark), _json(outcome.metrics or {})
        what = "forgotten" if outcome.reward is None else "counted"
        cells = (ticket, names[outcome.arm], None, None, outcome.reward, None, metrics)
        return (None, when, what, *cells, None, None)
    number = one.number if one.kind == Kind.ASKED else one.ticket
    body = one.content
    so_far = one.kind == Kind.TOLD and (windowed or DEFERRED in body)
    return (
        one.number,
        when,
        _SO_FAR if so_far else Kind(one.kind).name.lower().replace("_", " "),
        None if number is None else ticket_id(number, secret, mark(one)),
        None if one.arm is None else names[one.arm],
        None if one.draw is None else Draw(one.draw).name.lower(),
        one.probability,
        one.reward,
        body.get("reason"),
        _json(_metrics_in(one)),
        _json(given_in(one)),
        _json(_asked_with(one, candidates)),
    )


def _metrics_in(event: Event) -> Metrics:
    """Return the metrics that an event tells, or that a corrected ticket has."""
    if event.kind != Kind.CORRECTED:
        return told_in(event)
    body = event.content
    result = together(body.get("metrics_before", {}), body.get("metrics", {}))
    return {} if event.reward is None else result


def _asked_with(event: Event, candidates: Callable[[Any], list[Any]]) -> dict[str, Any]:
    """The context of an ask or a row of past data, and the candidates with the one chosen."""
    if event.kind not in (Kind.ASKED, Kind.RECORDED):
        return {}
    body = event.content
    if CANDIDATE not in body:
        result: dict[str, Any] = body.get(CONTEXT, {})
        return result
    among = candidates(body.get(CANDIDATES, [body[CANDIDATE]]))  # past data has one
    return {CONTEXT: body[CONTEXT], CANDIDATES: among, CHOSEN: body.get(CHOSEN, 0)}


def _json(given: Metrics | Attributes | dict[str, Any]) -> str | None:
    return json.dumps(given, ensure_ascii=False) if given else None


def write(
    path: str | os.PathLike[str], rows: Iterator[Row], columns: Sequence[str] = COLUMNS
) -> int:
    """Write lines of a log to a .csv or .parquet file, whole or not at all; gives their count."""
    target = _checked(path)
    writer = _write_csv if target.suffix == ".csv" else _write_parquet
    try:
        with replacing(target, private=True) as draft:
            return writer(draft, rows, columns)
    except OSError as error:
        raise SettingError(f"{target} cannot be written: {error.strerror or error}") from None


def _checked(path: str | os.PathLike[str]) -> Path:
    if (checked := Path(path)).suffix not in ENDINGS:
        allowed = f"its name must end in {listing(ENDINGS)}"
        raise SettingError(f"{checked} is neither CSV nor Parquet: {allowed}")
    return checked


def _write_csv(path: Path, rows: Iterator[Row], columns: Sequence[str]) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for count, row in enumerate(rows, start=1):  # noqa: B007
            writer.writerow(
                cell.isoformat() if isinstance(cell, datetime) else for_csv(cell) for cell in row
            )
    return count


def _write_parquet(path: Path, rows: Iterator[Row], columns: Sequence[str]) -> int:
    with needing("a Parquet file", "parquet", "pyarrow"):
        import pyarrow as arrow
        from pyarrow import parquet
    text, double, time = arrow.string(), arrow.float64(), arrow.timestamp("us", "UTC")
    kinds = {"number": arrow.int64(), "time": time, "probability": double, "reward": double}
    schema = arrow.schema([(name, kinds.get(name, text)) for name in columns])
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        while chunk := list(itertools.islice(rows, _CHUNK)):
            count += len(chunk)
            cells = dict(zip(columns, map(list, zip(*chunk, strict=True)), strict=True))
            writer.write_table(arrow.Table.from_pydict(cells, schema))
    return count


def past_data(given: Any, arms: Iterable[Hashable]) -> tuple[list[Row], list[int]]:
    """The (arm, reward) or (arm, reward, attributes) of a table with those columns, rows without a
    reward left out; and the number of each row in the table.

    An arm is found by its name as text, since a file may know no other; a text that may be one of
    two arms is refused. Of a log that was exported what counted is taken, as it was corrected.
    """
    frame = frames.read(given, empty=True)
    frame.require("arm", "reward")
    if "event" not in frame and (chances := [name for name in _CHANCES if name in frame]):
        words = "past data are learnt from, and not replayed; belman.evaluate(log, policy) uses it"
        warnings.warn(f"the column {chances[0]!r} is not kept: {words}", UserWarning, stacklevel=3)
    rewards = frame.numbers("reward", missing=True).tolist()
    keys = frame.keys("ticket") if "ticket" in frame else [None] * len(frame)
    told_with = {}
    for column in (ATTRIBUTES, IN_CONTEXT):
        if column in frame:
            result = zip(keys, frame.json(column), strict=True)
            told_with.update({key or i: told for i, (key, told) in enumerate(result) if told})
    final = _final(frame, rewards, keys)
    named = ArmTexts(arms).column(frame, "arm", final)
    told = [told_with.get(keys[i] or i) for i in final]
    rows = [
        (arm, rewards[i], *([] if more is None else [more]))
        for i, arm, more in zip(final, named, told, strict=True)
    ]
    return rows, [i + 1 for i in final]


def _final(frame: Frame, rewards: Sequence[float], tickets: Sequence[Any]) -> list[int]:
    """The rows, counted from 0, that hold a reward which stands."""
    events = frame.keys("event") if "event" in frame else [None] * len(frame)
    if "observed" in events:
        words = "of outcomes in bulk a log has sums, which cannot be recorded one by one"
        remedy = "bring them to the other study by observe(…), as they were brought to this one"
        raise SettingError(f"row {events.index('observed') + 1}: {words}: {remedy}")
    final, positions = dict[int, None](), dict[Any, int]()
    for i, (event, ticket) in enumerate(zip(events, tickets, strict=True)):
        if event == _SO_FAR:
            continue
        if event == "corrected":
            final.pop(positions.get(ticket, -1), None)
        if not math.isnan(rewards[i]):
            final[i] = None
            positions[ticket] = i
    return list(final)
