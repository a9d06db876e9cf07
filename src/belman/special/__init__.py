"""Special functions that compile: gamma, differences that do not cancel, laws and quantiles."""

from __future__ import annotations

from belman.special.beta_law import (
    beta_cdf,
    beta_quantile,
    beta_survival,
    beta_upper_quantile,
    student_cdf,
    student_quantile,
)
from belman.special.gamma_functions import (
    digamma,
    digamma_gap,
    digamma_gap_trigamma,
    entropy_excess,
    lift_count,
    lift_excess,
    log_beta,
    log_excess,
    log_gamma,
    log_power,
    log_ratio,
    ratio_excess,
    stirling,
    stirling_excess,
    trigamma,
)
from belman.special.gamma_law import (
    gamma_cdf,
    gamma_quantile,
    gamma_survival,
    gamma_upper_quantile,
    normal_cdf,
    normal_quantile,
)

__all__ = [
    "beta_cdf",
    "beta_quantile",
    "beta_survival",
    "beta_upper_quantile",
    "digamma",
    "digamma_gap",
    "digamma_gap_trigamma",
    "entropy_excess",
    "gamma_cdf",
    "gamma_quantile",
    "gamma_survival",
    "gamma_upper_quantile",
    "lift_count",
    "lift_excess",
    "log_beta",
    "log_excess",
    "log_gamma",
    "log_power",
    "log_ratio",
    "normal_cdf",
    "normal_quantile",
    "ratio_excess",
    "stirling",
    "stirling_excess",
    "student_cdf",
    "student_quantile",
    "trigamma",
]
