"""The views of results for hosts with MCP Apps (extension io.modelcontextprotocol/ui, 2026-01-26; mcp.md 5.7).

``tests/conformance/apps.sh`` shows them in a browser.
"""

import base64
import dataclasses
import hashlib
import json
import re
from typing import Any

import msgspec
import pytest

from reviewsd.config.schema import Pages
from reviewsd.mcp.tools import LISTING
from reviewsd.mcp.views import MEDIA_TYPE
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.columns import review
from tests.support.mcp import Bench
from tests.support.publishing import Directories
from tests.support.tools import published

URIS = [f"ui://reviews/{name}" for name in ("business", "search", "summary")]
MAX_BYTES = 30_000
NAME = "Müller </script><b>&"


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A snapshot with pages in German."""
    directories = Directories(tmp_path_factory.mktemp("german"))
    settings = dataclasses.replace(directories.order.settings, pages=Pages(accent="#aa0000"))
    directories.order = msgspec.structs.replace(directories.order, settings=settings)
    directories.write(review("a"), {**review("b"), "source": "website"}, name=NAME, language="de")
    return published(directories)


def content(bench: Bench, uri: str) -> Any:
    """Read a view."""
    (content,) = bench.ask_modern("resources/read", uri.encode(), uri=uri).json["result"][
        "contents"
    ]
    return content


def settings(document: str) -> Any:
    """Return the settings of the script of a view."""
    (block,) = re.findall('<script type="application/json" id="settings">(.*?)</script>', document)
    return json.loads(block)


def test_three_tools_have_views() -> None:
    """Every client gets the same list, which is why hosts without views must tolerate it."""
    tools = json.loads(LISTING)["tools"]
    assert {"get_business": URIS[0], "search_reviews": URIS[1], "get_summary": URIS[2]} == {
        tool["name"]: tool["_meta"]["ui"]["resourceUri"] for tool in tools if "_meta" in tool
    }


@pytest.mark.parametrize("uri", URIS)
def test_view_is_a_small_document_in_all_revisions(bench: Bench, uri: str) -> None:
    view = content(bench, uri)
    assert (uri, MEDIA_TYPE) == (view["uri"], view["mimeType"])
    assert {"ui": {"prefersBorder": True}} == view["_meta"]  # without csp nothing may be requested
    assert view["text"].startswith("<!DOCTYPE html>\n<html lang=")
    assert f'<body data-view="{uri.rpartition("/")[2]}">' in view["text"]
    assert len(view["text"].encode()) < MAX_BYTES
    for version in ("2025-06-18", "2025-11-25"):
        (same,) = bench.ask(bench.session(version), "resources/read", uri=uri).json["result"][
            "contents"
        ]
        assert view == same


@pytest.mark.parametrize("uri", URIS)
def test_view_runs_only_its_own_script(bench: Bench, uri: str) -> None:
    """Markup from elsewhere would neither run nor request anything, whatever the host allows."""
    document = content(bench, uri)["text"]
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', document)
    (style,) = re.findall("<style>(.*?)</style>", document, re.DOTALL)
    *_, script = re.findall("<script[^>]*>(.*?)</script>", document, re.DOTALL)
    script_hash, style_hash = (
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in (script, style)
    )

    assert (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}';"
        " base-uri 'none'; form-action 'none'"
    ) == policy
    assert 2 == document.count("<script")
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "url("):
        assert sink not in script + style


def test_view_has_the_words_and_colors_of_the_pages(german: Snapshot) -> None:
    document = content(Bench(german), URIS[1])["text"]
    options = settings(document)

    assert '<html lang="de" dir="ltr">' in document
    assert "Bewertung öffnen" == options["words"]["open_review"]
    assert f"Antwort von {NAME}" == options["words"]["reply"]
    assert {"google": "Google", "website": "unsere Website"} == options["sources"]
    assert "#aa0000" == options["colors"]["accent"][0]
    assert (True, "https://reviews.example", "de") == (
        options["pages"],
        options["origin"],
        options["language"],
    )


def test_name_of_the_business_is_no_markup(german: Snapshot) -> None:
    document = content(Bench(german), URIS[2])["text"]
    assert 2 == document.count("</script>")
    assert "<b>" not in document


def test_site_without_pages_has_views_without_links(bench: Bench) -> None:
    """``/r/{id}`` does not exist there; the words are English."""
    options = settings(content(bench, URIS[0])["text"])
    assert (False, "Open the review", "en") == (
        options["pages"],
        options["words"]["open_review"],
        options["language"],
    )


def test_view_follows_the_data(bench: Bench, german: Snapshot) -> None:
    english = content(bench, URIS[0])
    bench.snapshot = german
    assert english != content(bench, URIS[0])


@pytest.mark.parametrize("uri", ["ui://reviews/", "ui://reviews/review", "ui://other/search"])
def test_unknown_view_is_not_found(bench: Bench, uri: str) -> None:
    response = bench.ask_modern("resources/read", uri.encode(), uri=uri)
    assert (400, -32602) == (response.status, response.code)


def test_views_are_no_listed_resources(bench: Bench) -> None:
    """They are found by the tools; an agent that reads all resources has no use for markup."""
    resources = bench.ask_modern("resources/list").json["result"]["resources"]
    assert not [resource for resource in resources if resource["uri"].startswith("ui:")]


def test_extension_is_declared_where_the_revision_has_extensions(bench: Bench) -> None:
    modern = bench.ask_modern("server/discover").json["result"]["capabilities"]
    older = bench.initialize("2025-11-25").json["result"]["capabilities"]
    assert ({"io.modelcontextprotocol/ui": {}}, False) == (
        modern["extensions"],
        "extensions" in older,
    )
