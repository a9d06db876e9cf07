"""What a person sees while a simulation runs: a bar with turns per second and time left; silent
where no terminal is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text


class _TurnsPerSecond(ProgressColumn):
    def render(self, task: Any) -> Text:
        speed = task.finished_speed or task.speed
        return Text(
            "" if speed is None else f"{speed / 1e6:.2f} M turns/s", style="progress.data.speed"
        )


@contextlib.contextmanager
def progress_bar(
    total: int, show: bool | None, console: Console | None = None
) -> Iterator[tuple[Callable[[str], None], Callable[[int], None]]]:
    """Two functions, `say(what is going on)` and `advance(turns)`; `show` None means only on a
    terminal.
    """
    screen = console or Console(stderr=True)
    visible = screen.is_terminal if show is None else show
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        _TurnsPerSecond(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, disable=not visible, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield (
            lambda words: bar.update(task, description=words),
            lambda turns: bar.advance(task, turns),
        )
