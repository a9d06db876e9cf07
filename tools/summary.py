"""Write what README and docs/ quote of the full report: pictures, verdicts, regrets. Run by `make
images`.

`docs/paper.json` remembers which designs were played and what the first runs gave, so that a test
can tell when a page is out of step: see tests/test_docs_summary.py.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np

from belman.figures import CLAIMS, FIGURES, FULL, Curves, Effort, figure_data
from belman.figures.curves import last
from belman.files import write_atomically
from belman.lab.simulation import simulate
from belman.measures import half_width

ROOT = Path(__file__).parent.parent
FACTS = ROOT / "docs" / "paper.json"
PICTURES = (
    "first-look",
    "manifold",
    "beliefs",
    "focal",
    "bernoulli-20",
    "exponential-5-bounded",
    "bernoulli-20-long",
    "schedule-map",
)
HEADLINE = "first-look"
PAGES = {ROOT / "README.md": ("regret",), ROOT / "docs" / "guide" / "paper.md": ("claims",)}


def designs() -> str:
    """A hash of everything that the full report plays."""
    described = {
        name: {part: made.description for part, made in figure.parts(FULL).items()}
        for name, figure in FIGURES.items()
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def first_runs() -> dict[str, dict[str, list[float]]]:
    """The regret at the end of the first two runs of every player of the headline, played now."""
    matches = {}
    headline = FIGURES[HEADLINE]
    assert isinstance(headline, Curves)
    for name, part in headline.parts(Effort("two runs", exactly=2)).items():
        design = part.design
        assert design is not None
        result = simulate(
            design.players, design.problem, design.horizon, 2, design.seed, progress=False
        )
        ends = result.regret.isel(turn=-1)
        matches[name] = {
            str(player): np.round(ends.sel(player=player).values, 9).tolist()
            for player in result.player.values
        }
    return matches


def facts(folder: Path) -> dict[str, object]:
    """What the full report says, from the data that it left."""
    everything = {
        name: figure_data(figure, FULL, folder, print, None) for name, figure in FIGURES.items()
    }
    headline = everything[HEADLINE]
    regrets = {
        panel: {
            str(p): [float(last([data], str(p)).mean()), float(half_width(last([data], str(p))))]
            for p in data.player.values
        }
        for panel, data in headline.items()
    }
    claims = []
    for claim in CLAIMS:
        judged = claim.judge(everything)
        held = sum(check.holds is True for check in judged.checks)
        claims.append(
            [
                claim.number,
                claim.title,
                claim.says,
                f"{judged.verdict} ({judged.reading})" if judged.reading else str(judged.verdict),
                f"{held} of {len(judged.checks)}",
            ]
        )
    return {"designs": designs(), "first_runs": first_runs(), "regret": regrets, "claims": claims}


def blocks(known: dict[str, object]) -> dict[str, str]:
    """The pieces of Markdown by name."""
    regrets: dict[str, dict[str, list[float]]] = known["regret"]  # type: ignore[assignment]
    players = list(next(iter(regrets.values())))
    lines = ["| | " + " | ".join(players) + " |", "|---|" + "---|" * len(players)]
    for panel, row in regrets.items():
        lines.append(
            f"| {panel} | "
            + " | ".join(f"{mean:.1f} ± {half:.1f}" for mean, half in row.values())
            + " |"
        )
    claims: list[list[object]] = known["claims"]  # type: ignore[assignment]
    rows = [
        "| | claim | the paper says | the data say | checks that hold |",
        "|---|---|---|---|---|",
    ]
    rows += ["| " + " | ".join(map(str, claim)) + " |" for claim in claims]
    return {"regret": "\n".join(lines), "claims": "\n".join(rows)}


def with_blocks(text: str, names: tuple[str, ...], known: dict[str, object]) -> str:
    """A page whose pieces, between `<!-- name -->` and `<!-- /name -->`, are what is known."""
    for name in names:
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        head, rest = text.split(start)
        text = f"{head}{start}\n{blocks(known)[name]}\n{end}{rest.split(end)[1]}"
    return text


def main(report: Path) -> None:
    """Bring every page in step with a full report."""
    folder = report / "figures"
    known = facts(folder)
    for name in PICTURES:
        shutil.copyfile(folder / name / f"{name}.png", ROOT / "docs" / "images" / f"{name}.png")
    for path, names in PAGES.items():
        write_atomically(path, with_blocks(path.read_text(encoding="utf-8"), names, known))
    write_atomically(FACTS, json.dumps(known, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
