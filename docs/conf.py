"""The documentation site: Sphinx reads the Markdown under docs/, `make docs` builds it.

What is generated (names, commands, routes, terms) is written into pages as they are read, at their
`<!-- generated: … -->` lines: see `tools/extension/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from belman.version import __version__

project = "belman"
copyright = "the belman developers"
author = "the belman developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "extension"]
exclude_patterns = ["examples", "static"]
suppress_warnings = ["ref.python"]  # two classes may have one name: links to them are left out
myst_heading_anchors = 4
smartquotes = False

default_role = "code"  # docstrings put code between single backticks
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = True
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
add_module_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"belman {release}"
html_favicon = "../src/belman/dashboard/static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["filters.js"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_use_index = True
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc0ee",
        "color-brand-content": "#7cc0ee",
    },
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
