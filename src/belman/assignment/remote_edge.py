"""Published weights and outcomes in bulk, of a study that a service has."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from .documents import Weights
from .messages import understood
from .refusals import SettingError
from .transport import own_key

if TYPE_CHECKING:
    from .client import AnyClient

_CHUNK = 5_000  # rows of a request
_ROW = ("unit", "version", "arm", "reward", "time", "attributes")
_CORRECTION = ("unit", "version", "arm", "was", "reward", "attributes")


class RemoteEdge:
    """What a remote study has for those who decide elsewhere."""

    client: AnyClient[Any]
    _path: str

    def publish(
        self,
        decisions: int,
        *,
        every: float | None = None,
        valid_for: float | None = 86_400.0,
        segment: str | None = None,
        reason: str = "",
        key: str | None = None,
    ) -> Weights:
        """The weights for the next `decisions`, anew `every` so many seconds; see
        `Study.publish`.
        """
        body: dict[str, Any] = {"decisions": decisions, "every": every, "valid_for": valid_for}
        body |= {"segment": segment, "reason": reason}
        return Weights.from_described(
            self.client.call("POST", f"{self._path}/publish", body, key=key)
        )

    def weights(self, segment: str | None = None) -> Weights:
        """The published weights that stand now."""
        query = {} if segment is None else {"segment": segment}
        return Weights.from_described(
            self.client.call("GET", f"{self._path}/weights?{urlencode(query)}")
        )

    def public_key(self) -> dict[str, bytes]:
        """The public key of signed weights by its id, as `verify` takes it."""
        found = self.client.call("GET", f"{self._path}/weights/key")
        with understood():
            return {found["id"]: base64.b64decode(found["public"])}

    def observe(
        self, rows: Iterable[Sequence[Any] | Mapping[str, Any]], *, key: str | None = None
    ) -> int:
        """Learn many outcomes: rows (unit, version, arm, reward) with perhaps a time and attributes
        behind, or mappings, also of sums; the count.

        A request holds 5,000 of them, and counts as a whole or not at all; sent again with the same
        `key`, all that was heard already is left alone.
        """
        given = [_row(row, i) for i, row in enumerate(rows, start=1)]
        own = own_key() if key is None else key
        count = 0
        for i in range(math.ceil(len(given) / _CHUNK)):
            chunk = given[i * _CHUNK : (i + 1) * _CHUNK]
            kind = "sums" if "n" in chunk[0] else "rows"
            path, body = f"{self._path}/observations", {kind: chunk}
            count += self.client.call("POST", path, body, key=f"{own}/{i}").count("observed")
        return count

    def correct_rows(
        self,
        rows: Iterable[Sequence[Any] | Mapping[str, Any]],
        reason: str,
        *,
        key: str | None = None,
    ) -> int:
        """Replace what rows of outcomes counted as, all or none: (unit, version, arm, was, reward),
        perhaps with attributes behind, where a reward of None forgets the row; at most a thousand.
        See `Study.correct_rows`.
        """
        given = [_row(row, i, _CORRECTION) for i, row in enumerate(rows, start=1)]
        body = {"rows": given, "reason": reason}
        path = f"{self._path}/observations/correct"
        return self.client.call("POST", path, body, key=key).count("corrected")


def _row(
    row: Sequence[Any] | Mapping[str, Any], number: int, names: Sequence[str] = _ROW
) -> dict[str, Any]:
    if isinstance(row, Mapping):
        found = dict(row)
    elif isinstance(row, (tuple, list)) and 4 <= len(row) <= len(names):
        found = dict(zip(names, row, strict=False))
    else:
        give = f"give ({', '.join(names)})"
        raise SettingError(f"row {number} of the outcomes is {repr(row)[:80]}: {give}")
    if isinstance(found.get("arm"), tuple):
        found["arm"] = list(found["arm"])
    return found
