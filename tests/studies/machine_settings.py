"""Settings of studies for the machine, each as the code that says it, so that what is drawn can be
printed and run: kinds of deciding × rewards × policies × windows × shares × rules.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

#: Rewards by family, and how a study says which it is.
FAMILIES: dict[str, tuple[dict[str, str], tuple[float, ...]]] = {
    "bernoulli": ({}, (0.0, 1.0)),
    "bounded": ({"range": "(0, 10)"}, (0.0, 2.5, 10.0, 5.0)),
    "clipped": ({"range": "(0, 10)", "clip": "True"}, (0.0, 2.5, 14.0, -1.0)),
    "gaussian-unknown": ({"family": "'gaussian-unknown'"}, (-1.5, 0.1, 2.0, 0.3)),
    "poisson": ({"family": "'poisson'"}, (0.0, 1.0, 3.0)),
    "money": ({"family": "'money'"}, (0.0, 9.9, 120.0)),
    "utility": (
        {"family": "'gaussian-unknown'", "reward": "'gain - 0.5*refund'"},
        (-1.5, 0.1, 2.0, 0.3),
    ),
}
POLICIES = (
    "belman.BelMan()",
    "belman.BelMan.paper()",
    "belman.Thompson()",
    "belman.policies.Forced(belman.Thompson())",
    "policies.KLUCB()",
    "policies.UCB1()",
    "policies.EpsilonGreedy()",
    "policies.KLUCBEmpirical()",
    "policies.Giro()",
)
FEATURED = (
    "dependent.SharedBelMan()",
    "dependent.LinTS()",
    "dependent.LinUCB()",
    "dependent.LinGreedy()",
)
KINDS = ("independent", "segments", "contexts", "candidates")
WINDOWS: dict[str, dict[str, str]] = {
    "none": {},
    "window": {"window": "60", "early": "False"},
    "early": {"window": "60"},
    "accumulate": {"window": "60", "accumulate": "True"},
    "forget": {"window": "60", "silence": "'forget'"},
}
SHARES: dict[str, dict[str, str]] = {
    "none": {},
    "uniform": {"uniform_share": "0.3"},
    "floor": {"floor": "0.1"},
    "floors": {"floor": "{'a': 0.3}"},
    "control": {"control": "'b'", "control_share": "0.25"},
    "both": {"control": "'b'", "control_share": "0.25", "floor": "0.05"},
}
GOALS = ("none", "none", "earn", "decide", "both")
CHANGES: dict[str, dict[str, str]] = {
    "none": {},
    "discount": {"discount": "0.9"},
    "drift": {"drift": "'auto'"},
    "half-life": {"drift": "belman.policies.Drift(half_life=100.0)"},
    "last": {"last": "5"},
}
RULES: dict[str, dict[str, str]] = {
    "none": {},
    "stop": {"stop_when": "belman.measures.Sure(0.7)"},
    "ship": {"stop_when": "belman.measures.Sure(0.7)", "then": "'ship'"},
    "apart": {
        "control": "'b'",
        "stop_when": "belman.measures.Separated(0.6, 0.9)",
        "then": "'ship'",
    },
    "negligible": {"control": "'b'", "negligible": "2.0", "then": "'ship'"},
}
#: Of refunds, which the machine tells as 0 or 1; an hour passes as it waits.
BUDGETS = ("2 an hour", "20 an hour", "5 a day")
CONTEXTUAL: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "segments": ({"segments": "['country']"}, ("{'country': 'fr'}", "{'country': None}")),
    "contexts": (
        {"context": "['country', 'age', 'text[3:2]']"},
        (
            "{'country': 'fr', 'age': 30, 'text': [0.5, 1, 2]}",
            "{'country': 'de', 'age': 55.5, 'text': [1, 0.25, -2]}",
            "{'age': None}",
            "{'country': 'it', 'age': 41}",
            "{'country': 'es'}",
        ),
    ),
    "candidates": ({"context": "['age']", "features": "['price', 'taste']"}, ("{'age': 30}", "{}")),
}
MODELS = {"linear": "gaussian-unknown", "logistic": "bernoulli", "poisson": "poisson"}
#: The same with a variance of each coefficient in place of all covariances.
WIDE = {
    "linear": "belman.models.Linear(unknown=True, covariance='diagonal')",
    "logistic": "belman.models.Logistic(covariance='diagonal')",
    "poisson": "belman.models.PoissonLog(covariance='diagonal')",
}
FEATURES = "{'a': {'price': 1}, 'b': {'price': 2.5}, 'c': {'price': 4}}"
#: What arms share along features.
ALONG: dict[str, dict[str, str]] = {
    "none": {},
    "disjoint": {"pooling": "'disjoint'"},
    "features": {"features": FEATURES},
    "hybrid": {"features": FEATURES, "pooling": "'hybrid'"},
}
CANDIDATES = (
    "[{'price': 4, 'taste': 'sweet'}, {'price': 9, 'taste': 'salty'}]",
    "[{'price': 4.5, 'taste': 'new'}, {'price': None, 'taste': 'salty'}, {'price': 1}]",
)


class Drawn(dict[str, str]):
    """Settings as code, with what the machine has to know of them."""

    kind: str
    family: str
    features: dict[str, str]  # of each setting, which choice was taken

    def code(self, name: str) -> str:
        """The call that opens a study with them."""
        arms = "None" if self.kind == "candidates" else "['a', 'b', 'c']"
        rest = ", ".join(f"{name}={value}" for name, value in self.items())
        return f"open_study({name!r}, {arms}, {rest}, storage=storage, clock=clock)"


def fitting(drawn: Drawn) -> tuple[str, ...]:
    """Policies that may be set; for money those that need no chances to be best, which take Python
    half a minute to integrate.
    """
    if drawn.kind in ("contexts", "candidates"):
        return FEATURED
    return POLICIES[:2] if drawn.family == "money" else POLICIES


@st.composite
def settings(draw: Any, kinds: tuple[str, ...] = KINDS) -> Drawn:
    """Settings that a study takes, or refuses as a whole."""
    result = Drawn()
    result.kind = draw(st.sampled_from(kinds))
    independent = result.kind == "independent"
    along = result.kind in ("contexts", "candidates")
    window = draw(st.sampled_from(["none", *sorted(WINDOWS)]))
    shares = draw(
        st.sampled_from(
            ["none", "uniform"] if along and result.kind == "candidates" else sorted(SHARES)
        )
    )
    changes = sorted(CHANGES) if independent else ["discount", "drift"] if along else []
    change = draw(st.sampled_from(["none"] * 4 + changes))
    then = draw(st.sampled_from(["none"] * 3 + sorted(RULES))) if independent else "none"
    result["seed"] = str(draw(st.integers(0, 3)))
    if along:
        model = "linear" if result.kind == "candidates" else draw(st.sampled_from(sorted(MODELS)))
        result.family = MODELS[model]
        is_wide = draw(st.integers(0, 3)) == 3
        result |= {"model": WIDE[model] if is_wide else repr(model)}
        policy = draw(st.sampled_from(FEATURED))
        if result.kind == "contexts":
            result |= ALONG[draw(st.sampled_from(sorted(ALONG)))]
    else:
        with_money = independent and then == "none"
        families = [name for name in FAMILIES if with_money or name != "money"]
        result.family = draw(st.sampled_from(families))
        result |= FAMILIES[result.family][0]
        fits = change in ("none", "discount")
        policy = draw(st.sampled_from(fitting(result) if fits else POLICIES[:1]))
        if draw(st.integers(0, 4)) == 4:
            result["minimise"] = "True"
    result |= {"policy": policy} | WINDOWS[window] | SHARES[shares] | CHANGES[change] | RULES[then]
    if not independent:
        result |= CONTEXTUAL[result.kind][0]
        result.pop("early", None)
    if result.kind == "contexts" and draw(st.booleans()):
        result["context"] = "['country', 'age']"  # without an array, which is not published
    goal = draw(st.sampled_from(GOALS)) if result.kind != "candidates" else "none"
    if goal != "none":
        result["goal"] = repr(goal)
    priced = not along and result.family != "money" and change in ("none", "drift", "last")
    budget = "none"
    if priced and draw(st.integers(0, 3)) == 3:
        budget = draw(st.sampled_from(BUDGETS))
        result["budget"] = f"{{'refund': {budget!r}}}"
        if change == "none":
            result["policy"] = policy = "belman.Thompson()"
    guard = draw(st.integers(0, 3)) == 3
    if guard:
        result["guard"] = "{'refund': '< 0.2'}"
    result.features = {
        "kind": result.kind, "family": result.family, "policy": policy, "window": window,
        "shares": shares, "change": change, "rule": then, "guard": str(guard),
        "goal": goal, "budget": budget,
    }  # fmt: skip
    return result
