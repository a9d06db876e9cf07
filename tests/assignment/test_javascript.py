"""The ES module assigns as Python does: Node.js on the same vectors."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import belman.assignment
from tests.assignment.test_assign import VECTORS
from tests.waiting import HANG

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
MODULE = Path(belman.assignment.__file__).with_name("assign.mjs")


def node(script: str, given: object) -> object:
    """What a script prints as JSON; it finds `given` and the module's functions."""
    head = f"import {{ assign, assignMany, point }} from {json.dumps(MODULE.as_uri())};\n"
    head += 'import { readFileSync } from "node:fs";\n'
    head += 'const given = JSON.parse(readFileSync(0, "utf8"));\n'
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", head + script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_points_are_those_of_the_vectors():
    script = "console.log(JSON.stringify(given.map((one) => point(one.salt, one.unit))));"
    found = node(script, VECTORS["points"])
    assert found == [case["point"] for case in VECTORS["points"]]


def test_assignments_are_those_of_the_vectors():
    script = """
    console.log(JSON.stringify(given.map(({ document, assignments }) => [
      assignments.map(({ unit }) => assign(document, unit)),
      assignMany(document, assignments.map(({ unit }) => unit)),
    ])));
    """
    for case, (one_by_one, many) in zip(
        VECTORS["documents"], node(script, VECTORS["documents"]), strict=True
    ):
        wanted = [{key: one[key] for key in one if key != "unit"} for one in case["assignments"]]
        assert one_by_one == many == wanted


def test_bad_units_and_documents_are_refused():
    script = r"""
    const refused = (call) => {
      try { call(); return false; } catch (error) { return error instanceof TypeError; }
    };
    const units = [null, undefined, 1.5, true, 2 ** 60, {}, "\ud800", "a\udc00", "\udc00\ud800"];
    const broken = [null, {}, { ...given, cuts: [] }, { ...given, cuts: [[5, 0]] },
      { ...given, format: "x" }, { ...given, cuts: [[4294967296, 9]] }];
    console.log(JSON.stringify([
      units.map((unit) => refused(() => assign(given, unit))),
      broken.map((document) => refused(() => assign(document, "user-1"))),
      point("s", 12n) === point("s", "12"), point("s", "\ud83d\ude00") === point("s", "😀"),
    ]));
    """
    units, broken, number, pair = node(script, VECTORS["documents"][0]["document"])
    assert all(units)
    assert all(broken)
    assert number
    assert pair
