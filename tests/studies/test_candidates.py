"""Candidates in the log: kept once, referred to from then on, and whole for whoever looks."""

from __future__ import annotations

import csv
import json
from contextlib import closing

import pytest

import belman
from belman import codec
from belman.errors import StateError
from belman.studies.outcomes import candidates as kept_once
from belman.studies.outcomes.candidates import Catalogue

pytestmark = pytest.mark.interpreted

SHELF = [{"price": float(price), "taste": f"taste {price % 3}"} for price in range(40)]


@pytest.fixture
def study(url):
    result = belman.open_study(
        "shelf", features=["price", "taste"], uniform_share=0.3, storage=url, seed=7
    )
    yield result
    result.storage.close()


def bodies(study):
    return [json.loads(event.body) for event in study.events() if event.kind == 2]


def test_a_candidate_is_kept_once(study):
    for turn in range(5):
        study.tell(study.ask(candidates=SHELF[turn : turn + 30]), 1)
    first, *others = bodies(study)
    assert first["candidates"] == SHELF[:30]
    for turn, body in enumerate(others, 1):
        assert body["candidates"][0][:2] == [2, turn]
        assert body["candidates"][-1] == SHELF[turn + 29]
        assert sum(isinstance(one, dict) for one in body["candidates"]) == 1
        assert body["candidate"] == SHELF[turn + body["chosen"]]
    sizes = [len(event.body) for event in study.events() if event.kind == 2]
    assert max(sizes[1:]) < sizes[0] / 5
    study.check()


def test_tickets_tables_files_and_replays_see_them_whole(study, tmp_path):
    for turn in range(12):
        ticket = study.ask(candidates=SHELF[turn : turn + 5], key=f"key {turn}")
        assert ticket.candidate == SHELF[turn + ticket.arm]
        assert study.ask(candidates=SHELF[turn : turn + 5], key=f"key {turn}") == ticket
        study.tell(ticket, turn % 2)
    with pytest.raises(belman.errors.SettingError, match="another context"):
        study.ask(candidates=SHELF[:5], key="key 3")
    study.export(tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(encoding="utf-8") as file:
        asked = [
            json.loads(row["context"]) for row in csv.DictReader(file) if row["event"] == "asked"
        ]
    assert [one["candidates"] for one in asked] == [SHELF[turn : turn + 5] for turn in range(12)]


def test_replays_are_the_same_as_of_whole_candidates(tmp_path, monkeypatch):
    result = []
    for most in (2_000, 0):
        monkeypatch.setattr(kept_once, "MOST", most)
        url = f"sqlite:///{tmp_path}/{most}.db"
        settings = {"features": ["price", "taste"], "uniform_share": 0.95, "seed": 7}
        with closing(belman.open_study("shelf", storage=url, **settings).storage) as storage:
            study = belman.open_study("shelf", storage=storage)
            for turn in range(140):
                ticket = study.ask(candidates=SHELF[turn % 7 : turn % 7 + 2])
                if turn % 20 == 0:
                    study.give_back([ticket])
                else:
                    study.tell(ticket, int(ticket.candidate["price"] > 4))
            result.append(study.replay(belman.policies.dependent.LinUCB(1.0)))
    assert result[0] == result[1]


def test_another_process_knows_the_same(study, url):
    for _ in range(3):
        study.ask(candidates=SHELF[:10], n=3)
    again = belman.open_study("shelf", storage=url)
    one, two = (each.ask(candidates=SHELF[5:12], key="same") for each in (again, study))
    assert one == two
    assert again.check() == study.check()
    again.storage.close()


def second_of(study):
    """The number of the last ask but one."""
    return [event.number for event in study.events() if event.kind == 2][-2]


def test_what_is_old_is_kept_again(study, monkeypatch):
    monkeypatch.setattr(kept_once, "MOST", 6)
    for start in (0, 5, 10, 0):
        study.tell(study.ask(candidates=SHELF[start : start + 4], n=2)[0], 1)
    *_, first, second = bodies(study)  # of the last ask
    assert first["candidates"] == SHELF[:4]
    assert second["candidates"] == [[second_of(study), 0, 4]]
    study.check()


def test_numbers_are_told_apart_to_the_sign_of_zero():
    catalogue = Catalogue()
    catalogue.take(1, [{"x": 0.0}])
    assert catalogue.kept([{"x": -0.0}, {"x": 0.0}, {"x": "0.0"}, {"x": None}]) == [
        {"x": -0.0}, [1, 0, 1], {"x": "0.0"}, {"x": None}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        [[[1, 0], {"x": 1.0}], [[2, 0], {"x": 1.0}]],
        [[[1, 0], {"x": 1.0}], [[1, 0], {"x": 2.0}]],
        [[[9, 0], {"x": 1.0}]],
        [[[0, 0], {"x": 1.0}]],
        [[[1, -1], {"x": 1.0}]],
        [[[True, 0], {"x": 1.0}]],
    ],
)
def test_catalogues_that_cannot_be(content):
    with pytest.raises(StateError):
        codec.read(Catalogue, {"rows": content}, {"number": 5})
