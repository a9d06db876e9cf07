"""An agent's verdict: what it knows, handed to the measures that say what it means."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from belman.agent.scale import Scale
from belman.errors import SettingError
from belman.measures.lift import Units
from belman.measures.report import Known, Report, report
from belman.measures.stop_rules import StopRule

if TYPE_CHECKING:
    from belman.agent.agent import Agent

_FADED = (
    "this agent forgets (discount below 1), and a faded sum is not a sum of independent rewards"
)


def units(scale: Scale) -> Units:
    """How the user of an agent counts."""
    low, high = scale.range or (0.0, 1.0)
    return Units(low, (low - high) if scale.minimise else high - low)


def why_not_all(agent: Agent) -> str:
    """Why the beliefs of an agent are not from all rewards alike; nothing where they are."""
    return _FADED if agent._discount < 1.0 else agent._policy.forgets


def known(agent: Agent) -> Known:
    """What an agent was told, as measures read it."""
    truth = agent._truth
    return Known(
        agent._family,
        agent.arms,
        agent._priors,
        agent._policy.believed(agent._family, truth, agent._memory),
        truth.plays,
        truth.sums,
        truth.squares,
        units(agent._scale),
        why_not_all(agent),
    )


def report_of(
    agent: Agent,
    control: Hashable | None,
    level: float,
    stop_when: StopRule | None,
    borrowed: str = "",
) -> Report:
    """The report of an agent beside a control; `borrowed` says why not all rewards are its own."""
    found = known(agent)
    return report(replace(found, faded=found.faded or borrowed), control, level, stop_when)


def check_rule(rule: object) -> StopRule | None:
    """A stopping rule, or None."""
    if rule is not None and not isinstance(rule, StopRule):
        give = "belman.Sure(0.95), belman.LossBelow(0.001) or belman.Separated(delta=0.05)"
        raise SettingError(f"stop_when={rule!r} is not a stopping rule: give {give}")
    return rule
