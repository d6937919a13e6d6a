"""Pages as a browser gets them: published, asked for through the routes, and read as HTML."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.task import Clock

from reviewsd.config.schema import Pages
from reviewsd.http1.responses import Responses
from reviewsd.publish.messages import Outcome
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.embed import EmbedReads
from reviewsd.web.feeds import FeedReads
from reviewsd.web.pages import PageReads
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.connections import BASE_URL, MemorySite, ask, serving
from tests.support.daemon import HAND_MADE
from tests.support.publishing import Directories
from tests.support.raw import ReceivedResponse, responses

DEMO = Path(__file__).parents[2] / "reviewsd/demo"
NO_PAGES = Pages(enabled=False)
"""Settings of a place whose data alone is asked for: it is published much faster."""
VOID = frozenset({"base", "br", "hr", "img", "input", "link", "meta"})


NASTY = "</script><script>alert(1)</script>]]>\"'&<b>\x00\x07\u202e\u2066 {{ 7*7 }} " + "x" * 10_000
"""A text that would break a page."""
LONG = "https://x.example/" + "a" * 2_000


def review(review_id: str = "a", **members: object) -> dict[str, Any]:
    """Return a review as the operator writes it."""
    defaults = {"author": "Jane D.", "rating": 4, "date": "2025-03-14", "text": "Good."}
    return {"id": review_id, **defaults, "source": "google", "verified": True, **members}


class Place:
    """A business with pages, in a directory."""

    def __init__(self, place: Path, *, settings: Pages | None = None) -> None:
        self.directories = Directories(place)
        self.templates = place / "templates"
        self.templates.mkdir()
        order = self.directories.order
        pages = msgspec.structs.replace(settings or Pages(), templates_dir=str(self.templates))
        self.directories.order = msgspec.structs.replace(
            order, settings=dataclasses.replace(order.settings, pages=pages)
        )
        self.snapshots = Snapshots(self.directories.snapshots)
        replies = Responses(BASE_URL, "public, max-age=60", lambda: 0.0)
        reads = Reads(self.snapshots, replies, budgets(Clock()))
        page_reads = PageReads(reads)
        answerers = (reads, page_reads, EmbedReads(page_reads), FeedReads(reads))
        self._site = MemorySite(serving(Clock(), *answerers, responses=replies))

    def publish(
        self,
        reviews: Sequence[Mapping[str, Any]],
        business: Mapping[str, Any] | None = None,
        insights: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Publish a business."""
        content = {"business": business or {"name": "Acme"}, "reviews": reviews}
        (self.directories.data / "reviews.json").write_text(json.dumps(content))
        if insights is not None:
            (self.directories.data / "insights.json").write_text(json.dumps(insights))
        return self.again()

    def again(self) -> Outcome:
        """Publish what the files say now."""
        outcome = self.directories.publish()
        self.snapshots.refresh()
        return outcome

    def get(self, target: str, *fields: str, method: str = "GET") -> ReceivedResponse:
        """Request a path, and return the response."""
        line = self._site.send(ask(target, *fields, "Connection: close", method=method))
        (response,) = responses(line.value(), (0,) if method == "HEAD" else ())
        return response

    def page(self, target: str, status: int = 200) -> "Html":
        """A page with a status."""
        response = self.get(target, "Accept: text/html")
        assert status == response.status, target
        return Html(response.body.decode())


def demo(place: Path, settings: Pages | None = None) -> Place:
    """The sample business."""
    reviews = json.loads((DEMO / "reviews.json").read_text())
    insights = json.loads(HAND_MADE.read_text())
    pages = Place(place, settings=settings)
    pages.publish(reviews["reviews"], reviews["business"], insights)
    return pages


@dataclass
class Element:
    """A tag with its attributes."""

    name: str
    attributes: dict[str, str]


class Html(HTMLParser):
    """A page, read."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = text
        self.elements: list[Element] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID and tag != "option":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag == "option":
            return
        assert tag == self._open.pop()

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        (self.scripts if inside == "script" else self.texts).append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def named(self, name: str) -> list[dict[str, str]]:
        """The attributes of all elements of a name."""
        return [element.attributes for element in self.elements if element.name == name]

    @property
    def hrefs(self) -> list[str]:
        """The targets of its links, in order."""
        return [link["href"] for link in self.named("a") if "href" in link]

    @property
    def reviews(self) -> list[str]:
        """The addresses of the reviews that it links to, in order, each once."""
        return [href for href in dict.fromkeys(self.hrefs) if href.startswith("/r/")]

    @property
    def links(self) -> set[str]:
        """The targets of its links, and the URLs that it loads."""
        values = {
            element.attributes[name]
            for element in self.elements
            for name in ("href", "src", "action")
            if name in element.attributes
        }
        return {value for value in values if not value.startswith("#")}

    @property
    def text(self) -> str:
        """All its words, in one line."""
        return " ".join(" ".join(self.texts).split())
