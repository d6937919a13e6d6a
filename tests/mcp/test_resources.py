"""The documents as resources (mcp.md 5.6)."""

import json

import msgspec
import pytest

from reviewsd.mcp.profile import head
from reviewsd.mcp.resources import (
    TEMPLATES,
    ResourceNotFoundError,
    Resources,
    ResourceTooLargeError,
)
from reviewsd.stores.snapshots import Snapshot
from tests.support.publishing import House
from tests.support.tools import demo_snapshot

PATHS = ["/api/feed.json", "/feed.xml", "/insights.json", "/reviews.json"]
BASE = "https://reviews.example"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return demo_snapshot(House(tmp_path_factory.mktemp("demo")))


def test_they_are_listed_under_their_addresses(demo: Snapshot) -> None:
    resources = json.loads(Resources().listing(demo))["resources"]
    assert [BASE + path for path in PATHS] == [each["uri"] for each in resources]
    assert ["feed.json", "feed.xml", "insights.json", "reviews.json"] == [
        each["name"] for each in resources
    ]
    for path, each in zip(PATHS, resources, strict=True):
        (body,) = demo.documents[path].identity.parts
        assert len(body) == each["size"]
        expected = "application/atom+xml" if path == "/feed.xml" else "application/json"
        assert expected == each["mimeType"]
        assert each["title"]
        assert each["description"]


def test_without_insights_there_is_no_such_resource(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    snapshot = demo_snapshot(House(tmp_path_factory.mktemp("bare")), insights=False)
    resources = json.loads(Resources().listing(snapshot))["resources"]
    assert ["feed.json", "feed.xml", "reviews.json"] == [each["name"] for each in resources]
    with pytest.raises(ResourceNotFoundError):
        Resources().read(f"{BASE}/insights.json", snapshot)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_read_is_what_is_served(demo: Snapshot, path: str) -> None:
    (content,) = json.loads(b"".join(Resources().read(BASE + path, demo)))["contents"]
    assert BASE + path == content["uri"]
    assert b"".join(demo.documents[path].identity.parts).decode() == content["text"]


@pytest.mark.parametrize(
    "uri",
    ["", "/reviews.json", f"{BASE}/", f"{BASE}/reviews.json?x", f"{BASE}/.well-known/openapi.json"],
)
def test_others_are_not_found(demo: Snapshot, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError):
        Resources().read(uri, demo)


def test_a_large_one_is_to_be_fetched(demo: Snapshot) -> None:
    (body,) = demo.documents["/reviews.json"].identity.parts
    assert Resources(len(body)).read(f"{BASE}/reviews.json", demo)
    with pytest.raises(ResourceTooLargeError) as caught:
        Resources(len(body) - 1).read(f"{BASE}/reviews.json", demo)
    assert (
        f"reviews.json has {len(body):,} bytes, too many to be read here: fetch "
        f"{BASE}/reviews.json over HTTP, or use the tool search_reviews for the reviews you need"
    ) == str(caught.value)


def test_there_are_no_templates() -> None:
    assert {"resourceTemplates": []} == json.loads(TEMPLATES)


def test_the_profile_is_the_head_of_the_dataset(demo: Snapshot) -> None:
    (body,) = demo.documents["/reviews.json"].identity.parts
    dataset = msgspec.json.decode(body)
    assert {
        "business": dataset["business"],
        "aggregate_rating": dataset["aggregate_rating"],
        "review_count": len(dataset["reviews"]),
    } == {name: msgspec.json.decode(raw) for name, raw in head(demo).items()}
