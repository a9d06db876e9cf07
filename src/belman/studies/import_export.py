"""A study's log for other programs, and other programs' data for a study: CSV and Parquet."""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from belman.errors import ArmError, SettingError, listing, nearest, needing
from belman.files import replacing
from belman.studies.chain import mark
from belman.studies.event_log import Draw, Event, Kind
from belman.studies.open_tickets import Counted
from belman.studies.tickets import ticket_id

COLUMNS = ("number", "time", "event", "ticket", "arm", "draw", "probability", "reward", "reason")
ENDINGS = (".csv", ".parquet")

_CHUNK = 50_000
_SO_FAR = "told so far"

Row = tuple[Any, ...]


def lines(
    log: Iterable[Event | Counted], register: Sequence[Hashable], secret: str, windowed: bool
) -> Iterator[Row]:
    """A log as a person reads it, in the order of `COLUMNS`; None for what a line does not have.

    Where there is a window, a tell is not the last word, and a line without a number says what a
    ticket counted as, and when.
    """
    for one in log:
        if isinstance(one, Event):
            yield _line(one, register, secret, windowed)
        else:
            assert one.ticket is not None
            when = datetime.fromtimestamp(one.time, UTC)
            ticket = ticket_id(one.ticket, secret, one.mark)
            what = "forgotten" if one.reward is None else "counted"
            yield (None, when, what, ticket, register[one.arm], None, None, one.reward, None)


def _line(event: Event, register: Sequence[Hashable], secret: str, windowed: bool) -> Row:
    number = event.number if event.kind == Kind.ASKED else event.ticket
    so_far = windowed and event.kind == Kind.TOLD
    return (
        event.number,
        datetime.fromtimestamp(event.time, UTC),
        _SO_FAR if so_far else Kind(event.kind).name.lower().replace("_", " "),
        None if number is None else ticket_id(number, secret, mark(event)),
        None if event.arm is None else register[event.arm],
        None if event.draw is None else Draw(event.draw).name.lower(),
        event.probability,
        event.reward,
        None if event.body is None else json.loads(event.body).get("reason"),
    )


def write(path: str | os.PathLike[str], rows: Iterator[Row]) -> int:
    """Write lines of a log to a .csv or .parquet file, whole or not at all; gives their count."""
    target = _checked(path)
    writer = _write_csv if target.suffix == ".csv" else _write_parquet
    try:
        with replacing(target) as draft:
            return writer(draft, rows)
    except OSError as error:
        raise SettingError(f"{target} cannot be written: {error.strerror or error}") from None


def _checked(path: str | os.PathLike[str]) -> Path:
    if (checked := Path(path)).suffix not in ENDINGS:
        allowed = f"its name must end in {listing(ENDINGS)}"
        raise SettingError(f"{checked} is neither CSV nor Parquet: {allowed}")
    return checked


def _write_csv(path: Path, rows: Iterator[Row]) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for count, row in enumerate(rows, start=1):  # noqa: B007
            writer.writerow(
                cell.isoformat() if isinstance(cell, datetime) else cell for cell in row
            )
    return count


def _write_parquet(path: Path, rows: Iterator[Row]) -> int:
    arrow, parquet = _arrow()
    text, double, time = arrow.string(), arrow.float64(), arrow.timestamp("us", "UTC")
    kinds = (arrow.int64(), time, text, text, text, text, double, double, text)
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)))
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        while chunk := list(itertools.islice(rows, _CHUNK)):
            count += len(chunk)
            columns = dict(zip(COLUMNS, map(list, zip(*chunk, strict=True)), strict=True))
            columns["arm"] = [None if arm is None else str(arm) for arm in columns["arm"]]
            writer.write_table(arrow.Table.from_pydict(columns, schema))
    return count


def _arrow() -> tuple[Any, Any]:
    with needing("a Parquet file", "parquet", "pyarrow"):
        import pyarrow
        from pyarrow import parquet
    return pyarrow, parquet


def past_data(
    path: str | os.PathLike[str], arms: Iterable[Hashable]
) -> list[tuple[Hashable, float]]:
    """The (arm, reward) pairs of a file with those columns, rows without a reward left out.

    An arm is found by its name as text, since a file may know no other. Of a log that was exported
    what counted is taken, as it was corrected.
    """
    source = _checked(path)
    try:
        rows = _read_csv(source) if source.suffix == ".csv" else _read_parquet(source)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"{source} cannot be read: {error}") from None
    names = {str(arm): arm for arm in arms}
    found: list[tuple[Hashable, float]] = []
    for i, row in sorted(_final(rows).items()):
        name = str(row["arm"])
        if name not in names:
            known = f"this study knows {listing(names)}{nearest(name, names)}"
            raise ArmError(f"{source}, row {i}: unknown arm {name!r}: {known}")
        try:
            found.append((names[name], float(row["reward"])))
        except ValueError:
            what = f"reward {row['reward']!r} is not a number"
            raise SettingError(f"{source}, row {i}: {what}") from None
    return found


def _final(rows: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """The rows, by their number from 1, that hold a reward which stands."""
    final, places = dict[int, Mapping[str, Any]](), dict[Any, int]()
    for i, row in enumerate(rows, start=1):
        event, ticket = row.get("event"), row.get("ticket")
        if event == _SO_FAR:
            continue
        if event == "corrected":
            final.pop(places.get(ticket, 0), None)
        if row["reward"] not in (None, ""):
            final[i] = row
            places[ticket] = i
    return final


def _read_csv(path: Path) -> list[Mapping[str, Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        _require_columns(path, reader.fieldnames or ())
        return list(reader)


def _read_parquet(path: Path) -> list[Mapping[str, Any]]:
    arrow, parquet = _arrow()
    try:
        _require_columns(path, parquet.read_schema(path).names)
        return parquet.read_table(path).to_pylist()
    except arrow.ArrowInvalid as error:
        raise SettingError(f"{path} cannot be read: {error}") from None


def _require_columns(path: Path, names: Iterable[str]) -> None:
    there = list(names)
    for column in ("arm", "reward"):
        if column not in there:
            has = f"it has {listing(there)}{nearest(column, there)}"
            raise SettingError(f"{path} has no column {column!r}: {has}")
