"""pytest: tests of candidates over items that stop when the best candidate is known.

Tests that are marked `race` are parametrised by candidates, and by the items of the mark:

    @pytest.mark.race(items=QUESTIONS, epsilon=0.05, best="new")
    @pytest.mark.parametrize("candidate", ["old", "new"])
    def test_answers(candidate, item, score):
        score(graded(ask(candidate, item)))

Items come in the order of `belman.analysis.Race`, all candidates that are left one after the other;
what need not be asked any more is skipped, and the end of the run says which candidate is best.
Without `score` a test that passes scores 1, and one that fails an assertion 0. Where `best` is
named and another candidate is, the run fails. All else is as it was: a project without the mark
notices nothing, and `-p no:belman` leaves the plug-in out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from belman.analysis import Race

_CANDIDATE, _ITEM = "candidate", "item"
#: What a mark may say; the rest are settings of `Race`.
_OWN = {"items", "best", "candidate"}
_SETTINGS = {"delta", "epsilon", "range", "seed"}


@dataclass
class _Contest:
    """One marked function: its race, what it expects, and the scores of the item under way."""

    name: str
    race: Race
    best: Any
    scores: dict[Any, float] = field(default_factory=dict)
    broken: str = ""
    partial: bool = False

    @property
    def is_raced(self) -> bool:
        """Whether all that a race needs was selected, and ran to its end so far."""
        return not self.broken and not self.partial

    def is_needed(self, candidate: Any, number: int) -> bool:
        """Whether a candidate has to answer an item now."""
        return self.race.next() == number and candidate in self.race.left

    def take(self, candidate: Any, score: float) -> None:
        """Take a score; the last one of an item is told with the others."""
        self.scores[candidate] = score
        if self.scores.keys() >= set(self.race.left):
            scores, self.scores = self.scores, {}
            self.race.tell(scores)

    @property
    def failed(self) -> str:
        """What is wrong with the answer, if anything is."""
        if self.broken or self.partial:
            return self.broken
        result = self.race.result()
        named = [result.best] if result.best is not None else list(result.tied)
        if self.best is None or self.best in named:
            return ""
        return f"{self.best} was to be best" if named else f"it is not known that {self.best} is"


_CONTESTS = pytest.StashKey[dict[str, _Contest]]()
_SCORED = pytest.StashKey[list[float]]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    words = "race(items, delta=0.05, epsilon=0.0, range=(0, 1), seed=0, best=None)"
    what = "candidates answer items until the best one is known (belman)"
    config.addinivalue_line("markers", f"{words}: {what}")
    config.addinivalue_line("markers", "race_item(number): the number of an item of a race")
    config.stash[_CONTESTS] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise a marked test by the items of its mark."""
    mark = metafunc.definition.get_closest_marker("race")
    if mark is None:
        return
    _check(mark, metafunc)
    numbered = (
        pytest.param(item, id=f"item {number}", marks=pytest.mark.race_item(number))
        for number, item in enumerate(_items(mark))
    )
    metafunc.parametrize(_ITEM, list(numbered))


def _check(mark: pytest.Mark, metafunc: pytest.Metafunc) -> None:
    name = metafunc.definition.nodeid
    if mark.args or "items" not in mark.kwargs:
        raise pytest.UsageError(f"{name}: name the items, @pytest.mark.race(items=[…])")
    if strange := sorted(mark.kwargs.keys() - _OWN - _SETTINGS):
        allowed = ", ".join(sorted(_OWN | _SETTINGS))
        raise pytest.UsageError(f"{name}: a race has no setting {strange[0]!r}, but {allowed}")
    if not list(_items(mark)):
        raise pytest.UsageError(f"{name}: a race needs items, and items=… has none")
    for needed in (mark.kwargs.get("candidate", _CANDIDATE), _ITEM):
        if needed not in metafunc.fixturenames:
            raise pytest.UsageError(f"{name}: a test of a race takes {needed!r} as an argument")


def _items(mark: pytest.Mark) -> Sequence[Any]:
    return list(mark.kwargs["items"])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make a race of every marked function, and put its tests in the order of the race."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("race") is not None:
            groups.setdefault(_function(item), []).append(item)
    if not groups:
        return
    if hasattr(config, "workerinput"):
        words = "a race needs all of its tests in one process"
        remedy = "run it without xdist (-n 0), or leave it out (-m 'not race')"
        raise pytest.UsageError(f"{words}: {remedy}")
    for name, group in groups.items():
        config.stash[_CONTESTS][name] = contest = _contest(name, group)
        position = {number: at for at, number in enumerate(contest.race.order)}
        slots = [i for i, item in enumerate(items) if item in set(group)]
        group.sort(key=lambda item, position=position: position[_number(item)])  # type: ignore[misc]
        for slot, item in zip(slots, group, strict=True):
            items[slot] = item


