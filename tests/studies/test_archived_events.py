"""Old events in Parquet files: the study goes on as if they were still in the database."""

from __future__ import annotations

import shutil

import pytest

from belman import Thompson, errors
from belman.studies import Kind
from belman.studies.requests import archiving
from tests.studies.test_chain import back_up

DAY = 86_400.0


def lived(study, clock, days=4):
    """Asks, tells, corrections, rows and changes over some days; open tickets by the end."""
    tickets = []
    for day in range(days):
        clock.now += DAY
        tickets += study.ask(80, attributes={"device": ("phone", "desk")[day % 2]})
        for turn, ticket in enumerate(tickets[-80:-1]):
            study.tell(ticket, (turn + day) % 2)
        if study.settings.window is None:
            study.correct(tickets[-80], 1, "found")
        if study.settings.discount == 1.0:
            study.observe([(f"unit {day}", None, "a", 1, clock.now)])
    study.pause("lunch")
    study.resume("back")
    return tickets


def in_database(study):
    return study.storage.rows("SELECT COUNT(*) FROM belman_events")[0][0]


def known(study):
    return {
        "events": list(study.events()),
        "check": study.check(),
        "status": study.status(),
        "history": study.history().columns,
        "replay": study.replay(Thompson()),
        "devices": study.report(by="device").to_dict(),
        "out": study.tickets(),
    }


@pytest.mark.parametrize("window", [None, 3600.0])
def test_a_study_goes_on_and_its_past_can_be_read(opened, clock, tmp_path, window):
    rule = {} if window is None else {"window": window}
    study = opened(clock=clock, uniform_share=1.0, **rule)
    idle = opened(arms=None, clock=clock)
    idle.status()
    lived(study, clock)
    before, events = known(study), study.number
    file = tmp_path / "old.parquet"
    moved = study.archive_events(file, keep=1.5 * DAY, reason="old")
    assert 0 < moved < events - 10
    assert in_database(study) == events + 1 - moved
    assert file.stat().st_mode & 0o777 == 0o600
    for one in (study, idle, opened(arms=None, clock=clock)):
        now = known(one)
        *old, archived = now["events"]
        assert (old, archived.kind) == (before["events"], Kind.ARCHIVED)
        assert now["status"] == before["status"] | {"events": events + 1}
        assert now["history"]["event"] == [*before["history"]["event"], "archived"]
        assert now["replay"] == before["replay"]
        assert now["devices"]["segments"] == before["devices"]["segments"]
        assert now["out"] == before["out"]
    assert study.history(last=1)["reason"] == ["old"]
    assert len(study.history(last=10_000)["number"]) >= events - moved
    assert study.tell(idle.ask(), 1)
    assert idle.check() == study.check()
    clock.now += DAY
    again = study.archive_events(tmp_path / "more.parquet", keep=None)
    assert again == study.number - moved - 2  # but for the last one, and the event that says it
    assert [one.number for one in study.events()] == list(range(1, study.number + 1))
    assert idle.check() == study.check() == opened(arms=None, clock=clock).check()


def test_decisions_are_those_of_a_study_that_keeps_all(opened, clock, tmp_path, monkeypatch):
    decided = []
    for name in ("one", "two"):
        clock.now = 1e6
        study = opened(name, clock=clock)
        lived(study, clock)
        if name == "two":
            monkeypatch.setattr(type(study._replica.log), "remove_before", lambda *_: None)
        study.archive_events(tmp_path / f"{name}.parquet", keep=None)
        both = study, opened(name, None, clock=clock)
        decided.append([ticket[1:4] for one in both for ticket in one.ask(20)])
    assert in_database(study) == study.number + 42
    assert decided[0] == decided[1]


def test_a_snapshot_that_cannot_be_read_is_made_anew_from_the_file(opened, clock, tmp_path):
    study = opened(clock=clock)
    lived(study, clock)
    file = tmp_path / "old.parquet"
    study.archive_events(file, keep=DAY)
    right = study.check()
    study.storage.execute("UPDATE belman_snapshots SET content = 'damaged'")
    assert opened(arms=None, clock=clock).check() == right
    shutil.move(file, tmp_path / "elsewhere.parquet")
    with pytest.raises(errors.StudyError, match=r"archived in .*old\.parquet, which is not there"):
        opened(arms=None, clock=clock)


