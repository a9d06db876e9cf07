"""The remote evaluation protocol of OpenFeature as far as belman speaks it, as an OpenAPI document:
written from the facts of the protocol, for schemathesis.
"""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_VALUE = {"anyOf": [{"type": "boolean"}, _TEXT, {"type": "number"}]}
_CODE = {"enum": ["PARSE_ERROR", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "GENERAL"]}
_CONTEXT = {
    "type": "object",
    "required": ["targetingKey"],  # as a flag that is decided by it needs it
    "properties": {"targetingKey": {"type": "string", "minLength": 1, "maxLength": 1_000}},
    "additionalProperties": True,
}
_ASKED = {"type": "object", "properties": {"context": _CONTEXT}, "required": ["context"]}
_FOUND = {
    "type": "object",
    "required": ["key", "reason", "variant", "value"],
    "properties": {
        "key": _TEXT,
        "reason": {
            "enum": ["STATIC", "TARGETING_MATCH", "SPLIT", "DISABLED", "UNKNOWN", "DEFAULT"]
        },
        "variant": _TEXT,
        "value": _VALUE,
        "metadata": {"type": "object", "additionalProperties": _VALUE},
    },
}


def _refusal(code: dict[str, Any], *more: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["errorCode", *more],
        "properties": {"key": _TEXT, "errorCode": code, "errorDetails": _TEXT},
    }


def _answers(**schemas: dict[str, Any] | None) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for status, schema in schemas.items():
        content = {} if schema is None else {"content": {"application/json": {"schema": schema}}}
        result[status.removeprefix("of_")] = {"description": status, **content}
    return result


_BODY = {"required": True, "content": {"application/json": {"schema": _ASKED}}}
_MANY = {
    "type": "object",
    "required": ["flags"],
    "properties": {
        "flags": {"type": "array", "items": {"anyOf": [_FOUND, _refusal(_CODE, "key")]}},
        "metadata": {"type": "object"},
    },
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "OFREP", "version": "1"},
    "paths": {
        "/ofrep/v1/evaluate/flags/{key}": {
            "post": {
                "parameters": [
                    {
                        "name": "key",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "enum": ["checkout", "offer", "banner", "no"]},
                    }
                ],
                "requestBody": _BODY,
                "responses": _answers(
                    of_200=_FOUND,
                    of_400=_refusal(_CODE, "key"),
                    of_404=_refusal({"const": "FLAG_NOT_FOUND"}, "key"),
                ),
            }
        },
        "/ofrep/v1/evaluate/flags": {
            "post": {
                "parameters": [
                    {"name": "If-None-Match", "in": "header", "schema": {"const": '"x"'}}
                ],
                "requestBody": _BODY,
                "responses": _answers(of_200=_MANY, of_304=None, of_400=_refusal(_CODE)),
            }
        },
    },
}
