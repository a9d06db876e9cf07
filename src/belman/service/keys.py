"""Keys of a service: handed out once, stored as hashes only, each with a role."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from enum import IntEnum
from typing import Any, NamedTuple

from belman.errors import SettingError, listing, nearest, unknown
from belman.studies import Storage
from belman.studies.open_or_create import LONGEST, is_name

_SELECT = "SELECT id, name, role, created, revoked, hash FROM belman_keys"


class Role(IntEnum):
    """What a key may do; each role may do what those before it may."""

    FLAGS = 0  # fetch and evaluate feature flags: for clients that strangers hold
    READ = 1  # look
    PLAY = 2  # ask and tell
    ADMIN = 3  # create, change, pause

    @property
    def word(self) -> str:
        """The role as people write it."""
        return self.name.lower()


class Key(NamedTuple):
    """A key as it is known: never the key itself."""

    id: str
    name: str
    role: Role
    created: float
    revoked: float | None


def role_named(word: str) -> Role:
    """The role of that name.

    >>> role_named("play").word
    'play'
    """
    words = [role.word for role in Role]
    if word not in words:
        raise SettingError(unknown("role", word, words))
    return Role[word.upper()]


class Keys:
    """The keys that a storage keeps.

    A key is `belman_<id>_<secret>`: 256 random bits; the storage keeps their SHA-256.
    Nothing slower is needed, because nobody can try 2²⁵⁶ secrets, and every request is checked.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def add(self, name: str, role: Role) -> str:
        """A new key, which is shown this once."""
        if not is_name(name):
            allowed = f"it must be printable, of 1 to {LONGEST} characters"
            raise SettingError(f"name={str(name)[:80]!r} cannot name a key: {allowed}")
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        self.storage.execute(
            "INSERT INTO belman_keys (id, name, role, hash, created) VALUES (?, ?, ?, ?, ?)",
            *(id, name, role.word, _hash(secret), time.time()),
        )
        return f"belman_{id}_{secret}"

    def all(self) -> list[Key]:
        """Every key there ever was, oldest first."""
        return [_key(row) for row in self.storage.rows(f"{_SELECT} ORDER BY created, id")]

    def any(self) -> bool:
        """Whether there ever was a key: from then on a service asks for one."""
        return bool(self.storage.rows(f"{_SELECT} LIMIT 1"))

    def revoke(self, id: str) -> None:
        """Let a key open nothing any more."""
        update = "UPDATE belman_keys SET revoked = ? WHERE id = ? AND revoked IS NULL"
        if not self.storage.execute(update, time.time(), id):
            valid = [key.id for key in self.all() if key.revoked is None]
            known = f"there are {listing(valid)}{nearest(id, valid)}"
            raise SettingError(f"no valid key {id!r}: {known}")

    def find(self, given: str) -> Key | None:
        """The key that was given, if it is one and was not revoked."""
        head, _, rest = given.partition("_")
        id, _, secret = rest.partition("_")
        if head != "belman" or not id.isalnum() or not secret:
            return None
        result = self.storage.rows(f"{_SELECT} WHERE id = ?", id)
        if not result or not hmac.compare_digest(result[0][-1], _hash(secret)):
            return None
        key = _key(result[0])
        return None if key.revoked is not None else key


def _key(row: tuple[Any, ...]) -> Key:
    id, name, role, created, revoked, _ = row
    return Key(id, name, role_named(role), created, revoked)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
