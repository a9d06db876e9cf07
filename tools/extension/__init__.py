"""What Sphinx is taught: pages that are generated in part, and a description for every page."""

from __future__ import annotations

from typing import Any

from extension import commands, descriptions, names, routes, terms

#: What may stand in `<!-- generated: NAME ARGUMENTS -->`, and who writes it.
GENERATED = {
    "commands": commands.markdown,
    "names": names.markdown,
    "routes": routes.markdown,
    "terms": terms.markdown,
}


def written(text: str) -> str:
    """Return a page with its `<!-- generated: … -->` lines written out, without the note for those
    who read it in the repository (`> The site …`), and without the blank line that ends the
    examples in a block of code.
    """
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("```"):
            if inside and line == "```" and not lines[-1]:
                lines.pop()
            inside = not inside
        if line.startswith("<!-- generated: ") and line.endswith(" -->"):
            name, *arguments = line.removeprefix("<!-- generated: ").removesuffix(" -->").split()
            lines.append(GENERATED[name](*arguments))
        elif not line.startswith("> The site that `make docs` builds "):
            lines.append(line)
    return "\n".join(lines)


def _read(app: Any, page: str, source: list[str]) -> None:
    if "<!-- generated: " in source[0]:
        app.env.note_reread()  # what is generated changes without the page
    source[0] = written(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _read)
    app.connect("html-page-context", descriptions.describe)
    app.connect("autodoc-process-docstring", names.as_restructured_text)
    app.connect("autodoc-process-signature", names.plain_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
