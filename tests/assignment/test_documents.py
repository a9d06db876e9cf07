"""Weights documents: whole or refused, by their schema, signed or not trusted."""

from __future__ import annotations

import base64
import json

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belman.assignment import SigningKey, Weights, WeightsError, assign, schema, sign, verify
from tests.assignment.test_assign import VECTORS

KEY = SigningKey(bytes(range(32)))
OTHER = SigningKey(bytes(range(1, 33)))
TRUSTED = {KEY.id: KEY.public}
PLAIN = Weights.of(
    "checkout",
    {"blue": 0.5, "green": 0.5},
    salt="s1",
    version=3,
    floors={"blue": 0.1},
    segment="de",
    decisions=1_000,
    published=1_000.0,
    valid_until=2_000.0,
)


def trusted(signed, **more):
    return verify(signed, TRUSTED, **{"segment": "de", "now": 1_500.0, **more})


def test_a_document_comes_back_as_it_went():
    assert Weights.from_json(PLAIN.to_json()) == PLAIN
    assert trusted(sign(PLAIN, KEY)) == PLAIN
    later = PLAIN.following({"blue": 0.25, "green": 0.5, "red": 0.25})
    assert Weights.from_json(later.to_json()) == later
    assert assign(Weights.from_json(later.to_json()), "user-1") == assign(later, "user-1")


def test_documents_keep_their_schema():
    check = jsonschema_rs.validator_for(schema())
    check.validate(PLAIN.described())
    check.validate(json.loads(sign(PLAIN, KEY)))
    for case in VECTORS["documents"]:
        check.validate(case["document"])
    check.validate(VECTORS["signed"]["envelope"])
    for name in schema()["$defs"]["weights"]["required"]:
        lacking = {key: value for key, value in PLAIN.described().items() if key != name}
        assert not check.is_valid(lacking), name


def test_the_signature_is_that_of_the_vectors():
    given = VECTORS["signed"]
    key = SigningKey(bytes.fromhex(given["private"]))
    assert key.public.hex() == given["public"]
    envelope = given["envelope"]
    weights = verify(json.dumps(envelope), {key.id: key.public}, now=1_800_000_001)
    assert json.loads(sign(weights, key)) == envelope  # Ed25519 draws nothing


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"format": "belman-weights/9"}, "format="),
        ({"arms": ["blue", "blue"]}, "arms="),
        ({"arms": []}, "arms="),
        ({"arms": [["blue"], "green"]}, "arms="),
        ({"salt": ""}, "salt="),
        ({"salt": "a\0b"}, "salt="),
        ({"study": None}, "study="),
        ({"version": 0}, "version="),
        ({"version": True}, "version="),
        ({"cuts": []}, "cuts end"),
        ({"cuts": [[1, 0]]}, "cuts end"),
        ({"cuts": [[2**31, 0], [2**31, 1], [2**32, 0]]}, "cut "),
        ({"cuts": [[2**31, 0], [2**32, 2]]}, "cut "),
        ({"cuts": [[2.0**31, 0], [2**32, 1]]}, "cut "),
        ({"cuts": [3]}, "cuts="),
        ({"floors": [0.1]}, "floors="),
        ({"weights": [0.4, 0.6]}, "not those of its cuts"),
        ({"valid_until": "soon"}, "valid_until="),
        ({"segment": 7}, "segment="),
        ({"decisions": 0}, "decisions="),
    ],
)
def test_documents_that_are_not_whole_are_refused(changed, why):
    with pytest.raises(WeightsError, match=why):
        Weights.from_described({**PLAIN.described(), **changed})


@given(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()))
def test_what_is_no_document_is_refused(junk):
    with pytest.raises(WeightsError):
        Weights.from_described(junk)
    with pytest.raises(WeightsError):
        trusted(json.dumps(junk))


@pytest.mark.parametrize(
    "weights", [{}, {"a": 0.5}, {"a": -0.1, "b": 1.1}, {"a": float("nan")}, {"a": "1"}, ["a"], None]
)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(WeightsError, match="weights"):
        Weights.of("checkout", weights, salt="s1")


def test_forged_documents_are_refused():
    signed = json.loads(sign(PLAIN, KEY))
    with pytest.raises(WeightsError, match="not trusted"):
        trusted(sign(PLAIN, OTHER))
    forged = json.loads(sign(PLAIN, OTHER)) | {"key": KEY.id}
    with pytest.raises(WeightsError, match="signature"):
        trusted(json.dumps(forged))
    for broken in ({"signature": ""}, {"signature": "%"}, {"payload": 3}, {"key": None}):
        with pytest.raises(WeightsError):
            trusted(json.dumps(signed | broken))


@given(st.data())
def test_tampered_documents_are_refused(data):
    """Any one changed character of the payload, and any one changed bit of the signature."""
    signed = json.loads(sign(PLAIN, KEY))
    payload = signed["payload"]
    position = data.draw(st.integers(0, len(payload) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda sign: sign != payload[position]))
    changed = signed | {"payload": payload[:position] + other + payload[position + 1 :]}
    with pytest.raises(WeightsError, match="signature"):
        trusted(json.dumps(changed))
    raw = bytearray(base64.b64decode(signed["signature"]))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(WeightsError, match="signature"):
        trusted(json.dumps(signed | {"signature": base64.b64encode(raw).decode()}))


def test_stale_and_strange_documents_are_refused():
    signed = sign(PLAIN, KEY)
    assert trusted(signed, newest=3, study="checkout").version == 3
    for more, why in (
        ({"now": 2_000.0}, "expired"),
        ({"newest": 4}, "version 4 was seen"),
        ({"study": "search"}, "of study"),
        ({"segment": None}, "of segment"),
    ):
        with pytest.raises(WeightsError, match=why):
            trusted(signed, **more)


def test_keys_are_32_bytes_and_stay_secret():
    for bad in (b"short", "text", None):
        with pytest.raises(WeightsError, match="32 bytes"):
            SigningKey(bad)
    assert KEY.private.hex() not in repr(KEY)
    assert SigningKey.new().private != SigningKey.new().private


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("published", 10**400),
        ("valid_until", -(10**400)),
        ("floors", [0.1, 10**400]),
        ("salt", "s\ud800"),
        ("study", "\udfff"),
        ("format", [[[[]]]]),
    ],
    ids=lambda part: str(part)[:12].encode(errors="replace").decode(),
)
def test_what_no_float_and_no_encoding_has_is_refused(name, value):
    with pytest.raises(WeightsError, match=name):
        Weights.from_json(json.dumps({**PLAIN.described(), name: value}))


def test_a_key_of_another_kind_is_not_trusted():
    signed = json.dumps({**json.loads(sign(PLAIN, KEY)), "key": [KEY.id]})
    with pytest.raises(WeightsError, match="not a signed weights document"):
        verify(signed, TRUSTED, segment="de", now=1_500.0)