def test_without_the_file_all_goes_on_but_what_reads_the_past(opened, clock, tmp_path):
    study = opened(clock=clock, uniform_share=1.0)
    lived(study, clock)
    file = tmp_path / "old.parquet"
    study.archive_events(file, keep=DAY)
    file.rename(tmp_path / "elsewhere.parquet")
    other = opened(arms=None, clock=clock)
    assert study.tell(other.ask(), 1)
    other.report(), other.history(last=5), other.beliefs()
    for look in (
        other.check,
        other.history,
        lambda: other.replay(Thompson()),
        lambda: other.report(by="device"),
        lambda: other.export(tmp_path / "log.csv"),
    ):
        with pytest.raises(errors.StudyError, match="put the file back"):
            look()
    (tmp_path / "elsewhere.parquet").rename(file)
    assert other.check() == study.check()


def test_a_file_that_is_not_as_it_was_written_is_refused(opened, clock, tmp_path):
    import pyarrow
    from pyarrow import parquet

    study, other = opened(clock=clock), opened("other", clock=clock)
    lived(study, clock)
    lived(other, clock)
    file, wrong = tmp_path / "old.parquet", tmp_path / "other.parquet"
    study.archive_events(file, keep=DAY)
    other.archive_events(wrong, keep=DAY)
    whole = parquet.read_table(file)

    def edited(name, value, row):
        cells = whole[name].to_pylist()
        cells[row] = value
        return whole.set_column(
            whole.schema.get_field_index(name),
            whole.schema.field(name),
            pyarrow.array(cells, whole.schema.field(name).type),
        )

    edits = {
        "the first is another": edited("time", 7.0, 0),
        "the first has no link": edited("link", b"", 0),
        "without the first": whole.slice(1),
        "the first twice": pyarrow.concat_tables([whole.slice(0, 1), whole]),
        "no number": edited("number", None, 5),
        "no link": edited("link", None, 5),
        "no time": edited("time", None, 5),
        "none": whole.slice(0, 0),
        "shorter": whole.slice(0, whole.num_rows - 1),
        "gap": whole.filter([one != 7 for one in whole["number"].to_pylist()]),
        "reward": whole.set_column(
            7, "reward", [[None if r is None else 1 - r for r in whole["reward"].to_pylist()]]
        ),
        "column": whole.drop_columns(["link"]),
        "other": parquet.read_table(wrong),
    }
    for table in edits.values():
        parquet.write_table(table, file)
        for look in (study.check, lambda: list(study.events()), study.history):
            with pytest.raises(errors.StateError, match=r"not as it was written|was edited"):
                look()
    file.write_bytes(b"PAR1 no")
    with pytest.raises(errors.StudyError, match="cannot be read"):
        study.check()
    parquet.write_table(whole, file)
    study.check()


def test_what_is_archived_is_refused_and_what_is_open_is_not(opened, clock, tmp_path):
    study = opened(clock=clock)
    tickets = lived(study, clock)
    told, out = tickets[0], tickets[79]
    study.archive_events(tmp_path / "old.parquet", keep=DAY)
    before = study.check(), study.number
    for call in (
        lambda: study.tell(told, 1),
        lambda: study.correct(told, 0, "refund"),
        lambda: study.give_back([told]),
        lambda: study.tell("3-0000000000", 1),
    ):
        with pytest.raises(errors.TicketError, match="archived"):
            call()
    assert (study.check(), study.number) == before
    assert study.tell(out, 1)  # of a study without a window: it was open
    assert study.tell(out, 1) is False
    with pytest.raises(errors.TicketError, match="the first one stands"):
        study.tell(out, 0)
    with pytest.raises(errors.TicketError, match="archived"):
        study.correct(out, 0, "refund")
    with pytest.raises(errors.TicketError, match="was told"):
        study.give_back([out])
    assert study.give_back([tickets[159]]) == study.give_back([tickets[159]]) == 1
    with pytest.raises(errors.TicketError, match="archived"):
        study.tell(tickets[159], 1)
    assert study.check() == opened(arms=None, clock=clock).check()
    with pytest.raises(errors.UnknownTicketError):
        study.tell("99999-0000000000", 1)


