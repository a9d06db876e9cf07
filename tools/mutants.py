"""Break the package in one place after another, and see that quick tests find each.

    python tools/mutants.py [part of a file's name]

Every mutant is made in a copy of `src`, and the tests that it names are run on it as `make test`
does, without those marked slow. The list goes by what `make test` leaves to `make test-slow` or
runs interpreted, on one database, or for fewer cases.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """A line of a file, what it is changed to, and the tests of which one has to fail."""

    file: str
    old: str
    new: str
    tests: str


MUTANTS = (
    # Families, whose contract is interpreted but for a few
    Mutant("families/gamma_known_shape.py", "belief[0] += constants[0]\n    belief[1] += reward",
           "belief[0] += 1.0\n    belief[1] += reward", "tests/families/test_contract.py -k gamma"),
    Mutant("families/geometric.py", "belief[1] += reward - 1.0", "belief[1] += reward",
           "tests/families/test_contract.py -k geometric"),
    Mutant("families/money.py", "            belief[1] += 1.0", "            belief[1] += 0.5",
           "tests/families/test_contract.py -k money"),
    Mutant("families/log_normal.py", "belief, math.log(reward))", "belief, reward)",
           "tests/families/test_contract.py -k log-normal"),
    Mutant("families/two_moments.py", "win = share * math.log(above)", "win = math.log(above)",
           "tests/families/test_bounded.py -k on_coins"),
    # Policies and exposures, of which fewer variants go through the contract
    Mutant("exposure.py", "np.where(turns <= self.explore,", "np.where(turns < self.explore,",
           "tests/test_exposure.py"),
    Mutant("policies/thompson/ids.py", "chances[a] += weight / twins", "chances[a] += weight",
           "tests/policies/test_bayesian_policies.py -k ids"),
    Mutant("policies/wrappers/forced.py", "params[0] * count * math.log(turn)",
           "params[0] * math.log(turn)", "tests/policies/test_forced.py"),
    Mutant("policies/optimism/ucb1.py", "return np.sqrt(2.0 * np.log(turns))",
           "return np.sqrt(np.log(turns))", "tests/policies/test_index_policies.py"),
    # What fewer cases, turns or lives go through (tests/README.md)
    Mutant("policies/best_arm/stopping.py", "(constants, mean, x, spread) + against",
           "(constants, mean, x, spread)", "tests/policies/test_stopping.py -k common_means"),
    Mutant("policies/change/run_lengths.py", "bank.members[j] = (1.0 - renewal) * kept",
           "bank.members[j] = (1.0 - renewal)", "tests/policies/test_drift.py"),
    Mutant("deciders/featured/arrays.py", "* given).sum(axis=1)", "* abs(given)).sum(axis=1)",
           "tests/agent/test_own_features.py"),
    Mutant("deciders/independent/independent.py", "        self._pending[row] -= asks\n",
           "        self._pending[row] -= 0\n", "tests/agent/test_properties.py"),
    # Deciders and studies, of which the state machine lives fewer and shorter lives
    Mutant("deciders/shares.py", "own.get(arm, 0.0) + rest * capped", "own.get(arm, 0.0) + capped",
           "tests/studies/test_publishing.py tests/agent/test_weights.py"),
    Mutant("studies/outcomes/book.py", "found.time + self.window > now)",
           "found.time + self.window >= now)", "tests/studies/test_windows.py"),
    Mutant("studies/outcomes/book.py", "self.silence if outcome.reward is None else outcome.reward",
           "outcome.reward", "tests/studies/test_windows.py"),
    Mutant("studies/log/chain.py", "if event.link != link(self.link, event, event.link[:8]):",
           "if False:", "tests/studies/test_chain.py"),
    Mutant("studies/unit_of_work.py", 'before.content["request"] != _digest(kind, request):',
           "False:", "tests/studies/test_change_keys.py"),
    # PostgreSQL, which is slow where it does the same as SQLite
    Mutant("studies/log/postgresql.py", "            self.execute(connection, lock, values[:1])\n",
           "            pass\n", "tests/studies/test_concurrency.py"),
    # What attacks, browsers and packages look at too
    Mutant("deciders/state_file.py", 'document.pop("checksum", None) != _checksum(document)',
           'document.pop("checksum", None) is None', "tests/agent/test_state_file.py"),
    Mutant("service/keys.py", "return None if key.revoked is not None else key", "return key",
           "tests/service/test_access.py -k revoked"),
    Mutant("escaping.py", "isinstance(cell, str) and cell.startswith(_FORMULA) else", "False else",
           "tests/cli/test_strangers.py"),
    Mutant("assignment/assign.py", 'place = int.from_bytes(digest[:4], "big")',
           'place = int.from_bytes(digest[:4], "little")', "tests/assignment/test_assign.py"),
    # Examples, which are interpreted
    Mutant("measures/betting_grid.py", "- math.log(self._whole)", "+ math.log(self._whole)",
           "tests/measures/test_bets.py"),
    Mutant("dispatch/breaker.py", "elif self.passed >= rules.probes:", "elif self.passed >= 1:",
           "tests/dispatch/test_breaker.py"),
    # Processes of the lab, whose kills are slow
    Mutant("problems/corrupted.py", "told = numbers[end - 2] if is_best else numbers[end - 1]",
           "told = numbers[end - 2]", "tests/problems tests/lab/test_simulate.py"),
    # Loops and scenes of the lab, of which fewer are compiled
    Mutant("lab/telling.py", "    if void or telling == LATE or (", "    if void or (",
           "tests/lab/test_delayed.py -k told_late"),
    Mutant("lab/delayed_loop.py", "        limits.shut[a] = not there\n",
           "        limits.shut[a] = False\n", "tests/lab/test_worlds.py -k any_layer"),
    Mutant("problems/featured/context_arms.py", "truth[end + 2 * arms : end + 2 * arms + size]",
           "truth[end + 3 * arms : end + 3 * arms + size]", "tests/lab/test_featured.py -k hybrid"),
    Mutant("chance.py", "return int(uniform(rng) * count)", "return int(uniform(rng) * count) // 2",
           "tests/test_chance.py"),
)  # fmt: skip


def result(mutant: Mutant) -> bool:
    """Return whether the tests fail on the mutant."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        file = sources / "belman" / mutant.file
        text = file.read_text(encoding="utf-8")
        if text.count(mutant.old) < 1:
            raise SystemExit(f"{mutant.file} has no {mutant.old!r} any more: mend the list")
        file.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(sources),
            "BELMAN_CACHE": str(Path(folder) / "cache"),
        }
        pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow"]
        command = [*pytest, "-p", "no:cacheprovider", *mutant.tests.split()]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stdout + done.stderr)
        return done.returncode == 1


def main(part: str = "") -> None:
    """Try every mutant whose file has a part in its name; leave with how many were not found."""
    survivors = 0
    for mutant in MUTANTS:
        if part in mutant.file:
            is_found = result(mutant)
            survivors += not is_found
            words = f"{mutant.file}: {mutant.new.strip()!r}: {mutant.tests}"
            print("found   " if is_found else "SURVIVES", words, flush=True)
    sys.exit(survivors)


if __name__ == "__main__":
    main(*sys.argv[1:])
