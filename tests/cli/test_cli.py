"""The command line: what it prints, what it writes, what it refuses, and that every option is
documented.
"""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer.main
import xarray
from typer.testing import CliRunner

import belman
from belman import spec
from belman.cli import app, main, parse
from belman.errors import BelmanError, PolicyError, SettingError, StateError
from belman.policies import POLICIES, EpsilonGreedy, Forced, Gittins, Phases, SuccessiveRejects

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "command-line.md"


def invoke(*words: str):
    return CliRunner().invoke(app, list(words))


def commands(group, path=()):
    """Every command with its path."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_is_in_the_guide_and_every_option_has_help():
    guide = GUIDE.read_text(encoding="utf-8")
    for path, command in commands(typer.main.get_command(app)):
        name = f"belman {' '.join(path)}"
        assert f"`{name}`" in guide or f"`{name} " in guide or f"\n{name} " in guide, name
        assert command.help, path
        assert [option.name for option in command.params if not option.help] == [], path


def test_the_guide_names_no_option_that_is_not_there():
    known = {
        word
        for _, command in commands(typer.main.get_command(app))
        for o in command.params
        for word in [*o.opts, *o.secondary_opts]
    }
    named = re.findall(r"(?<!\S)`?(--[a-z-]+)", GUIDE.read_text(encoding="utf-8"))
    assert named
    assert set(named) <= {*known, "--help"}


def test_list_names_everything():
    done = invoke("list")
    assert done.exit_code == 0
    for name in [*belman.families.FAMILIES, *POLICIES, *spec.PRESETS, *belman.exposure.EXPOSURES]:
        assert name in done.output


def test_run_writes_a_table_a_picture_and_the_data(tmp_path):
    done = invoke(
        "run",
        "--means",
        "0.8,0.9",
        "--policies",
        "belman,thompson",
        "--horizon",
        "60",
        "--runs",
        "8",
        "--output",
        str(tmp_path),
    )
    assert done.exit_code == 0, done.output
    assert "belman" in done.output
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert len(rows) == 3 * 2 * 60
    stored = xarray.open_dataset(tmp_path / "curves.nc", engine="scipy")
    played = {name: parse.policy(name, 60) for name in ("belman", "thompson")}
    again = belman.simulate(played, belman.problems.bernoulli([0.8, 0.9]), 60, 8, 0)
    assert (stored.regret.values == again.regret.values).all()
    last = [
        row
        for row in rows
        if row["variable"] == "regret" and row["turn"] == "60" and row["player"] == "belman"
    ]
    assert float(last[0]["mean"]) == pytest.approx(
        float(again.regret.sel(player="belman", turn=60).mean()), rel=1e-5
    )


def test_a_config_file_is_read_and_the_line_wins(tmp_path):
    config = tmp_path / "design.toml"
    config.write_text('means = [0.8, 0.9]\npolicies = ["thompson"]\nhorizon = 20\nruns = 3\n')
    done = invoke("run", "--config", str(config), "--runs", "4", "--output", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "turn 20, 4 runs" in done.output


@pytest.mark.parametrize(
    ("words", "error", "named"),
    [
        (
            ["run", "--means", "0.8,0.9", "--policies", "thomson"],
            PolicyError,
            "did you mean 'thompson'",
        ),
        (["run", "--means", "0.8,1.9"], BelmanError, "1.9"),
        (["run", "--means", "a,b"], SettingError, "list of numbers"),
        (["run"], SettingError, "--means"),
        (["run", "--means", "0.5", "--random-arms", "3"], SettingError, "either"),
        (["run", "--means", "0.5", "--window", "3"], SettingError, "both delays and a window"),
        (
            ["run", "--means", "0.5", "--window", "3", "--delays", "soon"],
            SettingError,
            "not a distribution of SciPy",
        ),
        (
            ["run", "--means", "0.5", "--family", "bernouli"],
            BelmanError,
            "did you mean 'bernoulli'",
        ),
        (["run", "--means", "0.5", "--horizon", "0"], SettingError, "horizon=0"),
        (["run", "--means", "0.5", "--runs", "0"], SettingError, "runs=0"),
        (["run", "--means", "0.5", "--setting", "sigma=2"], BelmanError, "sigma"),
        (
            ["run", "--means", "0.5", "--policies", "thompson:width=3"],
            PolicyError,
            "no setting 'width'",
        ),
        (["run", "--means", "0.5", "--executor", "moon"], SettingError, "moon"),
    ],
)
def test_bad_words_are_refused_and_nothing_is_written(words, error, named, tmp_path):
    output = tmp_path / "out"
    if words[0] == "run":
        words = [*words, "--output", str(output)]
    done = invoke(*words)
    assert isinstance(done.exception, error)
    assert named in str(done.exception)
    assert not output.exists() or not any(output.iterdir())


def test_an_unknown_key_of_a_config_file_is_refused(tmp_path):
    config = tmp_path / "design.toml"
    config.write_text("horizn = 20\n")
    done = invoke("run", "--config", str(config))
    assert isinstance(done.exception, SettingError)
    assert "did you mean 'horizon'" in str(done.exception)


def test_a_store_of_another_design_is_refused(tmp_path):
    line = ["run", "--means", "0.8,0.9", "--policies", "thompson", "--horizon", "20", "--runs", "3"]
    line += ["--store", str(tmp_path / "store"), "--output", str(tmp_path / "out")]
    assert invoke(*line).exit_code == 0
    assert isinstance(invoke(*line, "--seed", "1").exception, StateError)


def test_errors_are_one_line_and_exit_code_two(tmp_path):
    command = [
        sys.executable,
        "-m",
        "belman",
        "run",
        "--means",
        "0.5",
        "--policies",
        "thomson",
        "--output",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "did you mean 'thompson'?" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_settings_and_several_policies_on_one_line():
    from belman.cli.parse import split_policies

    assert split_policies("belman, epsilon-greedy:epsilon=0.05,thompson") == [
        "belman",
        "epsilon-greedy:epsilon=0.05",
        "thompson",
    ]
    assert split_policies("x:a=1,b=2,thompson") == ["x:a=1,b=2", "thompson"]
    scaled = "kl-ucb:divergence=bernoulli,range=(0, 10)"
    assert split_policies(f"{scaled},ucb1") == [scaled, "ucb1"]
    assert parse.policy(scaled, 100) == belman.policies.KLUCB(divergence="bernoulli", range=(0, 10))
    inside = "phases:turns=20,first=epsilon-greedy:epsilon=0.2"
    assert split_policies(f"{inside},ucb1") == [inside, "ucb1"]


def test_policies_and_exposures_inside_others():
    phases = Phases(EpsilonGreedy(0.2), belman.BelMan(belman.exposure.two_phase(5)), 20)
    then = "(belman:exposure=(two-phase:explore=5))"
    for words, wanted in {
        f"phases:turns=20,first=epsilon-greedy:epsilon=0.2,then={then}": phases,
        "belman:exposure=paper": belman.BelMan.paper(),
        "belman:exposure=paper,reading=natural": belman.BelMan.paper("natural"),
        "belman:exposure=(evidence:pool=inf,gain=1)": belman.BelMan(
            belman.exposure.Evidence(pool=math.inf, gain=1)
        ),
        "forced:policy=(kl-ucb:divergence=bernoulli,range=(0, 10)),arms=3": Forced(
            belman.policies.KLUCB(divergence="bernoulli", range=(0, 10)), arms=3
        ),
        "forced:policy=belman-until": Forced(belman.BelMan.until(100)),
        "gittins": Gittins(horizon=100),
        "successive-rejects": SuccessiveRejects(100),
    }.items():
        assert parse.policy(words, 100) == wanted
    assert parse.exposure("two-phase:explore=3,then=(constant:tau=0.5)") == (
        belman.exposure.two_phase(3, belman.exposure.Constant(0.5))
    )
    for words, named in {
        "belman:exposure=papper": "did you mean 'paper'",
        "explore-then-commit": "lacks a setting: 'explore'",
        "ids:draws": "write draws=…",
        "tests.own:Layered": "unknown policy 'tests.own'",
    }.items():
        with pytest.raises(BelmanError, match=named):
            parse.policy(words, 100)


def test_queue_writes_a_table_a_picture_and_the_data(tmp_path):
    line = [
        "queue",
        "--services",
        "0.5,0.3;0.3,0.5",
        "--arrivals",
        "0.3,0.2",
        "--policies",
        "random,oracle",
    ]
    done = invoke(*line, "--horizon", "60", "--runs", "5", "--output", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert "queues at turn 60, 5 runs" in done.output
    assert (tmp_path / "queues.png").read_bytes().startswith(b"\x89PNG")
    stored = xarray.open_dataset(tmp_path / "queues.nc", engine="scipy")
    assert stored.jobs.dims == ("player", "run", "turn", "queue")
    stored.close()
    refused = invoke("queue", "--services", "0.5,1.3", "--arrivals", "0.3")
    assert refused.exit_code != 0


def test_warm_compiles_into_the_cache(tmp_path, monkeypatch):
    """Interpreted here, since compiling takes half a minute: the study is played all the same."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("BELMAN_COMPILE", "background")
    result = invoke("warm", "--family", "gaussian", "--family", "poisson")
    assert result.exit_code == 0, result.output
    assert "gaussian: " in result.output
    assert "compiled code is in" in result.output
    refused = invoke("warm", "--family", "bernouli")
    assert "did you mean 'bernoulli'" in str(refused.exception)


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_warning_is_a_line_of_its_words(monkeypatch, capsys):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr("sys.argv", ["belman", "--version"])
    with pytest.raises(SystemExit):
        main()
    warnings.warn("a weight of [red]\x1b[31mred", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: a weight of [red]\\u001b[31mred\n"
