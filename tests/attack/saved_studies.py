"""Snapshots of studies in the middle of their lives, and weights that one of them published."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from typing import Any

from belman.assignment import Weights, assign
from belman.errors import StudyError
from belman.studies import Storage, Study, open_study, saving
from belman.studies.saving import digest
from belman.studies.state import State
from tests.attack.sample import Sample

_SETTINGS: dict[str, dict[str, Any]] = {
    "snapshot": {},
    "snapshot with a window": {"window": 100.0, "guard": {"cost": "< 9"}},
    "snapshot that follows change": {"drift": "auto"},
}


def _signed(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"{digest(text)}\n{text}"


def _plain(state: State) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(saving.to_text(state).partition("\n")[2])
    return content


def _document(weights: Weights) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(weights.to_json())
    return content


def _live(study: Study) -> Weights:
    """Ask, tell, publish, observe and change, as far as the study takes it."""
    for turn in range(8):
        ticket = study.ask(attributes={"device": "phone"} if turn % 2 else None)
        if turn % 3:
            study.tell(ticket, float(turn % 2), metrics={"cost": 2.5})
    study.give_back([study.ask()])
    made = study.publish(100)
    with suppress(StudyError):  # which one that follows change is
        study.observe([(unit, made.version, assign(made, unit).arm, 1.0, 990.0) for unit in "uvw"])
    study.retire_arm("c", "too dear")
    return made


def studies() -> list[Sample]:
    """Snapshots of studies at once, under a window and with drift; and a weights document."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        storage = Storage(f"sqlite:///{folder}/studies.db?synchronous=normal")
        for name, settings in _SETTINGS.items():
            more: dict[str, Any] = {"seed": 5, "clock": lambda: 1_000.0, "storage": storage}
            study = open_study(name, ["a", "b", "c"], **settings, **more)
            made = _live(study)
            plain = study._replica.look(_plain)
            result.append(Sample(name, plain, _signed, saving.from_text, _plain))
        storage.close()
    document = Sample("weights", _document(made), json.dumps, Weights.from_json, _document)
    return [*result, document]
