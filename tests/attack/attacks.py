"""All attacks, one a line."""

from __future__ import annotations

from tests.attack import (
    flood,
    fork,
    fuzzed_http,
    half_sent,
    headers,
    revoked,
    state_files,
    watchers,
)

ATTACKS = [
    fork.ATTACK,
    flood.ATTACK,
    watchers.ATTACK,
    headers.ATTACK,
    half_sent.ATTACK,
    fuzzed_http.ATTACK,
    revoked.ATTACK,
    state_files.ATTACK,
]
