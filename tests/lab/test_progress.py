"""What a person sees while a design is run: a line where no bar is and compiling takes long."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

import belman
from belman.lab import run
from belman.lab.simulation import Simulation


class Lines(io.StringIO):
    """What is written, and an event for the first line."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        super().write(text)
        self.written.set()
        return len(text)


class Slow(Simulation):
    """A design whose players take until a line is written, or a moment, to compile."""

    def runner(self, player):
        player.wait(60.0 if self.seed else 0.0)
        return super().runner(belman.Thompson())


def compiled(lines, show, waits=True):
    design = Slow({"slow [one]": lines.written}, belman.problems.bernoulli([0.5]), 1, 1, int(waits))
    with run.progress_bar(1, show, Console(file=lines, force_terminal=False)) as screen:
        run._compile(design, screen)
    return lines.getvalue()


def test_compiling_that_takes_long_is_said_in_a_line(monkeypatch):
    monkeypatch.setattr(run, "_PATIENCE", 0.0)
    said = compiled(Lines(), show=None)
    assert said.startswith("compiling slow [one], which is done once")
    assert said.count("\n") == 1


def test_compiling_that_is_quick_is_not_mentioned(monkeypatch):
    monkeypatch.setattr(run, "_PATIENCE", 600.0)
    assert compiled(Lines(), show=None, waits=False) == ""


@pytest.mark.parametrize("show", [False, True])
def test_who_asked_for_silence_or_a_bar_gets_no_line(show):
    lines = Lines()
    with run.progress_bar(1, show, Console(file=lines, force_terminal=False)) as screen:
        screen.print_without_bar("compiling")
    assert "compiling" not in lines.getvalue()
