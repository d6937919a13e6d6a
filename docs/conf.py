"""The site of these pages, for Sphinx: ``just site``.

The pages are plain Markdown, so that they read well on GitHub too. Two things are added when Sphinx reads them: the
navigation, which is the links of each folder's first page, and the addresses on GitHub of files outside of this folder.
"""

import re
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx
from sphinx.util import logging

REPOSITORY = "https://github.com/reviewsd/reviewsd"
HERE = Path(__file__).parent
FIRST_PAGES = {"index", "README"}

project = "reviewsd"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # as GitHub makes them
nitpicky = True  # a link without a target is a warning

html_theme = "furo"
html_title = "reviewsd"
html_show_copyright = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
}

linkcheck_ignore = ["https?://"]  # the site is checked without a network

_log = logging.getLogger(__name__)
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_SECTION = re.compile(r"^## ", re.MULTILINE)


def _navigation(text: str) -> str:
    """Return a hidden toctree for each section of a first page that links to pages."""
    trees = []
    for section in _SECTION.split(text):
        caption = section.partition("\n")[0]
        links = dict.fromkeys(path for path, _ in _LINK.findall(section))
        pages = [path for path in links if path.endswith(".md") and not path.startswith("..")]
        if pages:
            lines = [] if caption.startswith("# ") else [f":caption: {caption}"]
            trees.append("\n".join(["", "```{toctree}", ":hidden:", *lines, "", *pages, "```", ""]))
    return "".join(trees)


def _read(_app: Sphinx, name: str, source: list[str]) -> None:
    """Add navigation and addresses to the text of a page."""
    folder = (HERE / name).parent

    def on_github(link: re.Match[str]) -> str:
        path = (folder / link[1]).resolve()
        if path.is_relative_to(HERE):
            return link[0]
        if not path.exists():
            _log.warning("no such file: %s", link[1], location=name)
        kind = "tree" if path.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{path.relative_to(HERE.parent)}{link[2] or ''})"

    source[0] = _LINK.sub(on_github, source[0])
    if PurePosixPath(name).name in FIRST_PAGES:
        source[0] += _navigation(source[0])


def setup(app: Sphinx) -> None:
    """Have Sphinx call ``_read`` for each page."""
    app.connect("source-read", _read)