def test_a_correction_that_outlives_its_tell_opens_no_ticket(opened, clock, tmp_path):
    study = opened(clock=clock)
    ticket = study.ask()
    study.tell(ticket, 1)
    clock.now += 2 * DAY
    study.correct(ticket, 0, "refund", key="once")
    assert study.archive_events(tmp_path / "old.parquet", keep=DAY) == 3
    before = study.check(), study.number
    for call in (
        lambda: study.tell(ticket, 1),
        lambda: study.correct(ticket, 1, "found"),
    ):
        with pytest.raises(errors.TicketError, match="archived"):
            call()
    with pytest.raises(errors.TicketError, match="was told"):
        study.give_back([ticket])
    assert study.correct(ticket, 0, "refund", key="once") is False  # as it was answered before
    assert (study.check(), study.number) == before


def test_a_correction_that_takes_the_whole_log_reads_the_file(opened, clock, tmp_path):
    def belief(name, archived):
        clock.now = 1e6
        study = opened(name, clock=clock, discount=0.9)
        tickets = lived(study, clock)
        if archived:
            study.archive_events(tmp_path / "old.parquet", keep=1.5 * DAY)
        study.correct(tickets[-2], 1, "found")
        study.correct(tickets[-3], None, "a robot")
        assert study.check() == opened(name, None, clock=clock).check()
        return study.beliefs().columns

    assert belief("one", archived=True) == belief("two", archived=False)


