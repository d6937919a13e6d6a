"""Nothing that the public reads calls reviews verified that may not be (pages.md 3).

Whether a review is verified is a member of each; what speaks of all of them cannot know it.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest

import reviewsd
from reviewsctl.manual import shares as manual
from reviewsd import __main__ as program
from reviewsd.domain.reviews import Business
from reviewsd.mcp.tools import LISTING
from reviewsd.publish.openapi import document
from tests.support.documents import documents
from tests.support.pages import Place, review
from tests.test_modules import ROOT

_CLAIM = re.compile(r"verified[\s\"'*_`]+(customer[\s\"'*_`]+)?reviews?\b", re.IGNORECASE)
_PACKAGES = (ROOT / "packaging" / "deb" / "control", ROOT / "server.json", ROOT / "Containerfile")
_PAGES = (
    *("/", "/index.md", "/index.json", "/reviews", "/reviews.md", "/r/a", "/r/a.md", "/embed"),
    *("/llms.txt", "/llms-full.txt", "/developers", "/developers/api", "/developers/mcp"),
    *("/developers/mcp/tools", "/developers/data-model/reviews", "/opensearch.xml"),
    *("/.well-known/openapi.json", "/.well-known/ai-catalog.json", "/mcp/server-card"),
    "/.well-known/agent-skills/customer-reviews/SKILL.md",
)


@pytest.mark.parametrize("path", [*documents(), *_PACKAGES], ids=lambda path: path.name)
def test_document_claims_nothing_of_all_reviews(path: Path) -> None:
    assert [] == [match[0] for match in _CLAIM.finditer(path.read_text())]


def test_program_claims_nothing_of_all_reviews() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["description"]
    texts = (described, reviewsd.__doc__ or "", program._parser().format_help(), LISTING.decode())
    openapi = json.dumps(json.loads(document.render("https://a.example", Business(name="Acme"))))
    assert [] == [match[0] for text in (*texts, openapi) for match in _CLAIM.finditer(text)]


@pytest.mark.processes
def test_manual_claims_nothing_of_all_reviews() -> None:
    """It has the help of all commands."""
    assert [] == [name for name, text in manual.pages().items() if _CLAIM.search(text)]


def test_page_claims_nothing_of_reviews_that_nobody_checked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.publish([review(verified=False)])
    for target in _PAGES:
        response = place.get(target)
        assert 200 == response.status, target
        assert _CLAIM.search(response.body.decode()) is None, target
