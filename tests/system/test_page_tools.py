"""The pages of the demo before public tools, and every link to us that the service hands out (pages.md 6).

The tools are not from PyPI: ``tests/conformance/pages.sh --install`` fetches them from npm, Chromium and Java are the
system's. ``.ci/run`` sees to both on a machine of CI.
"""

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from email.message import Message
from itertools import cycle
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin

import pytest

from reviewsd.http1 import urls
from tests.support import mcp
from tests.support.demo import Demo
from tests.support.pages import Html

SCRIPT = Path(__file__).parents[1] / "conformance" / "pages.sh"
TOOLS = Path(os.environ.get("PAGE_TOOLS") or f"{tempfile.gettempdir()}/reviewsd-page-tools")
SECONDS = 600

FIRST = ("/", "/embed", "/llms.txt", "/feed.xml", "/api/feed.json", "/.well-known/api-catalog")
IDS = ("a/b?c#d", "<%2F")
FAULTS = ("/nothing.json", "/api/reviews/search?rating=9", "/api/reviews/since/x")
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("search_reviews", {"query": "boiler"}),
    ("get_summary", {}),
    ("get_technician", {"name": "Ben"}),
)
ANY = {"Accept": "*/*"}
MESSAGE = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": mcp.MODERN,
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo with two locations, whose pages are then in the sitemap."""
    demo = Demo(tmp_path_factory.mktemp("demo"))
    (file,) = demo.temporary.glob("*/data/reviews.json")
    data = json.loads(file.read_text())
    data["business"]["locations"] = [
        {"id": "dover", "name": "Dover", "address": {"street": "1 Elm St", "city": "Dover"}},
        {"id": "kittery", "name": "Kittery", "hours": data["business"]["hours"]},
    ]
    for review, location in zip(data["reviews"], cycle(("dover", "kittery", None))):
        if location is not None:
            review["location"] = location
    file.write_text(json.dumps(data))
    assert 0 == demo.ctl("reload").returncode
    yield demo
    demo.process.kill()
    demo.process.wait(10)


def missing() -> list[str]:
    commands = [name for name in ("node", "java", "curl") if shutil.which(name) is None]
    if not (shutil.which("chromium-headless-shell") or shutil.which("chromium")):
        commands.append("chromium")
    return commands if (TOOLS / "ready").exists() else [*commands, f"the tools in {TOOLS}"]


@pytest.mark.skipif(bool(missing()), reason=f"needs {', '.join(missing())}")
def test_public_tools_have_no_findings_on_any_page(demo: Demo) -> None:
    """html-validate, vnu, axe and Lighthouse; and what a browser says, by day and by night, on paper, by keyboard."""
    checked = subprocess.run(
        ["bash", SCRIPT, demo.base_url],
        env={**os.environ, "PAGE_TOOLS": str(TOOLS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert 0 == checked.returncode, checked.stdout


class Walk:
    """Follows what leads to one origin."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.dead: list[str] = []
        self.anchors: dict[str, set[str]] = {}

    def ask(
        self, url: str, content: bytes | None = None, headers: Mapping[str, str] = ANY
    ) -> tuple[int, Message, str]:
        """Status, header fields and text of an address."""
        request = urllib.request.Request(url, content, dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.headers, response.read().decode("latin-1")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode("latin-1")

    def named(self, text: str) -> set[str]:
        """The addresses of ours that a text of any kind spells out; no patterns such as ``/r/{id}``."""
        urls = re.findall(rf"{self.origin}[^\s\"'<>)\\|`]*", text)
        return {url.rstrip(".,;") for url in urls if "{" not in url and "…" not in url}

    def links(self, url: str) -> set[str]:
        """Return the links of a document, and keep its text."""
        status, fields, text = self.ask(url)
        kind = fields.get_content_type()
        if status != 200:
            self.dead.append(f"{status} {url}")
        if kind == "text/markdown":  # not what its code shows
            targets = self.named(" ".join(re.findall(r"(?:\]\(|<)(https?:[^)>]*)", text)))
        elif kind != "text/html":
            targets = self.named(html.unescape(text))
        else:
            page = Html(text)
            self.anchors[url] = {
                element.attributes["id"] for element in page.elements if "id" in element.attributes
            }
            targets = self.named(" ".join(page.scripts))  # their anchors are names of things
            targets = {urldefrag(target).url for target in targets}
            linked = re.findall("<([^>]+)>", fields["Link"])
            targets |= {urljoin(url, link) for link in (*page.links, *fragments(page), *linked)}
        return {target for target in targets if target.startswith(self.origin)}


def fragments(page: Html) -> set[str]:
    """The links to a place on the same page."""
    return {link["href"] for link in page.named("a") if link.get("href", "").startswith("#")}


def followed(url: str) -> bool:
    """Whether what this leads to is looked at: filters lead to filters without end, and OpenAPI has examples."""
    return "?" not in url and "/r/" not in url and not url.endswith("/openapi.json")


def test_every_link_to_this_service_is_alive(demo: Demo) -> None:
    """Pages, feeds, errors, tool results and documents for machines have live links and anchors.

    Some reviews have ids that need to be escaped.
    """
    (file,) = demo.temporary.glob("*/data/reviews.json")
    data = json.loads(file.read_text())
    for review, review_id in zip(data["reviews"], IDS, strict=False):
        review["id"] = review_id
    file.write_text(json.dumps(data))
    assert 0 == demo.ctl("reload").returncode
    walk = Walk(demo.base_url)
    links = {demo.base_url + path for path in FIRST}
    links |= {json.loads(walk.ask(demo.base_url + path)[2])["type"] for path in FAULTS}
    for name, arguments in CALLS:
        message = mcp.modern("tools/call", name=name, arguments=arguments)
        headers = {**MESSAGE, "Mcp-Method": "tools/call", "Mcp-Name": name}
        status, _, text = walk.ask(f"{demo.base_url}/mcp", json.dumps(message).encode(), headers)
        assert 200 == status, text
        links |= walk.named(text.replace("\\", " "))
    visited: set[str] = set()
    while waiting := {urldefrag(link).url for link in links} - visited:
        for url in sorted(waiting):
            visited.add(url)
            if url in {demo.base_url + urls.MCP, demo.base_url + urls.HUB}:
                continue  # these are asked by POST
            leads = walk.links(url)
            links |= leads if followed(url) else {link for link in leads if "#" in link}
    assert [] == walk.dead
    assert 150 < len(visited)
    assert visited >= {f"{demo.base_url}/r/{quote(review_id, safe='')}" for review_id in IDS}
    places = [urldefrag(link) for link in links if "#" in link]
    assert [] == [place for place in places if place.fragment not in walk.anchors[place.url]]
