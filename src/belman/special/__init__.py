"""Special functions that compile: gamma, differences that do not cancel, distributions and
quantiles.
"""

# ruff: noqa: I001
from __future__ import annotations

from belman.special.beta_distribution import beta_cdf as beta_cdf, beta_quantile as beta_quantile
from belman.special.beta_distribution import beta_survival as beta_survival
from belman.special.beta_distribution import beta_upper_quantile as beta_upper_quantile
from belman.special.beta_distribution import (
    student_cdf as student_cdf,
    student_quantile as student_quantile,
)
from belman.special.gamma_functions import digamma as digamma, digamma_gap as digamma_gap
from belman.special.gamma_functions import digamma_gap_trigamma as digamma_gap_trigamma
from belman.special.gamma_functions import entropy_excess as entropy_excess
from belman.special.gamma_functions import lift_count as lift_count, lift_excess as lift_excess
from belman.special.gamma_functions import log_beta as log_beta, log_excess as log_excess
from belman.special.gamma_functions import log_gamma as log_gamma, log_power as log_power
from belman.special.gamma_functions import log_ratio as log_ratio, ratio_excess as ratio_excess
from belman.special.gamma_functions import stirling as stirling, stirling_excess as stirling_excess
from belman.special.gamma_functions import trigamma as trigamma
from belman.special.gamma_distribution import (
    gamma_cdf as gamma_cdf,
    gamma_quantile as gamma_quantile,
)
from belman.special.gamma_distribution import gamma_survival as gamma_survival
from belman.special.gamma_distribution import gamma_upper_quantile as gamma_upper_quantile
from belman.special.gamma_distribution import (
    normal_cdf as normal_cdf,
    normal_quantile as normal_quantile,
)
from belman.special.logarithm import log_from_one as log_from_one
from belman.special.two_betas import a_success_less as a_success_less, after_reward as after_reward
from belman.special.two_betas import chance_above as chance_above, expected_most as expected_most
from belman.registry import offered as _offered

__all__ = _offered(globals())
