"""Published weights and outcomes in bulk, of a study that a service has."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from .documents import Weights
from .messages import Found, understood
from .refusals import SettingError
from .transport import own_key

if TYPE_CHECKING:
    from .client import AnyClient

_CHUNK = 5_000  # rows of a request
_ROW = ("unit", "version", "arm", "reward", "time", "attributes", "context", "chances")
_CORRECTION = ("unit", "version", "arm", "was", "reward", "attributes", "chances")


class RemoteEdge:
    """What a remote study has for those who decide elsewhere."""

    client: AnyClient[Any]
    _path: str

    def _get(self, what: str = "", **query: Any) -> Found:
        """Look at a part of the study; what is None is left out of the query."""
        given = urlencode({name: value for name, value in query.items() if value is not None})
        return self.client.call("GET", f"{self._path}{what}{'?' if given else ''}{given}")

    def _post(self, what: str, body: Any, key: str | None = None) -> Found:
        """Change the study."""
        return self.client.call("POST", f"{self._path}/{what}", body, key=key)

    def publish(
        self,
        decisions: int,
        *,
        every: float | None = None,
        valid_for: float | None = 86_400.0,
        segment: str | None = None,
        by: str = "belman",
        reason: str = "",
        key: str | None = None,
    ) -> Weights:
        """Publish the weights of the arms for the next `decisions`; see `Study.publish`.

        Parameters
        ----------
        decisions
            For how many decisions the weights are made.
        every
            Seconds between versions; None for one version alone.
        valid_for
            How many seconds a decider that cannot renew weights may use them; a day by default.
        segment
            For which units; by default for all.
        by
            Whose hash assigns units: "belman", "growthbook" or "eppo".
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.

        Returns
        -------
        Weights
            The document.
        """
        body: dict[str, Any] = {"decisions": decisions, "every": every, "valid_for": valid_for}
        body |= {"segment": segment, "by": by, "reason": reason}
        return Weights.from_described(self._post("publish", body, key))

    def declare(self, weights: Weights, reason: str = "", *, key: str | None = None) -> Weights:
        """Tell by which weights somebody else assigned units; see `Study.declare`.

        Parameters
        ----------
        weights
            Who gets which arm, and by whose hash.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.

        Returns
        -------
        Weights
            The same with a version, by which outcomes name them.
        """
        body = {"weights": weights.described(), "reason": reason}
        return Weights.from_described(self._post("declare", body, key))

    def weights(self, segment: str | None = None) -> Weights:
        """Return the published weights that are in force.

        Parameters
        ----------
        segment
            For which units; by default for all.

        Returns
        -------
        Weights
            The document.
        """
        return Weights.from_described(self._get("/weights", segment=segment))

    def public_keys(self) -> dict[str, bytes]:
        """Return the public keys that signed weights may be trusted by.

        Returns
        -------
        dict of str to bytes
            The keys by their ids, as `verify` takes them.
        """
        result = self._get("/weights/key")
        with understood():
            return {name: base64.b64decode(key) for name, key in result["trusted"].items()}

    def observe(
        self, rows: Iterable[Sequence[Any] | Mapping[str, Any]], *, key: str | None = None
    ) -> int:
        """Learn many outcomes of units that were assigned by published weights.

        They are sent 5,000 at a time; each such request counts as a whole or not at all.

        Parameters
        ----------
        rows
            (unit, version, arm, reward) rows, perhaps followed by a time, attributes, a context and
            chances; or mappings with these names, or of sums.
        key
            An idempotency key: rows that were learnt by an earlier call with the same key are left
            alone.

        Returns
        -------
        int
            How many outcomes were learnt.
        """
        given = [_row(row, i) for i, row in enumerate(rows, start=1)]
        own = own_key() if key is None else key
        count = 0
        for i in range(math.ceil(len(given) / _CHUNK)):
            chunk = given[i * _CHUNK : (i + 1) * _CHUNK]
            kind = "sums" if "n" in chunk[0] else "rows"
            count += self._post("observations", {kind: chunk}, f"{own}/{i}").count("observed")
        return count

    def correct_rows(
        self,
        rows: Iterable[Sequence[Any] | Mapping[str, Any]],
        reason: str,
        *,
        key: str | None = None,
    ) -> int:
        """Change what rows of outcomes counted as: all of them, or none; see `Study.correct_rows`.

        Parameters
        ----------
        rows
            At most 1,000 (unit, version, arm, was, reward) rows, perhaps followed by attributes and
            chances; or mappings with these names. A reward of None removes the row.
        reason
            Why, for the log.
        key
            An idempotency key: the same request with the same key changes the study once.

        Returns
        -------
        int
            How many rows were corrected.
        """
        given = [_row(row, i, _CORRECTION) for i, row in enumerate(rows, start=1)]
        body = {"rows": given, "reason": reason}
        return self._post("observations/correct", body, key).count("corrected")


def _row(
    row: Sequence[Any] | Mapping[str, Any], number: int, names: Sequence[str] = _ROW
) -> dict[str, Any]:
    if isinstance(row, Mapping):
        result = dict(row)
    elif isinstance(row, (tuple, list)) and 4 <= len(row) <= len(names):
        result = dict(zip(names, row, strict=False))
    else:
        give = f"give ({', '.join(names)})"
        raise SettingError(f"row {number} of the outcomes is {repr(row)[:80]}: {give}")
    if isinstance(result.get("arm"), tuple):
        result["arm"] = list(result["arm"])
    return result
