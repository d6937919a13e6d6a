"""Sites for tests of pages and documents: small data made by the code that publishes."""

import json
from typing import Any

import msgspec

from reviewsd.config.schema import Pages
from reviewsd.domain.dataset import load
from reviewsd.domain.locations import Locations
from reviewsd.domain.reviews import Review
from reviewsd.pages import machines
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import MachineSettings
from reviewsd.pages.site import Site, Statistics
from reviewsd.publish import site as sites

BASE_URL = "https://reviews.example.com"


def review(number: int, **members: object) -> dict[str, object]:
    """A review as the operator writes it; a higher number is newer."""
    return {
        "id": f"r{number}",
        "author": f"Customer {number}",
        "rating": 1 + number % 5,
        "date": f"2026-{1 + number % 12:02}-10",
        "text": f"Text {number}.",
        "source": "google",
        "verified": True,
        **members,
    }


def site(
    business: dict[str, object] | None = None,
    reviews: list[dict[str, object]] | None = None,
    insights: dict[str, Any] | None = None,
    base_url: str = BASE_URL,
    disabled_paths: frozenset[str] = frozenset(),
) -> Site:
    """A site of these files."""
    content = {"business": {"name": "Acme Plumbing", **(business or {})}, "reviews": reviews or []}
    dataset = load(
        json.dumps(content).encode(), None if insights is None else json.dumps(insights).encode()
    )
    statistics = Statistics(Locations.several(dataset.business))
    for raw in dataset.records:
        statistics.add(msgspec.json.decode(raw, type=Review))
    return sites.make(dataset, base_url, Pages(), statistics, {}, disabled_paths=disabled_paths)


_compiled: dict[str, bytes] = {}  # templates, as a publication leaves them to the next one


def for_machines(here: Site) -> dict[str, bytes]:
    """Return the documents of a site for crawlers and agents, by path."""
    bytecode, settings = Bytecode(_compiled), MachineSettings(version="1.2.3")
    documents = machines.documents(Renderer(here, bytecode), settings, (), lambda _: ())
    contents = {document.path: document.content for document in documents}
    _compiled.update(bytecode.used)
    return contents
