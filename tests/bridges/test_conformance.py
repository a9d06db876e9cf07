"""The published cases of GrowthBook and Eppo, where they were downloaded; and what runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bridges.conformance import FAILED, PASSED, REFUSED, eppo, growthbook, table

pytestmark = pytest.mark.interpreted
CASES = os.environ.get("BELMAN_GROWTHBOOK_CASES")
FOLDER = os.environ.get("BELMAN_EPPO_CASES")
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(CASES is None, reason="no cases: BELMAN_GROWTHBOOK_CASES=cases.json")
def test_growthbooks_cases_pass_or_are_refused():
    result = list(growthbook.outcomes(json.loads(Path(CASES).read_text(encoding="utf-8"))))
    assert not [one for one in result if one.verdict == FAILED]
    assert sum(one.verdict == PASSED for one in result) > 400


@pytest.mark.skipif(FOLDER is None, reason="no cases: BELMAN_EPPO_CASES=folder")
def test_eppos_cases_pass_or_are_refused():
    result = list(eppo.outcomes(Path(FOLDER)))
    assert not [one for one in result if one.verdict == FAILED]
    assert sum(one.verdict == PASSED for one in result) > 30


RULE = {"variations": ["a", "b"], "hashVersion": 2}
OWN = {
    "specVersion": "ours",
    "evalCondition": [
        ["a list", {"tags": {"$size": 2}, "at.city": "Rome"},
         {"tags": [1, 2], "at": {"city": "Rome"}}, True],
        ["wrong", {"age": 3}, {"age": 4}, True],
        ["unknown", {"age": {"$like": 3}}, {}, False],
    ],
    "versionCompare": {"lt": [["1.2.0", "1.10.0", True]], "gt": [["1.2.0", "1.10.0", True]]},
    "hash": [["checkout", "user-1", 2, 0.7893], ["checkout", "user-1", 3, None]],
    "getBucketRange": [["half", [2, 0.5, None], [[0, 0.25], [0.5, 0.75]]]],
    "getEqualWeights": [[0, []], [3, [0.33333333] * 3]],
    "chooseVariation": [["none", 0.3, [[0, 0.25], [0.5, 0.75]], -1]],
    "inNamespace": [["out", "1", ["namespace1", 0, 0.4], False]],
    "feature": [
        ["by lot", {"attributes": {"id": "user-1"},
                    "features": {"checkout": {"defaultValue": "a", "rules": [RULE]}}},
         "checkout", {"value": "b", "source": "experiment",
                      "experimentResult": {"variationId": 1, "key": "1"}}],
        ["the default", {"features": {"f": {"defaultValue": 2}}}, "f",
         {"value": 2, "source": "defaultValue"}],
        ["by the program", {"forcedVariations": {"f": 1}, "features": {"f": {}}}, "f", {}],
    ],
    "run": [
        ["in", {"attributes": {"id": "user-1"}}, {"key": "checkout", **RULE}, "b", True, True],
        ["out", {"attributes": {"id": ""}}, {"key": "checkout", **RULE}, "a", False, False],
        ["forced", {}, {"key": "checkout", "force": 1, **RULE}, "b", True, False],
    ],
    "decrypt": [["any", "x", "y", None]],
    "new": [["any"]],
}  # fmt: skip


def test_every_section_is_judged():
    result = list(growthbook.outcomes(OWN))
    verdicts = {(one.section, one.case): one.verdict for one in result}
    failed = {("evalCondition", "wrong"), ("versionCompare", "1.2.0")}
    assert {case for case, one in verdicts.items() if one == FAILED} == failed
    refused = {
        ("evalCondition", "unknown"), ("feature", "by the program"), ("run", "forced"),
        ("decrypt", "any"), ("new", "any"),
    }  # fmt: skip
    assert refused <= {case for case, one in verdicts.items() if one == REFUSED}
    lines = list(table(result))
    assert "evalCondition      1 passed     1 refused     1 failed" in lines
    assert any("hash_version=3 is not 1 or 2" in line for line in lines)
    assert any("failed: evalCondition, 1 × wrong: False" in line for line in lines)


@pytest.fixture
def folder(tmp_path):
    """Our own bandit as a published one, behind a flag that keeps half of the units out."""
    model = eppo.exported()
    flags, models = model.flags(), model.models()
    shard = {"salt": "traffic", "ranges": [{"start": 0, "end": 5_000}]}
    flags["flags"]["banner"]["allocations"][0]["splits"][0]["shards"] = [shard]
    (tmp_path / "bandit-tests").mkdir()
    (tmp_path / "bandit-flags-v1.json").write_text(json.dumps(flags))
    (tmp_path / "bandit-models-v1.json").write_text(json.dumps(models))
    subjects = []
    for unit in range(20):
        context = {"age": 30.0 + unit}
        is_in = eppo.Eppo().shard("traffic", f"u{unit}") < 5_000
        action = model.choose(f"u{unit}", context).arm if is_in else None
        result = {"variation": "banner" if is_in else "none", "action": action}
        subjects.append({
            "subjectKey": f"u{unit}", "subjectAttributes": {"numericAttributes": context},
            "actions": [{"actionKey": arm} for arm in model.arms], "assignment": result,
        })  # fmt: skip
    case = {"flag": "banner", "defaultValue": "none", "subjects": subjects}
    (tmp_path / "bandit-tests" / "ours.json").write_text(json.dumps(case))
    return tmp_path


def test_bandits_behind_flags_are_judged(folder):
    result = list(eppo.outcomes(folder))
    assert [one for one in result if one.verdict != PASSED] == []
    path = folder / "bandit-tests" / "ours.json"
    case = json.loads(path.read_text())
    case["subjects"][3]["assignment"]["action"] = "nobody"
    path.write_text(json.dumps(case))
    assert [one.case for one in eppo.outcomes(folder) if one.verdict == FAILED] == ["ours, u3"]
    flags = json.loads((folder / "bandit-flags-v1.json").read_text())
    del flags["flags"]["banner"]["totalShards"]
    models = {"updatedAt": 3, "bandits": {}, "new": "field"}
    assert eppo.differences(eppo.exported().flags(), flags) == ["more: .flags.totalShards"]
    wanted = ["less: .new", "more: .environment", "more: .environment.name", "more: .updatedAt"]
    assert eppo.differences({**eppo.exported().models(), "bandits": {}}, models) == wanted


def test_the_command_prints_counts_and_fails_where_a_case_does(tmp_path, folder):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(OWN))
    command = [sys.executable, "-m", "tests.bridges.conformance"]
    given = ["--growthbook", str(file), "--eppo", str(folder)]
    done = subprocess.run([*command, *given], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "GrowthBook's cases, version ours" in done.stdout
    assert "bandits           20 passed" in done.stdout
    none = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "give --growthbook FILE" in none.stderr
