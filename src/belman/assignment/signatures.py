"""Signed weights documents: an edge may trust a cache, because the signature is checked (Ed25519).

A signed document is JSON with three parts: the `payload` is the text of the document, as it was
signed; `key` names the key; `signature` is that of the payload's UTF-8, in base64.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .documents import Weights
from .refusals import WeightsError


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        remedy = "pip install 'belman[signatures]', or 'belman-client[signatures]'"
        raise WeightsError(f"signatures need the package cryptography: {remedy}") from None
    return ed25519


def key_id(public: bytes) -> str:
    """Return the id by which signed documents name a public key.

    Parameters
    ----------
    public
        The public key, 32 bytes.

    Returns
    -------
    str
        The first 16 hexadecimal digits of its SHA-256.
    """
    return hashlib.sha256(public).hexdigest()[:16]


@dataclass(frozen=True)
class SigningKey:
    """A private key (Ed25519), to be kept secret; `public` is what verifiers are given.

    Parameters
    ----------
    private
        The key, 32 bytes.

    Raises
    ------
    WeightsError
        If these are not 32 bytes.

    >>> key = SigningKey(bytes(range(32)))
    >>> key.id == key_id(key.public)
    True
    """

    private: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.private, bytes) or len(self.private) != 32:
            raise WeightsError("a private key of Ed25519 has 32 bytes")

    @classmethod
    def new(cls) -> SigningKey:
        """Make a new key, from the system's source of randomness.

        Returns
        -------
        SigningKey
            The key.
        """
        return cls(_ed25519().Ed25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        key = _ed25519().Ed25519PrivateKey.from_private_bytes(self.private)
        public: bytes = key.public_key().public_bytes_raw()
        return public

    @property
    def id(self) -> str:
        """The name of the key in documents."""
        return key_id(self.public)

    def __repr__(self) -> str:
        return f"SigningKey({self.id!r})"


def derived(secret: bytes) -> SigningKey:
    """The key that follows from a secret of at least 16 bytes, always the same.

    >>> derived(b"0123456789abcdef") == derived(b"0123456789abcdef")
    True
    """
    digest = hashlib.blake2b(secret, digest_size=32, person=b"belman-weights")
    return SigningKey(digest.digest())


def sign(weights: Weights, key: SigningKey) -> str:
    """Sign a weights document.

    Parameters
    ----------
    weights
        The document.
    key
        The private key that signs it.

    Returns
    -------
    str
        The signed document as JSON, which `verify` reads.

    Raises
    ------
    WeightsError
        If the package cryptography is not installed.
    """
    payload = weights.to_json()
    signer = _ed25519().Ed25519PrivateKey.from_private_bytes(key.private)
    signature = base64.b64encode(signer.sign(payload.encode())).decode()
    return json.dumps({"payload": payload, "key": key.id, "signature": signature})


def verify(
    signed: str | bytes,
    keys: Mapping[str, bytes],
    *,
    study: str | None = None,
    segment: str | None = None,
    newest: int = 0,
    now: float | None = None,
) -> Weights:
    """Read a signed document, if it can be trusted.

    Parameters
    ----------
    signed
        The signed document, as JSON.
    keys
        The public keys that are trusted, by their ids.
    study
        The study that it must be of; by default any.
    segment
        The segment that it must be of; None for the weights of all units.
    newest
        The newest version that was seen already; an older one is refused.
    now
        The time at which it must be valid, in seconds since 1970; by default the clock's.

    Returns
    -------
    Weights
        The document.

    Raises
    ------
    WeightsError
        If it cannot be trusted; the message says why.

    >>> key = SigningKey(bytes(range(32)))
    >>> signed = sign(Weights.of("checkout", {"blue": 1.0}, salt="s1"), key)
    >>> verify(signed, {key.id: key.public}).study
    'checkout'
    """
    try:
        result = json.loads(signed)
        payload, name = result["payload"], result["key"]
        signature = base64.b64decode(result["signature"], validate=True)
        content = payload.encode()
        is_known = name in keys
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WeightsError("this is not a signed weights document") from None
    if not is_known:
        raise WeightsError(f"this document is signed with the key {name!r}, which is not trusted")
    from cryptography.exceptions import InvalidSignature

    try:
        _ed25519().Ed25519PublicKey.from_public_bytes(keys[name]).verify(signature, content)
    except (InvalidSignature, ValueError):
        raise WeightsError(f"the signature is not that of the key {name!r}") from None
    weights = Weights.from_json(payload)
    check_current(weights, study, segment, newest, time.time() if now is None else now)
    return weights


def check_current(
    weights: Weights, study: str | None, segment: str | None, newest: int, now: float
) -> None:
    """WeightsError where weights are not those that are wanted, or are stale."""
    if study is not None and weights.study != study:
        raise WeightsError(f"this document is of study {weights.study!r}, not of {study!r}")
    if weights.segment != segment:
        raise WeightsError(f"this document is of segment {weights.segment!r}, not of {segment!r}")
    if weights.version < newest:
        raise WeightsError(f"version {weights.version} is stale: version {newest} was seen already")
    if weights.valid_until is not None and now >= weights.valid_until:
        late = now - weights.valid_until
        raise WeightsError(f"version {weights.version} is stale: it expired {late:.0f} s ago")