def test_an_archive_that_is_broken_off_loses_nothing(opened, clock, tmp_path, monkeypatch):
    study = opened(clock=clock)
    lived(study, clock)
    right = list(study.events())

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(archiving.archives, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            study.archive_events(tmp_path / "one.parquet", keep=DAY)
    assert list(study.events()) == right
    with monkeypatch.context() as patch:
        patch.setattr(type(study._replica.log), "remove_before", killed)
        with pytest.raises(KeyboardInterrupt):
            study.archive_events(tmp_path / "two.parquet", keep=2 * DAY)
    assert list(study.events())[:-1] == right
    left = in_database(study)
    clock.now += 0.5 * DAY
    assert study.archive_events(tmp_path / "three.parquet", keep=2 * DAY) == 0
    assert not (tmp_path / "three.parquet").exists()
    assert in_database(study) < left
    assert list(study.events())[:-1] == right
    study.check()


def test_who_archives_meanwhile_is_noticed(opened, clock, tmp_path, monkeypatch):
    study, other = opened(clock=clock), None
    lived(study, clock)
    other = opened(arms=None, clock=clock)
    write = archiving.archives.write

    def slow(*given):
        monkeypatch.setattr(archiving.archives, "write", write)
        other.archive_events(tmp_path / "first.parquet", keep=2 * DAY)
        return write(*given)

    monkeypatch.setattr(archiving.archives, "write", slow)
    with pytest.raises(errors.StudyError, match="meanwhile"):
        study.archive_events(tmp_path / "second.parquet", keep=DAY)
    assert not (tmp_path / "second.parquet").exists()
    study.check()
    assert study.archive_events(tmp_path / "second.parquet", keep=DAY)
    assert study.check() == other.check()


def test_of_two_who_write_one_file_at_once_one_is_refused(opened, clock, tmp_path, monkeypatch):
    study, file = opened(clock=clock), tmp_path / "old.parquet"
    lived(study, clock)
    other = opened(arms=None, clock=clock)
    write = archiving.archives.write

    def late(*given):
        monkeypatch.setattr(archiving.archives, "write", write)
        assert other.archive_events(file, keep=2 * DAY)
        return write(*given)

    monkeypatch.setattr(archiving.archives, "write", late)
    before = list(study.events())
    with pytest.raises(errors.SettingError, match="is there already"):
        study.archive_events(file, keep=DAY)
    assert list(study.events())[: len(before)] == before
    assert study.check() == other.check()
    assert sorted(one.name for one in tmp_path.glob("*.parquet*")) == ["old.parquet"]


def test_what_follows_a_number_is_read_from_the_middle_of_a_file(
    opened, clock, tmp_path, monkeypatch
):
    from pyarrow import parquet

    study, file = opened(clock=clock), tmp_path / "old.parquet"
    lived(study, clock)
    events = list(study.events())
    monkeypatch.setattr(archiving.archives, "CHUNK", 50)
    study.archive_events(file, keep=None)
    events.append(list(study.events())[-1])
    assert parquet.ParquetFile(file).num_row_groups > 10
    for after in (0, 1, 49, 50, 51, 99, 100, 101, 333):
        assert list(study.events(after)) == events[after:]
    whole = parquet.read_table(file)
    with parquet.ParquetWriter(file, whole.schema) as to:  # without a group in the middle
        for start in (*range(0, 200, 50), *range(250, whole.num_rows, 50)):
            to.write_table(whole.slice(start, 50))
    assert list(study.events(333)) == events[333:]
    for after in (0, 120, 201, 249):
        with pytest.raises(errors.StateError, match="not as it was written"):
            list(study.events(after))


def test_bad_requests_write_nothing(opened, clock, tmp_path):
    study = opened(clock=clock)
    lived(study, clock)
    there = tmp_path / "there.parquet"
    there.write_text("mine")
    for path, keep, words in (
        (tmp_path / "old.csv", DAY, r"end in \.parquet"),
        (there, DAY, "is there already"),
        (tmp_path / "no" / "old.parquet", DAY, "cannot be written"),
        (tmp_path / "old.parquet", -1, "keep=-1"),
    ):
        with pytest.raises(errors.SettingError, match=words):
            study.archive_events(path, keep=keep)
    assert study.archive_events(tmp_path / "old.parquet", keep=100 * DAY) == 0
    assert [one.name for one in tmp_path.glob("*.parquet")] == ["there.parquet"]


def test_candidates_and_versions_are_known_after_an_archive(opened, clock, tmp_path):
    study = opened(arms=None, features=["price"], model="linear", clock=clock)
    cups = [{"price": 1.0}, {"price": 2.0}, {"price": 3.0}]
    study.tell(study.ask(candidates=cups), 1.0)
    clock.now += DAY
    late = study.ask(candidates=cups[:2], key="late")
    right = study.history().columns
    study.archive_events(tmp_path / "old.parquet", keep=0.5 * DAY)
    assert study.ask(candidates=cups[:2], key="late") == late
    assert study.history()["context"][:4] == right["context"]
    by = opened("by", segments=["country"], clock=clock)
    weights = by.publish(10, segment={"country": "fr"})
    clock.now += DAY
    newer = by.publish(10, segment={"country": "de"})
    by.publish(10, segment={"country": "de"})
    arm = next(a for a, w in zip(weights.arms, weights.weights, strict=True) if w)
    by.archive_events(tmp_path / "by.parquet", keep=None)
    assert by.observe([{"version": weights.version, "arm": arm, "n": 2, "sum": 1, "squares": 1}],
                      key="one")  # fmt: skip
    assert by.segments()["plays"] == [2, 0]
    with pytest.raises(errors.SettingError, match="too old"):
        by.observe([{"version": newer.version, "arm": arm, "n": 2, "sum": 1, "squares": 1}],
                   key="two")  # fmt: skip
    by.check()


def test_a_backup_of_before_the_archive_that_is_put_back_is_noticed(tmp_path, clock):
    from belman.studies import open_study

    path, copy = tmp_path / "studies.db", tmp_path / "copy.db"
    url = f"sqlite:///{path}"
    study = open_study("study", ["a", "b"], storage=url, seed=1, clock=clock)
    idle = open_study("study", storage=url, clock=clock)
    lived(study, clock)
    idle.status()
    back_up(path, copy)
    study.archive_events(tmp_path / "old.parquet", keep=DAY)
    study.storage.close()
    idle.storage.close()
    back_up(copy, path)
    with pytest.raises(errors.RestoredError):
        study.ask()
    assert idle.ask()  # it saw nothing that is lost
    assert idle.check() == open_study("study", storage=url, clock=clock).check()
    assert idle.archive_events(tmp_path / "again.parquet", keep=DAY)
    idle.check()
    study.storage.close()
    idle.storage.close()
