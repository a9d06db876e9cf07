"""What a release wrote is read by all that follow, and played on as it was.

Formats are frozen by the first release: until CHANGELOG.md has its heading a sample may fail, and
`python -m tests.formats.samples` writes all of them anew.
"""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

import belman
from belman.studies import Storage, open_study
from tests.formats.samples import AGENTS, CLOCK, FOLDER, UNITS, next_asks, opened

CHANGES = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASED = re.search(r"^## \[\d", CHANGES, re.MULTILINE) is not None
pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.xfail(not RELEASED, reason="write samples anew: formats are not frozen yet"),
]
NEXT = json.loads((FOLDER / "next.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", AGENTS)
def test_a_state_file_goes_on_as_it_did(kind):
    agent = belman.Agent.load(FOLDER / f"agent-{kind}.json")
    known = NEXT[f"agent-{kind}"]
    assert next_asks(agent, kind) == (
        [pytest.approx(point) for point in known] if kind == "box" else known
    )


def test_a_database_goes_on_as_it_did(tmp_path):
    known = NEXT["study"]
    with closing(opened(tmp_path / "study.db")) as storage:
        study = open_study("sample", storage=storage, clock=lambda: CLOCK + 1.0)
        assert (study.number, list(study.arms)) == (known["number"], known["arms"])
        assert [ticket.arm for ticket in study.ask(6)] == known["next"]


def test_a_log_without_its_snapshots_leads_to_the_same(tmp_path):
    """The fold of the events and the snapshot in the sample make the same next decisions."""
    with closing(opened(tmp_path / "study.db")) as storage:
        with storage.transaction() as transaction:
            kept = transaction.rows("SELECT number FROM belman_snapshots")
            assert kept
            transaction.execute("DELETE FROM belman_snapshots")
        study = open_study("sample", storage=storage, clock=lambda: CLOCK + 1.0)
        assert [ticket.arm for ticket in study.ask(6)] == NEXT["study"]["next"]


def test_a_weights_document_assigns_as_it_did():
    weights = belman.Weights.from_json((FOLDER / "weights.json").read_bytes())
    assert {unit: belman.assign(weights, unit).arm for unit in UNITS} == NEXT["weights"]


def test_an_export_is_past_data(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    with closing(storage):
        study = open_study("later", ["a", "b"], storage=storage, seed=1)
        assert study.record(FOLDER / "export.csv", "last year") == 8


def test_a_report_has_the_fields_that_it_had():
    """Programs read them by name: none goes, and none changes its kind."""
    known = json.loads((FOLDER / "report.json").read_text(encoding="utf-8"))
    agent = belman.Agent(["old", "new"], control="old", seed=5)
    for number in range(60):
        agent.tell(["old", "new"][number % 2], float(number % 3 == 0))
    now = json.loads(agent.report().to_json())
    assert {name: type(value) for name, value in known.items()}.items() <= {
        name: type(value) for name, value in now.items()
    }.items()
