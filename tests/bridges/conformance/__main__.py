"""Run published cases from where they were downloaded."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.bridges.conformance import FAILED, Outcome, eppo, growthbook, table


def main() -> int:
    """Print what came of all cases; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bridges.conformance")
    parser.add_argument("--growthbook", type=Path, metavar="FILE", help="GrowthBook's cases.json")
    parser.add_argument("--eppo", type=Path, metavar="FOLDER", help="ufc of Eppo's sdk-test-data")
    given = parser.parse_args()
    if given.growthbook is None and given.eppo is None:
        parser.error("give --growthbook FILE, --eppo FOLDER, or both")
    result: list[Outcome] = []
    if given.growthbook is not None:
        cases = json.loads(given.growthbook.read_text(encoding="utf-8"))
        print(f"GrowthBook's cases, version {cases.get('specVersion', 'unknown')}")
        result += growthbook.outcomes(cases)
    if given.eppo is not None:
        result += eppo.outcomes(given.eppo)
    print(*table(result), sep="\n")
    return int(any(one.verdict == FAILED for one in result))


if __name__ == "__main__":
    sys.exit(main())
