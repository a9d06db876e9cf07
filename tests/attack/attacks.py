"""All attacks, one a line."""

from __future__ import annotations

from tests.attack import (
    clocks,
    edited_logs,
    flood,
    fork,
    fuzzed_agents,
    fuzzed_http,
    fuzzed_studies,
    half_sent,
    headers,
    killed_servers,
    killed_writers,
    power_cuts,
    restarts,
    restores,
    revoked,
    schema_versions,
    state_files,
    strange_answers,
    watchers,
)

ATTACKS = [
    killed_writers.ON_SQLITE,
    killed_writers.ON_POSTGRESQL,
    killed_servers.ON_SQLITE,
    killed_servers.ON_POSTGRESQL,
    restarts.ATTACK,
    restores.ATTACK,
    edited_logs.ATTACK,
    power_cuts.ATTACK,
    clocks.ATTACK,
    schema_versions.ATTACK,
    fork.ATTACK,
    flood.ATTACK,
    watchers.ATTACK,
    headers.ATTACK,
    half_sent.ATTACK,
    fuzzed_http.ATTACK,
    revoked.ATTACK,
    state_files.ATTACK,
    strange_answers.ATTACK,
    fuzzed_agents.ATTACK,
    fuzzed_studies.ATTACK,
]
