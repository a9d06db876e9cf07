"""How long a trial's table takes: CPU time of every built-in policy, two arms and 200 patients.

`python -m benchmarks.trial [PATIENTS] [POLICIES]`, policies by their names, with commas. The table
is that of `belman trial --rates 0.3,0.3 --rates 0.3,0.5`, after a first of three patients has
compiled it. Whose chances follow from counts is computed exactly; others are played, and the time
of a trial that is played is given.
"""

from __future__ import annotations

import sys
import time

from belman import spec
from belman.cli import parse
from belman.errors import BelmanError
from belman.families import Bernoulli
from belman.measures import trial
from belman.policies import Policy
from belman.policies.policy import POLICIES
from benchmarks.claim import Claim, report

RATES = [(0.3, 0.3), (0.3, 0.5)]
#: Settings of policies that have none by default.
GIVEN = {"explore-then-commit": "explore=20", "phases": "explore=20"}
PLAYED_RUNS = 20
LONGEST = 60.0


def built_in(patients: int, wanted: list[str]) -> dict[str, Policy]:
    """Every policy by name that plays two yes-or-no arms."""
    result = {}
    for name in wanted or [*POLICIES, *spec.PRESETS]:
        try:
            settings = f":{GIVEN[name]}" if name in GIVEN else ""
            policy = parse.policy(name + settings, patients)
            policy.check(Bernoulli(), 2)
            trial({name: policy}, RATES, 3, test="posterior", runs=2)
        except BelmanError as error:
            print(f"{name} is left out: {error}")
            continue
        result[name] = policy
    return result


def seconds(name: str, policy: Policy, patients: int) -> tuple[float, bool]:
    """CPU time of the table, or of a trial that is played; and whether it is exact."""
    short = trial({name: policy}, RATES, 3, test="posterior", runs=2)
    exact, runs = short.notes[0].startswith("Exact"), PLAYED_RUNS
    started = time.process_time()
    if exact:
        trial({name: policy}, RATES, patients)
    else:
        trial({name: policy}, RATES, patients, test="posterior", runs=runs)
    taken = time.process_time() - started
    return (taken, True) if exact else (taken / (runs * len(RATES)), False)


def main() -> None:
    patients = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    wanted = sys.argv[2].split(",") if len(sys.argv) > 2 else []
    claims, played = [], {}
    for name, policy in built_in(patients, wanted).items():
        taken, exact = seconds(name, policy, patients)
        if exact:
            claims.append(Claim(f"{name}, {patients} patients, exactly", taken, LONGEST, "s"))
        else:
            played[name] = f"played, {1e3 * taken:.3g} ms a trial"
        print(f"{name}: {taken:.3g} s", flush=True)
    report("CPU time of a trial's table", claims, played)


if __name__ == "__main__":
    main()
