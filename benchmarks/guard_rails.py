"""Guard-rails of studies: how often a limit stops an arm that keeps within it, how soon one that
does not, and whether replays with floors cover what they estimate.

Arms lie exactly at their limit, which is the worst case, and are looked at after every ticket. Logs
are lived by a study's own state, without a storage: BelMan beside floors of 10 % and a fixed share
of 15 % for control. Limits are held against the end of a 99 % interval (Clopper and Pearson).
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import belman
from belman.deciders import Asking
from belman.studies import Event, Kind, StudySettings
from belman.studies.deciding import decide
from belman.studies.folding import fold
from belman.studies.rules.guards import RISK, Limit
from belman.studies.state import State
from belman.studies.views.replay import replay
from benchmarks.claim import Claim, report
from benchmarks.verdict import upper

RUNS, TICKETS, SEED = 4_000, 4_000, 23
LOGS, TURNS = 1_000, 600
MEANS = {"a": 0.2, "b": 0.35, "c": 0.6}
LEAST = 0.9  # that a coverage of 0.95 is held against


def crossings(limit: Limit, values: np.ndarray) -> np.ndarray:
    """The ticket at which each arm (a row) crosses its limit; 0 for those that never do."""
    result, capitals = np.zeros(len(values), dtype=int), 0.0
    bets = np.array([float(np.expm1(gain)) for gain in limit.gains(limit.end)])  # −c each
    odds = (values - limit.end) / (limit.limit - limit.end) - 1.0
    for turn in range(values.shape[1]):
        capitals = capitals + np.log1p(-bets * odds[:, turn, None])
        top = capitals.max(axis=1)
        logs = top + np.log(np.exp(capitals - top[:, None]).mean(axis=1))
        result[(result == 0) & (logs >= -np.log(RISK))] = turn + 1
    return result


def limits(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """False stops at the limit, for refunds and for times with a long tail; and how soon."""
    rng = np.random.default_rng(SEED)
    claims, notes = [], {}
    kinds = {
        "refund < 0.05": lambda mean, size: (rng.random(size) < mean).astype(float),
        "seconds < 2": lambda mean, size: rng.lognormal(np.log(mean) - 0.5, 1.0, size),
    }
    for name, draw in kinds.items():
        limit = Limit.parse(name[name.index("<") :])
        false = int((crossings(limit, draw(limit.limit, (runs, TICKETS))) > 0).sum())
        claims.append(
            Claim(f"{name}: stopped at the limit", upper(false, runs), RISK, "(upper end)")
        )
        notes[name] = f"{false} of {runs} arms at the limit stopped within {TICKETS:,} tickets"
        for factor in (1.5, 2.0):
            soon = crossings(limit, draw(factor * limit.limit, (200, TICKETS)))
            middle = int(np.median(soon[soon > 0])) if (soon > 0).any() else 0
            share = float((soon > 0).mean())
            what = f"stopped after {middle:,} tickets (median), {share:.0%} of arms in all"
            notes[f"{name}, arms at {factor:g} times the limit"] = what
    return claims, notes


def lived(seed: int) -> tuple[State, list[Event]]:
    """A study that was played for some turns, each reward told at once, and its log."""
    rule = {"floor": 0.1, "control": "a", "control_share": 0.15, "seed": seed}
    chosen = StudySettings(list(MEANS), **rule)
    state, log = State.begin(chosen), [Event(1, int(Kind.CREATED), 0.0, body=chosen.to_json())]
    fold(state, log[0])
    nature, means = np.random.default_rng(seed), list(MEANS.values())
    for _ in range(TURNS):
        (choice,), *_ = decide(state, 1, Asking(), 0.0)
        number, position = state.number + 1, state.positions[choice.arm]
        reward = float(nature.random() < means[position])
        asked = Event(number, int(Kind.ASKED), 0.0, position, int(choice.draw), choice.probability)
        told = Event(number + 1, int(Kind.TOLD), 0.0, position, ticket=number, reward=reward)
        fold(state, asked, decided=True)
        fold(state, told)
        log += [asked, told]
    return state, log


def replays(logs: int) -> tuple[list[Claim], dict[str, str]]:
    """How often intervals of what a uniform policy would have earned hold what it earns."""
    truth, policy = float(np.mean(list(MEANS.values()))), belman.Uniform()
    held, widths, errors = np.zeros(3), np.zeros(3), np.zeros((2, logs))
    for seed in range(logs):
        state, log = lived(seed)
        result = replay(state.settings, log, policy, seed, 0.0)
        assert result.anytime_low is not None
        assert result.anytime_high is not None
        ends = (
            (result.low, result.high),
            (result.doubly_robust_low, result.doubly_robust_high),
            (result.anytime_low, result.anytime_high),
        )
        held += [low <= truth <= high for low, high in ends]
        widths += [high - low for low, high in ends]
        errors[:, seed] = result.reward - truth, result.doubly_robust - truth
    claims, notes = [], {}
    for i, name in enumerate(("self-normalised", "doubly robust")):
        hits = int(held[i])
        least = float(stats.beta.ppf(0.005, hits, logs - hits + 1))
        claims.append(Claim(f"{name}: 95 % intervals hold", least, LEAST, "(lower end)", more=True))
        bias, spread = errors[i].mean(), errors[i].std(ddof=1) / np.sqrt(logs)
        what = f"{hits / logs:.3f} of {logs} intervals, {widths[i] / logs:.3f} wide on average"
        notes[name] = f"{what}; bias {bias:+.4f} ± {1.96 * spread:.4f}"
    share, wide = held[2] / logs, widths[2] / logs
    notes["at any look"] = f"{share:.3f} of {logs} intervals, {wide:.3f} wide on average"
    return claims, notes


def main() -> None:
    share = float(sys.argv[1]) / RUNS if len(sys.argv) > 1 else 1.0
    claims, notes = [], {}
    for part in (limits(int(RUNS * share)), replays(int(LOGS * share))):
        claims += part[0]
        notes |= part[1]
    report("guard-rails of studies", claims, notes)


if __name__ == "__main__":
    main()
