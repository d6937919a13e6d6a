"""The documents as resources (mcp.md 5.6)."""

import json
from mmap import mmap
from pathlib import Path

import pytest

from reviewsd.mcp.jsonrpc import JsonRpcError
from reviewsd.mcp.resources import TEMPLATES, listing, read
from reviewsd.mcp.revisions import STATELESS
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.columns import review
from tests.support.publishing import Directories
from tests.support.tools import demo_snapshot, published

PATHS = ["/api/feed.json", "/feed.xml", "/insights.json", "/reviews.json"]
BASE = "https://reviews.example"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return demo_snapshot(Directories(tmp_path_factory.mktemp("demo")))


def test_they_are_listed_under_their_addresses(demo: Snapshot) -> None:
    resources = json.loads(listing(demo))["resources"]
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
    snapshot = demo_snapshot(Directories(tmp_path_factory.mktemp("bare")), insights=False)
    resources = json.loads(listing(snapshot))["resources"]
    assert ["feed.json", "feed.xml", "reviews.json"] == [each["name"] for each in resources]
    with pytest.raises(JsonRpcError, match="Unknown resource"):
        read(f"{BASE}/insights.json", STATELESS, snapshot)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_read_is_what_is_served(demo: Snapshot, path: str) -> None:
    (content,) = json.loads(b"".join(read(BASE + path, STATELESS, demo)))["contents"]
    assert BASE + path == content["uri"]
    assert b"".join(demo.documents[path].identity.parts).decode() == content["text"]


@pytest.mark.parametrize(
    "uri",
    ["", "/reviews.json", f"{BASE}/", f"{BASE}/reviews.json?x", f"{BASE}/.well-known/openapi.json"],
)
def test_others_are_not_found(demo: Snapshot, uri: str) -> None:
    with pytest.raises(JsonRpcError, match="Unknown resource"):
        read(uri, STATELESS, demo)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_read_is_no_memory_of_its_own(demo: Snapshot, path: str) -> None:
    """A client that asks for much and takes nothing holds views of mapped files."""
    before, text, after = read(BASE + path, STATELESS, demo)
    assert isinstance(text, memoryview)
    assert isinstance(text.obj, mmap)
    assert len(before) + len(after) < 200


def test_any_text_survives_as_a_string(directories: Directories) -> None:
    """Quotes and control characters, and pieces that end within a character."""
    odd = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028\ufeff😀é' * 100_000
    directories.write(review("a", text=odd))
    directories.limit_resources(1 << 24)
    snapshot = published(directories)
    (content,) = json.loads(b"".join(read(f"{BASE}/reviews.json", STATELESS, snapshot)))["contents"]
    (body,) = snapshot.documents["/reviews.json"].identity.parts
    assert str(body, "utf-8") == content["text"]


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


def test_a_large_one_is_to_be_fetched(demo: Snapshot, directories: Directories) -> None:
    (body,) = demo.documents["/reviews.json"].identity.parts
    directories.limit_resources(len(body))
    assert read(f"{BASE}/reviews.json", STATELESS, demo_snapshot(directories))
    directories.limit_resources(len(body) - 1)
    snapshot = demo_snapshot(directories)
    with pytest.raises(JsonRpcError) as caught:
        read(f"{BASE}/reviews.json", STATELESS, snapshot)
    assert (
        f"reviews.json has {len(body):,} bytes, too many to be read here: fetch "
        f"{BASE}/reviews.json over HTTP, or use the tool search_reviews for the reviews you need"
    ) == caught.value.message


def test_there_are_no_templates() -> None:
    assert {"resourceTemplates": []} == json.loads(TEMPLATES)
