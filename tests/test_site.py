"""The site of the documents is built without a warning (docs/contributing/documents.md)."""

import sys
from pathlib import Path

import pytest

from tests.support.programs import run_program
from tests.test_modules import ROOT

INCOMPLETE = "WARNING: search index couldn't be loaded, but not all documents will be built: "
"""The one warning of a build that writes a single page."""


@pytest.mark.processes
def test_site_has_no_warning_and_no_dead_link(tmp_path: Path) -> None:
    """Links, anchors, images and the navigation are checked on every page, and one page is written.

    ``just site`` writes all pages, which takes twice as long.
    """
    assert [] == warnings(tmp_path, "linkcheck")
    lines = warnings(tmp_path, "html", ROOT / "docs" / "index.md")
    assert [] == [line for line in lines if not line.startswith(INCOMPLETE)]
    first_page = (tmp_path / "html" / "index.html").read_text()
    assert 'href="how-to/install.html"' in first_page


def warnings(target: Path, builder: str, *pages: Path) -> list[str]:
    """Run Sphinx with a builder and return its warnings, one a line."""
    options = ("-q", "-N", "-n", "-b", builder, "-d", target / "doctrees")
    done = run_program(
        [sys.executable, "-m", "sphinx", *options, ROOT / "docs", target / builder, *pages]
    )
    assert 0 == done.returncode, done.stderr
    return done.stderr.splitlines()