def _contest(name: str, group: list[pytest.Item]) -> _Contest:
    from belman.analysis import Race
    from belman.errors import BelmanError

    mark = group[0].get_closest_marker("race")
    assert mark is not None
    settings = {key: value for key, value in mark.kwargs.items() if key in _SETTINGS}
    candidates = list(dict.fromkeys(_candidate(item) for item in group))
    try:
        result = Race(candidates, len(_items(mark)), **settings)
    except BelmanError as error:
        raise pytest.UsageError(f"{name}: {error}") from None
    answers = {(_candidate(item), _number(item)) for item in group}
    if len(answers) != len(group):
        raise pytest.UsageError(f"{name}: a race is over candidates and items, and nothing else")
    contest = _Contest(name, result, mark.kwargs.get("best"))
    if len(answers) < len(candidates) * len(result.order):
        contest.partial = True
    return contest


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _number(item: pytest.Item) -> int:
    mark = item.get_closest_marker("race_item")
    assert mark is not None
    return int(mark.args[0])


def _candidate(item: pytest.Item) -> Any:
    """Return the name of a candidate: itself, or its id where it cannot be a name."""
    mark = item.get_closest_marker("race")
    assert mark is not None
    result = item.callspec.params[mark.kwargs.get("candidate", _CANDIDATE)]  # type: ignore[attr-defined]
    try:
        hash(result)
    except TypeError:
        return getattr(result, "__name__", repr(result))
    return result


@pytest.fixture
def score(request: pytest.FixtureRequest) -> Callable[[float], None]:
    """A function that takes what the answer of a candidate is worth, in a test marked `race`."""
    if request.node.get_closest_marker("race") is None:
        pytest.fail("score is for tests with @pytest.mark.race(items=[…])", pytrace=False)

    def take(value: float) -> None:
        request.node.stash[_SCORED] = [float(value)]

    return take


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what need not be asked any more."""
    contest = item.config.stash[_CONTESTS].get(_function(item))
    if contest is None or not contest.is_raced:
        return
    if not contest.is_needed(_candidate(item), _number(item)):
        pytest.skip("the race has its answer" if contest.race.next() is None else "out of the race")


@pytest.hookimpl(hookwrapper=True)  # as pluggy has them since 2015: every project loads this file
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, Any, None]:
    """Take the score of a test that ran; a failed assertion is a score of 0 and no failure."""
    report: pytest.TestReport = (yield).get_result()
    contest = item.config.stash[_CONTESTS].get(_function(item))
    if contest is None or not contest.is_raced:
        return
    error = None if call.excinfo is None else call.excinfo.value
    if call.when == "call" and (error is None or isinstance(error, AssertionError)):
        scored = item.stash.get(_SCORED, [])
        low, high = contest.race.low, contest.race.high
        value = low if error is not None else scored[0] if scored else high
        _take(contest, item, report, value)
        if error is not None and not contest.broken:
            report.outcome, report.wasxfail = "skipped", "scores 0"
    elif error is not None and report.outcome == "failed":
        contest.broken = f"{item.name} did not run to its end"


def _take(contest: _Contest, item: pytest.Item, report: pytest.TestReport, value: float) -> None:
    from belman.errors import BelmanError

    try:
        contest.take(_candidate(item), value)
    except BelmanError as error:
        contest.broken = str(error)
        report.outcome, report.longrepr = "failed", str(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run where a race has another answer than was expected."""
    contests = session.config.stash[_CONTESTS].values()
    is_run = not session.config.option.collectonly
    if is_run and session.exitstatus == pytest.ExitCode.OK and any(one.failed for one in contests):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say who is best."""
    contests = config.stash[_CONTESTS]
    if not contests or config.option.collectonly:
        return
    terminalreporter.section("races")
    for contest in contests.values():
        words, said = contest.failed, contest.race.result().sentence
        if contest.partial:
            said = "no race, since some of its tests were not selected"
        terminalreporter.line(f"{contest.name}: {said}")
        if words:
            terminalreporter.line(f"{contest.name}: FAILED, {words}", red=True)
