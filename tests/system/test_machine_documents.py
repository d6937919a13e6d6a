"""Documents for crawlers, agents and developers, from a real daemon with a business of hostile words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.robotparser import RobotFileParser

import pytest

from reviewsd.http1 import urls
from tests.support.daemon import BASE_URL, DEMO, Daemon
from tests.support.routes import ROUTES

NAME = '# Bob & "Sons" </script>]]>\r\nSitemap: https://evil.example/x\n[a](https://evil.example) \u202e'
IDS = ("plain", "a/b?c#d", "..", "<&'\"%2F")

SETTINGS = """\
crawlers: no-training
security:
  contact: ["mailto:security@example.com"]
  expires: 2099-01-01T00:00:00Z
mcp:
  registry_auth: "v=MCPv1; k=ed25519; p=c2VjcmV0"
"""

MEDIA_TYPES = {
    urls.LLMS: "text/plain; charset=utf-8",
    urls.LLMS_FULL: "text/plain; charset=utf-8",
    urls.ROBOTS: "text/plain; charset=utf-8",
    urls.SITEMAP: "application/xml",
    urls.OPENSEARCH: "application/opensearchdescription+xml",
    urls.API_CATALOG: (
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
    ),
    urls.AI_CATALOG: "application/ai-catalog+json",
    urls.SERVER_CARD: "application/mcp-server-card+json",
    urls.SERVER_CARD_ALIAS: "application/mcp-server-card+json",
    urls.SKILLS: "application/json",
    urls.SKILL: "text/markdown; charset=utf-8",
    urls.SECURITY: "text/plain; charset=utf-8",
    urls.REGISTRY_AUTH: "text/plain; charset=utf-8",
    urls.EMBED_SCRIPT: "text/javascript; charset=utf-8",
    urls.DEVELOPERS_EMBED: "text/html; charset=utf-8",
    urls.twin(urls.DEVELOPERS_EMBED): "text/markdown; charset=utf-8",
    **dict.fromkeys(urls.DOCUMENTATION, "text/html; charset=utf-8"),
    **dict.fromkeys(map(urls.twin, urls.DOCUMENTATION), "text/markdown; charset=utf-8"),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with the demo's data, which have hostile words and ids."""
    place = tmp_path_factory.mktemp("machines")
    (place / "data").mkdir()
    content = json.loads((DEMO / "reviews.json").read_bytes())
    content["business"] |= {"name": NAME, "verification_statement": NAME}
    for review, review_id in zip(content["reviews"], IDS, strict=False):
        review |= {"id": review_id, "author": NAME, "text": NAME}
    (place / "data/reviews.json").write_text(json.dumps(content))
    with Daemon(place, SETTINGS) as running:
        yield running


@pytest.mark.parametrize("path", MEDIA_TYPES)
def test_document_has_its_media_type(daemon: Daemon, path: str) -> None:
    """HEAD, tags and codings are those of any document (tests/unit/web/test_reads)."""
    answer = daemon.get(path)
    assert (200, MEDIA_TYPES[path]) == (answer.status, answer.headers["Content-Type"])
    assert "*" == answer.headers["Access-Control-Allow-Origin"]


def test_every_route_of_machine_documents_is_tested() -> None:
    """A new document needs its media type here."""
    ours = {route.path for route in ROUTES if route.page and "{" not in route.path}
    people = {urls.HOME, urls.LIST, urls.SUMMARY, urls.EMBED, urls.BADGE, urls.ICON}
    people |= {
        urls.ICON_ICO,
        urls.TOUCH_ICON,
        urls.CARD,
        urls.ABOUT,
        urls.REVIEW_US,
        urls.LOGO,
        urls.FONT,
    }
    twins = {path for path in ours if path.endswith((".md", "index.json"))} - set(MEDIA_TYPES)
    assert ours - people - twins <= set(MEDIA_TYPES)


def test_the_api_catalog_names_itself(daemon: Daemon) -> None:
    """RFC 9727 2: also in the answer to HEAD."""
    for method in ("GET", "HEAD"):
        link = daemon.request(method, urls.API_CATALOG).headers["Link"]
        assert f'<{BASE_URL}{urls.API_CATALOG}>; rel="api-catalog"' == link


RELATIONS = ["api-catalog", "service-desc", "service-doc", "describedby", *["alternate"] * 3]


@pytest.mark.parametrize(
    ("path", "more"), [(urls.HOME, ["hub", "self"]), (urls.DEVELOPERS, []), (urls.DATA_REVIEWS, [])]
)
def test_pages_link_to_the_documents(daemon: Daemon, path: str, more: list[str]) -> None:
    """RFC 8288, 8631, 9727; ``/`` is found by subscribers too (WebSub 4)."""
    for method in ("GET", "HEAD"):
        link = daemon.request(method, path).headers["Link"]
        assert [*RELATIONS, *more] == re.findall(r'rel="([^"]+)"', link)


def test_customer_texts_add_no_rules_for_crawlers(daemon: Daemon) -> None:
    parser = RobotFileParser()
    parser.parse(daemon.get(urls.ROBOTS).body.decode().splitlines())
    assert [f"{BASE_URL}/sitemap.xml"] == parser.site_maps()
    assert not parser.can_fetch("GPTBot", f"{BASE_URL}/")
    assert parser.can_fetch("PerplexityBot", f"{BASE_URL}/")


def test_proof_of_the_registry_is_what_is_configured(daemon: Daemon) -> None:
    assert b"v=MCPv1; k=ed25519; p=c2VjcmV0\n" == daemon.get(urls.REGISTRY_AUTH).body


def test_documents_that_the_operator_switches_off_are_404(tmp_path: Path) -> None:
    settings = "crawlers: none\n"
    with Daemon(tmp_path, settings) as daemon:
        missing = (urls.SECURITY, urls.REGISTRY_AUTH, urls.SITEMAP, f"{urls.SITEMAP_PART}1.xml")
        for path in missing:
            answer = daemon.get(path)
            assert 404 == answer.status
            assert f"{BASE_URL}/developers/errors#not-found" == answer.json()["type"]
        assert b"Disallow: /\n" in daemon.get(urls.ROBOTS).body
        assert urls.SITEMAP not in daemon.get(urls.DEVELOPERS).body.decode()
