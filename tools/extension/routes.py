"""The HTTP interface, as the service describes it itself (OpenAPI)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from belman.dashboard import application
from belman.studies import Storage


def openapi() -> dict[str, Any]:
    """The document that a service sends at `/openapi.json`."""
    with tempfile.TemporaryDirectory() as folder:
        storage = Storage(f"sqlite:///{Path(folder).as_posix()}/studies.db")
        try:
            described: dict[str, Any] = application(storage).openapi()
        finally:
            storage.close()
    return described


def markdown() -> str:
    """A section a route: what it does, which role it needs, what it takes and what it answers."""
    document = openapi()
    parts = []
    for path, methods in sorted(document["paths"].items()):
        for method, route in methods.items():
            parts.append(_section(document, method.upper(), path, route))
    return "\n\n".join(parts)


def _section(document: dict[str, Any], method: str, path: str, route: dict[str, Any]) -> str:
    parts = [f"## `{method} {path}`", route.get("description") or route.get("summary", "")]
    parts.append(f"Role: {route.get('x-role', 'none')}.")
    rows = [
        _row(one["name"], one["in"], one.get("schema", {}), _words(one), one.get("required"))
        for one in route.get("parameters", [])
    ]
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = _resolved(document, body.get("schema", {}))
    needed = schema.get("required", [])
    rows += [
        _row(name, "body", one, _words(one), name in needed)
        for name, one in schema.get("properties", {}).items()
    ]
    if rows:
        head = ["| parameter | in | type | meaning |", "|---|---|---|---|"]
        parts.append("\n".join([*head, *rows]))
    example = _example(body, schema)
    if example is not None:
        text = json.dumps(example, ensure_ascii=False, indent=2)
        parts.append(f"```json\n{text}\n```")
    return "\n\n".join([*parts, _answers(document, route["responses"])])


def _row(name: str, where: str, schema: dict[str, Any], words: str, required: object) -> str:
    return f"| `{name}` | {where} | {_type(schema)} | {words}{' (required)' if required else ''} |"


def _answers(document: dict[str, Any], responses: dict[str, Any]) -> str:
    """What comes back when all is well, with its fields, and the codes of what may be wrong."""
    lines = []
    for status, answer in responses.items():
        if status < "4":
            content = answer.get("content", {})
            schema = _resolved(document, content.get("application/json", {}).get("schema", {}))
            fields = ", ".join(f"`{name}`" for name in schema.get("properties", {}))
            kinds = ", ".join(f"`{kind}`" for kind in content if kind != "application/json")
            words = f" with the fields {fields}" if fields else f" as {kinds}" if kinds else ""
            lines.append(f"Answers {status}{words}.")
    problems = [status for status in responses if status >= "4"]
    if problems:
        lines.append(f"Problems: {', '.join(problems)}.")
    return " ".join(lines)


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(
            dict.fromkeys(_type(one) for one in choices if one.get("type") != "null")
        )
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _words(one: dict[str, Any]) -> str:
    result = one.get("description") or one.get("schema", {}).get("description") or ""
    return " ".join(result.split()).replace("|", "\\|")


def _example(body: dict[str, Any], schema: dict[str, Any]) -> Any:
    if "example" in body:
        return body["example"]
    if body.get("examples"):
        return next(iter(body["examples"].values())).get("value")
    return next(iter(schema.get("examples", [])), schema.get("example"))
