"""`belman study create`: a new study, with all its settings."""

from __future__ import annotations

from typing import Annotated

import typer

from belman import spec
from belman.cli import parse, study_contexts, study_values
from belman.cli.output import console
from belman.cli.study import DEFAULT_STORAGE, Name, StorageOption, app
from belman.families import Family
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy


@app.command()
def create(
    name: Name,
    arms: Annotated[
        str | None,
        typer.Option(
            help="The names of the arms, separated by commas; none where candidates come with asks."
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(help="The family of rewards; default bernoulli, or bounded with --range."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the family, such as sigma=2.0; may be repeated."),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(help="The policy; settings after a colon, as in `belman run`."),
    ] = "belman",
    range: Annotated[
        str | None, typer.Option(help="The least and the largest reward: 0,5.")
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Clip rewards to the range.")] = False,
    minimise: Annotated[
        bool, typer.Option("--minimise", help="Rewards are costs: less is better.")
    ] = False,
    discount: Annotated[
        float | None,
        typer.Option(help="Below 1, old rewards count less: by this factor at every reward."),
    ] = None,
    drift: Annotated[
        str | None,
        typer.Option(help="Adapt to changes over time: auto, or half_life=604800 (seconds)."),
    ] = None,
    last: Annotated[
        int | None, typer.Option(help="Only so many rewards count, the newest.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed makes the same decisions.")
    ] = None,
    uniform_share: Annotated[
        float | None,
        typer.Option(help="A share of traffic assigned uniformly at random, for `replay`."),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(help="Seconds to wait for rewards of a ticket; then it counts."),
    ] = None,
    silence: Annotated[
        str,
        typer.Option(
            help="The reward of a ticket when none came within the window; `none` ignores it."
        ),
    ] = "0",
    accumulate: Annotated[
        bool,
        typer.Option(
            "--accumulate", help="Add up the rewards of a ticket; by default the last one counts."
        ),
    ] = False,
    early: Annotated[
        bool | None,
        typer.Option(
            "--early/--no-early",
            help="Learn before windows close (where rewards are 0 or 1), or wait for them.",
            show_default="early where possible",
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="A formula for the reward from metrics: 'margin - 0.2*latency'."),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="The arm that the others are compared with.")
    ] = None,
    stop_when: Annotated[
        str | None,
        typer.Option(help="When to stop: sure:level=0.95, loss-below:loss=…, separated:delta=…"),
    ] = None,
    then: Annotated[
        str | None,
        typer.Option(
            help="What to do then: say (only report it), or ship (all traffic to the best arm)."
        ),
    ] = None,
    floor: Annotated[
        str | None,
        typer.Option(
            help="The least traffic share of every arm, 0.05, or of some: blue=0.1,red=0.05."
        ),
    ] = None,
    control_share: Annotated[
        float | None, typer.Option(help="The share of traffic that control always gets.")
    ] = None,
    guard: Annotated[
        list[str] | None,
        typer.Option(
            help="A guard-rail, a limit on a metric such as 'refund < 0.05'; may be repeated."
        ),
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(help="Names of context values that make segments: country,device."),
    ] = None,
    context: Annotated[
        str | None, typer.Option(help="Names of the context values that come with an ask.")
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="A .csv or .json file of the arms' features; names, for candidates."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Rewards given features: linear, logistic or poisson.")
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="What arms share: shared, disjoint or hybrid.")
    ] = None,
    interactions: Annotated[
        str | None, typer.Option(help="Which pairs count together: 'country:price + hour:price'.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="The prior's standard deviation of coefficients.")
    ] = None,
    expire_after: Annotated[
        float | None, typer.Option(help="Replaced by --window.", hidden=True)
    ] = None,
    expired_reward: Annotated[
        float | None, typer.Option(help="Replaced by --silence.", hidden=True)
    ] = None,
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Create a study."""
    from belman.studies import open_study

    ends = None if range is None else parse.numbers(range, "range")
    law = family or ("bernoulli" if range is None else "bounded")
    names = None if arms is None else parse.split(arms)
    along = context is not None or features is not None
    study = open_study(
        name,
        names,
        None
        if along and family is None
        else spec.build({"name": law, **parse.family_settings(setting or [])}, Family),
        _policy(policy, along),
        range=ends,  # type: ignore[arg-type]
        clip=clip or None,
        minimise=minimise,
        discount=discount,
        drift=parse.drift(drift),
        last=last,
        seed=seed,
        uniform_share=uniform_share,
        window=window,
        silence=None if silence.lower() == "none" else parse.numbers(silence, "silence")[0],
        accumulate=accumulate,
        early=early,
        reward=reward,
        control=control,
        stop_when=None if stop_when is None else parse.stop_rule(stop_when),
        then=then,  # type: ignore[arg-type]
        floor=study_values.floor(floor),
        control_share=control_share,
        guard=study_values.guard(guard),
        segments=None if segments is None else parse.split(segments),
        context=None if context is None else parse.split(context),
        features=study_contexts.features(features, names),
        model=model,
        pooling=pooling,
        interactions=interactions,
        scale=scale,
        expire_after=expire_after,
        expired_reward=expired_reward,
        storage=storage,
    )
    console.print(repr(study), highlight=False)


def _policy(words: str, along_features: bool) -> Policy | DependentPolicy | None:
    """The policy of these words; the default of a study along features is its own."""
    if not along_features:
        return parse.policy(words, horizon=10_000)
    return None if words == "belman" else parse.dependent_policy(words, horizon=10_000)
