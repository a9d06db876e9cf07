"""What goes in, as the OpenAPI document describes it; the dial between explore and exploit."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from belman import spec
from belman.errors import SettingError
from belman.exposure import Evidence, Exposure, FadingEvidence, Infinite
from belman.service.context_models import Candidates, Context, Top
from belman.studies import Ask, Tell

_SPAN = 2.0  # decades on each side of the middle
_OWN, _FADING = Evidence(), FadingEvidence()


def exposure_at(dial: float) -> Exposure:
    """The exposure of a dial from 0 (explore only) over ½ (BelMan's own) to 1 (next to greedy).

    Above ½ the gain of `Evidence` is multiplied by 10^(2(2d − 1)), which makes it greedier. With
    less it would be IMED at most, so below ½ the weight of `FadingEvidence` is multiplied by the
    same, down to none at 0, which is infinite exposure.

    >>> exposure_at(0.0), exposure_at(0.5) == Evidence()
    (Infinite(), True)
    """
    factor = 10.0 ** (_SPAN * (2.0 * dial - 1.0))
    if dial == 0.0:
        return Infinite()
    if dial < 0.5:
        gain, floor = _FADING.gain * factor, _FADING.floor * factor
        return FadingEvidence(gain=gain, fade=_FADING.fade, floor=floor, p=_FADING.p)
    return Evidence(gain=_OWN.gain * factor, reach=_OWN.reach, pool=_OWN.pool)


def dial_of(exposure: Exposure) -> float | None:
    """Where the dial stands, or None for an exposure that it cannot make.

    >>> dial_of(exposure_at(0.8)), dial_of(exposure_at(0.3))
    (0.8, 0.3)
    """
    if isinstance(exposure, Infinite):
        return 0.0
    if isinstance(exposure, Evidence):
        factor = exposure.gain / _OWN.gain
    elif isinstance(exposure, FadingEvidence):
        factor = exposure.floor / _FADING.floor
    else:
        return None
    dial = round(0.5 * (math.log10(factor) / _SPAN + 1.0), 6) if factor > 0.0 else -1.0
    return dial if 0.0 <= dial <= 1.0 and _same(exposure, exposure_at(dial)) else None


def _same(given: Exposure, made: Exposure) -> bool:
    """Whether two exposures are the same but for what rounding does to a dial."""
    if type(given) is not type(made):
        return False
    pairs = [(value, getattr(made, name)) for name, value in vars(given).items()]
    return all(
        value == other or (None not in (value, other) and math.isclose(value, other, rel_tol=1e-4))
        for value, other in pairs
    )


MOST_TICKETS = 1_000

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Part = StrictBool | Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)] | Number | Name
Arm = Part | Annotated[list[Part], Field(min_length=1, max_length=8)]
Coordinates = Annotated[list[Number], Field(max_length=16)]
Reason = Annotated[StrictStr, Field(max_length=1_000, description="Why, for the log.")]
Key = Annotated[Name | None, Field(description="Idempotency key: the same key counts once.")]
Ticket = Annotated[Name, Field(description="The id that an ask gave.")]
Metrics = Annotated[
    Annotated[dict[Name, Number], Field(max_length=20)] | None,
    Field(description="Metrics beside the reward, by name."),
]
Attributes = Annotated[
    Annotated[dict[Name, StrictStr | StrictInt | Number], Field(max_length=8)] | None,
    Field(description="Attributes of the visitor or request; reports can be split by them."),
]
Described = Name | Annotated[dict[Name, Any], Field(max_length=20)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _example(**content: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [content]})


class AskBody(_Model):
    """The number of tickets, and an idempotency key: the same key gives the same tickets."""

    model_config = _example(tickets=1, key="order-4711", attributes={"device": "phone"})

    tickets: Annotated[StrictInt, Field(ge=1, le=MOST_TICKETS, description="How many.")] = 1
    key: Key = None
    attributes: Attributes = None
    context: Context = None
    candidates: Candidates = None
    top: Top = None

    def request(self, key: str | None) -> Ask:
        """The same as a study takes it, under this idempotency key."""
        return Ask(self.tickets, key, self.attributes, self.context, self.candidates, self.top)


class TellBody(_Model):
    """A ticket, its reward, and an idempotency key: under a window the same key counts once.

    Metrics are other measurements; where the study computes the reward from them, leave it out.
    """

    model_config = _example(ticket="17-hn9691", reward=1, metrics={"latency": 0.8})

    ticket: Ticket
    reward: Annotated[
        Number | None, Field(description="Leave it out where a formula over metrics gives it.")
    ] = None
    key: Key = None
    metrics: Metrics = None

    def request(self, key: str | None) -> Tell:
        """The same as a study takes it, under this idempotency key."""
        return Tell(self.ticket, self.reward, key, self.metrics)


class CorrectBody(_Model):
    """The right reward of a ticket that has counted (null removes it), and the reason; metrics
    that are not given stay.
    """

    model_config = _example(reward=0, reason="refund", key="refund-4711")

    reward: Annotated[
        Number | None, Field(description="The right reward; null removes the ticket.")
    ]
    reason: Annotated[Reason, Field(min_length=1)]
    key: Key = None
    metrics: Metrics = None


class TellsBody(_Model):
    """Many tickets and their rewards; each has its own answer."""

    model_config = _example(
        tells=[{"ticket": "17-hn9691", "reward": 1}, {"ticket": "18-p0k2xz", "reward": 0}]
    )

    tells: Annotated[
        list[TellBody],
        Field(min_length=1, max_length=MOST_TICKETS, description="One for each ticket."),
    ]


class ReturnBody(_Model):
    """Tickets that were not used."""

    model_config = _example(tickets=["17-hn9691", "18-p0k2xz"])

    tickets: Annotated[list[Name], Field(max_length=MOST_TICKETS)]


class ReturnedOut(BaseModel):
    """How many of the tickets are given back, now or by an earlier request."""

    returned: int


class ReasonBody(_Model):
    """The reason for a change, for the log."""

    model_config = _example(reason="the shop is closed on Sunday")

    reason: Reason = ""


class EmptyBody(_Model):
    """An empty body."""

    model_config = _example()


class ArmBody(ReasonBody):
    """An arm."""

    model_config = _example(arm="red", reason="out of stock")

    arm: Annotated[Arm, Field(description="The name of the arm.")]


class ShipBody(ReasonBody):
    """The arm that gets all traffic; by default the arm that is most likely the best."""

    model_config = _example(arm="green", reason="decided on Monday")

    arm: Annotated[Arm | None, Field(description="The name of the arm.")] = None


class DeleteBody(_Model):
    """The name of the study again, to confirm: a deleted study cannot be restored."""

    model_config = _example(confirm="button")

    confirm: Annotated[Name, Field(description="The name of the study.")]


class NewArmBody(ArmBody):
    """An arm, and the prior belief about it."""

    model_config = _example(arm="violet", prior=[2.0, 2.0], reason="new design")

    prior: Annotated[
        Coordinates | None, Field(description="The belief about it before its first reward.")
    ] = None


class ExposureBody(ReasonBody):
    """How greedy: from 0 (explore) over 0.5 (the default) to 1 (exploit), or an exposure."""

    model_config = _example(dial=0.75, reason="we know enough")

    dial: Annotated[
        Annotated[float, Field(strict=True, ge=0.0, le=1.0)] | None,
        Field(description="How greedy: from 0 (explore) to 1 (exploit); 0.5 is the default."),
    ] = None
    exposure: Annotated[
        Described | None, Field(description="By name, or name and settings, instead of `dial`.")
    ] = None

    def chosen(self) -> Exposure:
        """The exposure that is meant."""
        if (self.dial is None) == (self.exposure is None):
            raise SettingError("give either dial or exposure")
        if self.dial is not None:
            return exposure_at(self.dial)
        return spec.build(self.exposure, Exposure)


class GuardBody(ReasonBody):
    """All limits on metrics from now on."""

    model_config = _example(guard={"refund": "< 0.05"}, reason="returns cost us")

    guard: Annotated[
        dict[Name, Annotated[StrictStr, Field(max_length=100)]],
        Field(description="A limit per metric, such as '< 0.05' or '> 3 up to 5'."),
    ]


class SpendBody(ReasonBody):
    """A cost that no ticket brought, which counts against the budget."""

    model_config = _example(amount=0.12, arm="large", reason="a call decided elsewhere")

    amount: Annotated[
        float,
        Field(strict=True, ge=0.0, allow_inf_nan=False, description="How much of the metric."),
    ]
    arm: Annotated[Arm | None, Field(description="What it was spent on.")] = None


def arm_in(arm: Any) -> Hashable:
    """An arm's name; a list stands for a tuple."""
    return tuple(arm) if isinstance(arm, list) else arm
