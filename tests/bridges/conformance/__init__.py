"""The published cases of other people's clients, run through belman's own code.

    python -m tests.bridges.conformance --growthbook cases.json --eppo FOLDER

Neither is part of a package, so both are downloaded first: GrowthBook's `cases.json` is in the
repositories of its SDKs (`tests/cases.json` of growthbook/growthbook-python), Eppo's folder is
`ufc` of Eppo-exp/sdk-test-data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

PASSED, REFUSED, FAILED = "passed", "refused", "failed"


class Outcome(NamedTuple):
    """What came of one case, and why if it did not pass."""

    section: str
    case: str
    verdict: str
    why: str = ""


def judged(section: str, case: object, result: object, wanted: object) -> Outcome:
    """Judge what was found by what the case wants."""
    if result == wanted:
        return Outcome(section, str(case), PASSED)
    return Outcome(section, str(case), FAILED, f"{result!r}, and the case has {wanted!r}")


def table(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Lines with the counts of every section, then the cases that did not pass, with reasons."""
    known = list(outcomes)
    counts = Counter((one.section, one.verdict) for one in known)
    sections = dict.fromkeys(one.section for one in known)
    width = max(map(len, sections), default=0)
    for section in sections:
        parts = (f"{counts[section, one]:4} {one}" for one in (PASSED, REFUSED, FAILED))
        yield f"{section:{width}} {'  '.join(parts)}"
    for verdict in (REFUSED, FAILED):
        for (section, why), n in Counter(
            (one.section, one.why if verdict == REFUSED else f"{one.case}: {one.why}")
            for one in known
            if one.verdict == verdict
        ).items():
            yield f"{verdict}: {section}, {n} × {why}"
