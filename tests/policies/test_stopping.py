"""Chernoff's stopping rule: its statistic against brute force in every family, its thresholds, and
what they promise.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import zeta

from belman.errors import SettingError
from belman.families import BoundedExponential, Exponential, Gaussian, GaussianUnknown
from belman.families.mirror import Mirror
from belman.policies.best_arm.stopping import THRESHOLDS, check_rule, confidence_of, thresholds
from tests.members import interpreted

BRUTE = """
import json
import numpy as np
from scipy.optimize import minimize_scalar
from belman.families import FAMILIES
from belman.families.mirror import Mirror
from belman.policies.averages import plays_needed
from belman.policies.ledger import Ledger
from belman.policies.best_arm.stopping import contrast, least_contrast
from tests.members import member, random_rewards

worst = {}
for name in FAMILIES:
    for family, sign in ((member(name), 1.0), (Mirror(member(name)), -1.0)):
        rng = np.random.default_rng(1)
        for case in range(2 if family.mean_fixes_distribution else 6):
            counts = rng.integers(4, 60, 4)
            scaled = name in ("exponential", "gamma", "gaussian", "gaussian-unknown")
            scales = np.exp(rng.normal(0.0, 0.3, 4)) if scaled else np.ones(4)
            draws = [
                sign * scale * np.array(random_rewards(member(name), rng, int(n)))
                for n, scale in zip(counts, scales)
            ]
            if name == "gaussian-unknown" and case < 3:  # narrow arms, far apart: two lowest points
                sizes = enumerate(counts)
                draws = [sign * (3.0 * i + 0.3 * rng.normal(size=int(n))) for i, n in sizes]
            sums = np.array([np.sum(x) for x in draws])
            squares = np.array([np.sum(x * x) for x in draws])
            ledger = Ledger(np.zeros((4, 1)), counts.astype(float), sums, squares)
            means, needed = ledger.sums / ledger.plays, plays_needed(family)
            spreads = np.maximum(ledger.squares / ledger.plays - means**2, 1e-300)
            spreads = spreads if needed else np.ones(4)

            def brute(a, b):
                if not means[a] > means[b]:
                    return 0.0
                def total(x):
                    d, constants = family.kernels.d, family.constants
                    apart = [d(constants, means[i], x, spreads[i]) for i in (a, b)]
                    return ledger.plays[a] * apart[0] + ledger.plays[b] * apart[1]
                # one lowest point, or perhaps two
                points = 13 if family.mean_fixes_distribution else 201
                grid = np.linspace(means[b], means[a], points)[1:-1]
                start = int(np.argmin([total(x) for x in grid]))
                ends = np.linspace(means[b], means[a], points)[[start, start + 2]]
                how = {"method": "bounded", "options": {"xatol": 1e-10}}
                return minimize_scalar(total, bounds=tuple(ends), **how).fun

            pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
            known = family.kernels, family.constants, ledger, needed
            found = {pair: contrast(*known, *pair) for pair in pairs}
            gaps = [abs(found[pair] - brute(*pair)) / (1.0 + found[pair]) for pair in found]
            chosen = np.zeros(4)
            chosen[np.argsort(-means)[:2]] = 1.0
            least = least_contrast(*known, chosen, -1.0, np.zeros(2, dtype=np.int64))
            wanted = min(found[a, b] for a, b in pairs if chosen[a] and not chosen[b])
            gaps.append(abs(least - wanted))
            worst[family.name] = max(worst.get(family.name, 0.0), *map(float, gaps))
print(json.dumps(worst))
"""


def test_statistic_is_the_least_over_all_common_means() -> None:
    """In all families, costs included, to 1e-7; where d is not Bregman the common mean is no
    weighted mean.
    """
    worst = interpreted(BRUTE)
    assert len(worst) >= 20
    assert max(worst.values()) < 1e-7, worst


def test_customary_threshold() -> None:
    assert thresholds(np.array([50.0]), 0.01, 7) == pytest.approx(
        [math.log((1.0 + math.log(50.0)) / 0.01)]
    )


def test_proven_threshold_is_about_what_its_authors_say() -> None:
    """C(x) ≈ x + 4 ln(1 + x + sqrt(2x)) for large x, to a tenth; and the definition, as a minimum
    over its base, at x = ½.
    """
    for x in (10.0, 20.0, 100.0):
        share = thresholds(np.array([2.0]), math.exp(-2.0 * x), 2, rule="proven")[0]
        assert share == pytest.approx(
            2.0 * (x + 4.0 * math.log(1.0 + x + math.sqrt(2.0 * x))), rel=0.1
        )
    u = np.linspace(1.0, 30.0, 2_000_001)
    h = u - np.log(u)
    y = 0.5 * (np.interp(1.5, h, u) + math.log(2.0 * zeta(2.0)))  # at x = ½
    cost = min(
        2.0 * math.exp(1.0 / z) * (y + math.log(z))
        for z in np.linspace(1.0 / math.log(1.5), 50.0, 100_001)
    )
    result = thresholds(np.array([100.0]), math.exp(-1.0), 2, rule="proven")[0]
    assert result == pytest.approx(2.0 * cost + 6.0 * math.log(1.0 + math.log(50.0)), rel=1e-4)
    assert (np.diff(thresholds(np.arange(1.0, 1e4), 0.1, 5, rule="proven")) >= 0.0).all()


@pytest.mark.parametrize("rule", THRESHOLDS)
def test_confidence_undoes_the_threshold(rule: str) -> None:
    for delta in (0.5, 0.1, 1e-6):
        for turn, arms, m in ((3, 2, 1), (1_000, 10, 3), (10**9, 50, 1)):
            enough = float(thresholds(np.array([float(turn)]), delta, arms, m, rule)[0])
            assert 1.0 - confidence_of(enough, turn, arms, m, rule) == pytest.approx(
                delta, rel=1e-6
            )
    assert confidence_of(0.0, 10, 3, 1, rule) == 0.0
    assert confidence_of(math.inf, 10, 3, 1, rule) == 1.0


def test_rules_that_do_not_exist_or_hold() -> None:
    with pytest.raises(
        SettingError, match=r"unknown threshold 'costumary'.*did you mean 'customary'"
    ):
        check_rule("costumary", Gaussian())
    for family in (GaussianUnknown(), BoundedExponential(), Mirror(BoundedExponential())):
        assert check_rule("customary", family) == "customary"
        with pytest.raises(SettingError, match="is proved for one-parameter exponential families"):
            check_rule("proven", family)
    assert check_rule("proven", Mirror(Exponential())) == "proven"
