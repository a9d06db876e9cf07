"""Do delays differ between arms? A log-rank test on the delays of tickets whose window has closed.

Under one distribution the delays of an arm fall, cell by cell, as those of all arms do: of R
tickets whose delay is not shorter, R_a of them an arm's, N have theirs in this cell, N·R_a/R of
them the arm's. The sums over cells of what was found less what is expected have a hypergeometric
covariance, and their square in its metric is χ² with one degree of freedom less than there are
arms.

It is looked at when the number of such delays has doubled, and the j-th look may be wrong with
chance RATE/(j(j + 1)): by the union bound all looks together raise a false alarm with chance RATE.
"""

from __future__ import annotations

import numpy as np

from belman.engine import allocating_kernel, kernel
from belman.special import gamma_survival

#: The chance of a false alarm, over all looks there will ever be.
RATE = 0.01
#: Delays at the first look; an arm is compared when it has FEW of them.
FIRST_LOOK, FEW = 128, 10
#: Of `Counts.watch`: delays of closed tickets, and looks at them so far.
CLOSED, LOOKS = 0, 1


@kernel
def looks_due(number: int):
    """The number of looks by the time of the given number of delays.

    >>> [looks_due(number) for number in (127, 128, 255, 256, 1024)]
    [0, 1, 1, 2, 4]
    """
    looks = 0
    while number >= FIRST_LOOK:
        looks += 1
        number //= 2
    return looks


@kernel
def level_of(look: int):
    """The chance with which a look may be wrong: over all looks they sum to RATE.

    >>> round(sum(level_of(look) for look in range(1, 100_000)), 4)
    0.01
    """
    return RATE / (look * (look + 1.0))


@kernel
def _square_in_metric(matrix, row):
    """rᵀ M⁻¹ r of a covariance M, by elimination; directions in which nothing varies are left out.

    Both are used up.
    """
    total = 0.0
    for i in range(row.size):
        pivot = matrix[i, i]
        if pivot <= 1e-9:
            continue
        total += row[i] * row[i] / pivot
        for j in range(i + 1, row.size):
            factor = matrix[j, i] / pivot
            row[j] -= factor * row[i]
            for k in range(i + 1, row.size):
                matrix[j, k] -= factor * matrix[i, k]
    return total


@allocating_kernel
def log_rank(delays):
    """The p-value of one distribution for all arms (K × C counts of delays); 1 where there is no
    contrast.

    >>> same, other = [8, 4, 2, 1], [1, 2, 4, 8]
    >>> float(log_rank(np.array([same, same]))), log_rank(np.array([same, other])) < 0.01
    (1.0, True)
    """
    arms, cells = delays.shape
    risk, all_risk, compared = np.zeros(arms), 0.0, 0
    for a in range(arms):
        number = 0
        for s in range(cells):
            number += delays[a, s]
        if number >= FEW:
            risk[a] = number
            all_risk += number
            compared += 1
    if compared < 2:
        return 1.0
    excess, covariance = np.zeros(arms), np.zeros((arms, arms))
    rivals = risk > 0.0
    for s in range(cells):
        events = 0.0
        for a in range(arms):
            if rivals[a]:
                events += delays[a, s]
        if events > 0.0 and all_risk > 1.0:
            spread = events * (all_risk - events) / (all_risk - 1.0)
            for a in range(arms):
                if rivals[a]:
                    share = risk[a] / all_risk
                    excess[a] += delays[a, s] - events * share
                    covariance[a, a] += spread * share
                    for b in range(arms):
                        covariance[a, b] -= spread * share * risk[b] / all_risk
            for a in range(arms):
                if rivals[a]:
                    risk[a] -= delays[a, s]
            all_risk -= events
    # the last rival is what the others leave
    last = 0
    for a in range(arms):
        last = a if rivals[a] else last
    excess[last] = 0.0
    covariance[last, :] = 0.0
    covariance[:, last] = 0.0
    chi_squared = _square_in_metric(covariance, excess)
    return gamma_survival(0.5 * (compared - 1), 0.5 * chi_squared)


@kernel
def difference_found(counts):
    """The p-value of a look that is due and finds that delays differ between arms; else 1."""
    look = looks_due(counts.watch[CLOSED])
    if look == counts.watch[LOOKS]:
        return 1.0
    counts.watch[LOOKS] = look
    p_value = log_rank(counts.complete)
    return p_value if p_value < level_of(look) else 1.0
