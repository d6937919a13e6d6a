"""Documents for crawlers, agents and developers, from a real daemon with a business of hostile words."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urldefrag, urljoin
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree as ET

import pytest

from reviewsd.http1 import urls
from tests.support.agents import CLIENT
from tests.support.daemon import BASE_URL, DEMO, Answer, Daemon
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
    place = tmp_path_factory.mktemp("machines")
    write(place, SETTINGS)
    with Daemon(place, SETTINGS) as running:
        yield running


def write(place: Path, _settings: str) -> None:
    """The demo's data with hostile words and ids."""
    (place / "data").mkdir()
    content = json.loads((DEMO / "reviews.json").read_bytes())
    content["business"] |= {"name": NAME, "verification_statement": NAME}
    for review, review_id in zip(content["reviews"], IDS, strict=False):
        review |= {"id": review_id, "author": NAME, "text": NAME}
    (place / "data/reviews.json").write_text(json.dumps(content))


@pytest.mark.parametrize("path", MEDIA_TYPES)
def test_documents_are_served_like_other_reads(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path)
    head = daemon.request("HEAD", path)
    again = daemon.get(path, {"If-None-Match": answer.headers["ETag"]})

    assert (200, MEDIA_TYPES[path]) == (answer.status, answer.headers["Content-Type"])
    assert "*" == answer.headers["Access-Control-Allow-Origin"]
    assert (200, b"") == (head.status, head.body)
    changing = {"Date"}
    assert [field for field in answer.headers.items() if field[0] not in changing] == [
        field for field in head.headers.items() if field[0] not in changing
    ]
    assert (304, b"") == (again.status, again.body)
    packed = daemon.get(path, {"Accept-Encoding": "gzip"})
    if packed.headers["Content-Encoding"] == "gzip":
        assert answer.body == gzip.decompress(packed.body)
        assert len(packed.body) < len(answer.body)
    else:
        assert answer.body == packed.body
        assert len(answer.body) < 1_500


def test_every_route_of_machine_documents_is_tested() -> None:
    """A new document needs its media type here, so that its links are tested."""
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


def test_the_digest_of_the_skill_is_that_of_the_bytes(daemon: Daemon) -> None:
    (entry,) = daemon.get(urls.SKILLS).json()["skills"]
    served = daemon.get(entry["url"]).body
    assert f"sha256:{hashlib.sha256(served).hexdigest()}" == entry["digest"]


def test_the_card_agrees_with_the_server(daemon: Daemon) -> None:
    card = daemon.get(urls.SERVER_CARD).json()
    info = asked(daemon, "initialize", INITIALIZE)["serverInfo"]
    assert (info["version"], info["title"]) == (card["version"], card["title"])
    assert info["websiteUrl"] == card["websiteUrl"]


def test_customer_texts_add_no_rules_for_crawlers(daemon: Daemon) -> None:
    parser = RobotFileParser()
    parser.parse(daemon.get(urls.ROBOTS).body.decode().splitlines())

    assert [f"{BASE_URL}/sitemap.xml"] == parser.site_maps()
    assert not parser.can_fetch("GPTBot", f"{BASE_URL}/")
    assert parser.can_fetch("PerplexityBot", f"{BASE_URL}/")


def test_security_txt_says_what_is_configured(daemon: Daemon) -> None:
    fields = [line.split(": ", 1) for line in daemon.get(urls.SECURITY).body.decode().splitlines()]
    assert [
        ["Contact", "mailto:security@example.com"],
        ["Expires", "2099-01-01T00:00:00Z"],
        ["Canonical", f"{BASE_URL}{urls.SECURITY}"],
    ] == fields
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


STATELESS = "2026-07-28"
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


def asked(daemon: Daemon, method: str, params: object) -> Any:  # noqa: ANN401  JSON
    """The result of a method of MCP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Content-Type": "application/json"}
    if method != "initialize":
        headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
    answer = daemon.request("POST", urls.MCP, headers, json.dumps(body).encode())
    return answer.json()["result"]


class Links(HTMLParser):
    """The links of a page, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {attributes.get("id") or ""}
        named = (attributes.get("href"), attributes.get("src"), attributes.get("action"))
        self.targets += [target for target in named if target is not None]


ABSOLUTE = re.compile(rf"{re.escape(BASE_URL)}[^\s\"'<>`\\)\]]*")
MARKDOWN = re.compile(r"\]\(([^)\s]+)\)")
INVALID = "?rating=7&"  # the example of an error
TARGET = re.compile(r"<([^>]*)>")
LINK = re.compile(rf"(?:{re.escape(BASE_URL)})?(?:/[^/\s][^\s]*|/|#\S*)?")


def links(path: str, answer: Answer) -> set[str]:
    """The addresses of our origin that an answer leads to, absolute."""
    kind = answer.headers["Content-Type"] or ""
    text = answer.body.decode()
    targets = TARGET.findall(answer.headers["Link"] or "")
    if "html" in kind:
        targets += Links(text).targets
    elif "xml" in kind:
        for element in ET.fromstring(text).iter():
            targets += [element.text or "", *element.attrib.values()]
    elif "json" in kind:
        targets += strings(json.loads(text))
    else:
        targets += MARKDOWN.findall(text)
        bare = ABSOLUTE.findall(MARKDOWN.sub("", text))
        targets += [url.rstrip(".,:") for url in bare if INVALID not in url]
    here = {urljoin(BASE_URL + path, target) for target in targets if LINK.fullmatch(target)}
    return {link.replace("{searchTerms}", "boiler") for link in here}


def strings(value: object) -> list[str]:
    """All strings in a value of JSON."""
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in strings(item)]
        case dict():
            return strings(list(value.values()))
    return []


def test_every_link_to_our_origin_answers(daemon: Daemon) -> None:
    """From these documents, the pages, the feeds, an error and what agents are answered."""
    answers: dict[str, Answer] = {}
    sources: dict[str, str] = {}
    for path in (*MEDIA_TYPES, urls.HOME, urls.LIST, urls.JSON_FEED, urls.ATOM_FEED, "/nothing"):
        answers[path] = daemon.get(path)
        sources |= dict.fromkeys(links(path, answers[path]), path)
    results = [
        asked(daemon, "initialize", INITIALIZE),
        asked(daemon, "resources/list", META),
    ]
    results += [daemon.get(f"{urls.SEARCH}?rating=9").json(), daemon.get(urls.HOME_INDEX).json()]
    sources |= dict.fromkeys(
        (text for text in strings(results) if text.startswith(BASE_URL)), "told"
    )

    assert f"{BASE_URL}{urls.DEVELOPERS_ERRORS}#invalid-query" in sources
    assert f"{BASE_URL}/r/{quote(IDS[1], safe='')}" in sources
    dead = []
    for link, source in sorted(sources.items()):
        address, fragment = urldefrag(link)
        path = address.removeprefix(BASE_URL) or "/"
        if path == urls.MCP:  # takes messages alone
            assert asked(daemon, "initialize", INITIALIZE)
            continue
        if path not in answers:
            answers[path] = daemon.get(path)
        answer = answers[path]
        dead_anchor = fragment and fragment not in Links(answer.body.decode()).anchors
        if answer.status != 200 or dead_anchor:
            dead.append(f"{link} of {source}: {answer.status}")
    assert "" == "\n".join(dead)
