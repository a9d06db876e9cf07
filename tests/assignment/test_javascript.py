"""The ES module assigns as Python does: Node.js on the same vectors."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import belman.assignment
from belman.assignment import SigningKey, Weights, sign
from belman.errors import WeightsError
from tests.assignment.test_assign import VECTORS
from tests.waiting import HANG

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
MODULE = Path(belman.assignment.__file__).with_name("assign.mjs")


def node(script: str, given: object) -> object:
    """What a script prints as JSON; it finds `given` and the functions of the module."""
    head = f"import {{ assign, assignMany, point, verify }} from {json.dumps(MODULE.as_uri())};\n"
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
    result = node(script, VECTORS["points"])
    assert result == [case["point"] for case in VECTORS["points"]]


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


#: Fragments of JSON that documents are broken with.
FRAGMENTS = [None, True, 0, 1, 2, -1, 1.5, 2**32, 1e301, "", "0", "a\0b", "\ud800", "length"]
FRAGMENTS += [[], [0], [0, 1], ["a"], ["a", "a"], [True, 1], [[2**32, 0]], [[2**32, 0, 0]], {}]


def broken_documents() -> list[object]:
    """A document with every part replaced by every fragment, or left out."""
    result: list[object] = [*FRAGMENTS]
    for document in [case["document"] for case in VECTORS["documents"]][:3]:
        for name in document:
            result.append({key: value for key, value in document.items() if key != name})
            result += [{**document, name: fragment} for fragment in FRAGMENTS]
        cuts = document["cuts"]
        for i in range(len(cuts)):
            for fragment in FRAGMENTS:
                for cut in (fragment, [fragment, cuts[i][1]], [cuts[i][0], fragment]):
                    result.append({**document, "cuts": [*cuts[:i], cut, *cuts[i + 1 :]]})
    return result


def judged_in_both(tried: list[object]) -> list[tuple[object, bool, object]]:
    """Of every document whether Python takes it, and True or the error of JavaScript."""
    script = """
    console.log(JSON.stringify(given.map((document) => {
      try { assign(document, "user-1"); return true; } catch (error) { return String(error); }
    })));
    """

    def accepts(document: object) -> bool:
        try:
            Weights.from_described(document)
        except WeightsError:
            return False
        return True

    return list(zip(tried, map(accepts, tried), node(script, tried), strict=True))


def test_documents_are_refused_as_in_python():
    result = judged_in_both(broken_documents())
    assert 10 < sum(here for _, here, _ in result) < len(result) / 5
    for document, here, there in result:
        assert here == (there is True), (here, there, document)
        assert here or there.startswith("TypeError: this is not a weights document"), there


TRUST = {
    "right": ({}, None),
    "its study": ({"study": "checkout"}, None),
    "another study": ({"study": "other"}, "not of other"),
    "another segment": ({"segment": "phones"}, "not of phones"),
    "stale": ({"newest": 10**6}, "was seen already"),
    "expired": ({"now": 1e12}, "has expired"),
}


def test_signed_documents_are_trusted_as_in_python():
    """The vector of the specification, and one of our own that has an end."""
    key = SigningKey(bytes(range(32)))
    weights = Weights.of("checkout", {"a": 0.5, "b": 0.5}, salt="ü s", valid_until=2e9)
    script = """
    const tried = async ([signed, keys, rule]) => {
      try { return [(await verify(signed, keys, rule)).version, null]; }
      catch (error) { return [null, error.message]; }
    };
    console.log(JSON.stringify(await Promise.all(given.map(tried))));
    """
    signed, public = sign(weights, key), base64.b64encode(key.public).decode()
    keys, envelope = {key.id: public}, json.loads(signed)
    cases = {name: (signed, keys, rule, words) for name, (rule, words) in TRUST.items()}
    turned = bytearray(base64.b64decode(envelope["signature"]))
    turned[0] ^= 1
    other = SigningKey(bytes(32))
    stolen = {key.id: base64.b64encode(other.public).decode()}
    spoilt = {
        "payload": {**envelope, "payload": envelope["payload"].replace("0.5", "0.6")},
        "signature": {**envelope, "signature": base64.b64encode(turned).decode()},
        "short": {**envelope, "signature": "AAAA"},
    }
    for name, content in spoilt.items():
        cases[name] = (json.dumps(content), keys, {}, "the signature is not that")
    cases["another key"] = (signed, stolen, {}, "the signature is not that")
    cases["untrusted"] = (sign(weights, other), keys, {}, "not trusted")
    cases["prototype"] = (json.dumps({**envelope, "key": "toString"}), keys, {}, "not trusted")
    for name, text in {"no JSON": "x", "null": "null", "plain": weights.to_json()}.items():
        cases[name] = (text, keys, {}, "not a signed weights document")
    vector = VECTORS["signed"]
    its_key = base64.b64encode(bytes.fromhex(vector["public"])).decode()
    text = json.dumps(vector["envelope"])
    cases["the vector"] = (text, {vector["envelope"]["key"]: its_key}, {}, None)
    now = 1_800_000_001
    given = [[text, keys, {"now": now, **rule}] for text, keys, rule, _ in cases.values()]
    result = node(script, given)
    for (name, (*_, words)), (version, problem) in zip(cases.items(), result, strict=True):
        assert (words is None) == (version is not None), (name, problem)
        assert words is None or words in problem, (name, problem)
