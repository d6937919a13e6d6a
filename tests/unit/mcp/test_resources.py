"""Documents as resources (mcp.md 5.6)."""

import json
from mmap import mmap
from pathlib import Path

import pytest

from reviewsd.mcp.jsonrpc import INVALID_PARAMS, JsonRpcError
from reviewsd.mcp.resources import listing, read
from reviewsd.mcp.revisions import STATELESS
from tests.support.columns import review
from tests.support.publishing import Directories
from tests.support.tools import Tools, demo_snapshot, published

PATHS = ["/api/feed.json", "/feed.xml", "/insights.json", "/reviews.json"]
BASE = "https://reviews.example"


def test_resources_are_listed_under_their_addresses(demo: Tools) -> None:
    resources = json.loads(listing(demo.snapshot))["resources"]
    assert [BASE + path for path in PATHS] == [resource["uri"] for resource in resources]
    assert ["feed.json", "feed.xml", "insights.json", "reviews.json"] == [
        resource["name"] for resource in resources
    ]
    for path, resource in zip(PATHS, resources, strict=True):
        body = demo.snapshot.documents[path].body
        assert len(body) == resource["size"]
        expected = "application/atom+xml" if path == "/feed.xml" else "application/json"
        assert expected == resource["mimeType"]
        assert resource["title"]
        assert resource["description"]


def test_unpublished_insights_are_no_resource(tmp_path_factory: pytest.TempPathFactory) -> None:
    snapshot = demo_snapshot(Directories(tmp_path_factory.mktemp("bare")), insights=False)
    resources = json.loads(listing(snapshot))["resources"]
    assert ["feed.json", "feed.xml", "reviews.json"] == [resource["name"] for resource in resources]
    with pytest.raises(JsonRpcError, match="Unknown resource"):
        read(f"{BASE}/insights.json", STATELESS, snapshot)


@pytest.mark.parametrize("path", PATHS)
def test_resource_text_is_the_served_document(demo: Tools, path: str) -> None:
    (content,) = json.loads(b"".join(read(BASE + path, STATELESS, demo.snapshot)))["contents"]
    assert BASE + path == content["uri"]
    assert bytes(demo.snapshot.documents[path].body).decode() == content["text"]


@pytest.mark.parametrize(
    "uri",
    ["", "/reviews.json", f"{BASE}/", f"{BASE}/reviews.json?x", f"{BASE}/.well-known/openapi.json"],
)
def test_other_address_is_not_found(demo: Tools, uri: str) -> None:
    with pytest.raises(JsonRpcError, match="Unknown resource"):
        read(uri, STATELESS, demo.snapshot)


@pytest.mark.parametrize("path", PATHS)
def test_resource_text_is_a_view_of_a_mapped_file(demo: Tools, path: str) -> None:
    """A client that never reads its answers must not make the server hold copies."""
    before, text, after = read(BASE + path, STATELESS, demo.snapshot)
    assert isinstance(text, memoryview)
    assert isinstance(text.obj, mmap)
    assert len(before) + len(after) < 200


def test_any_text_survives_as_a_string(directories: Directories) -> None:
    """The text has quotes and control characters, and its pieces end within characters."""
    odd = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028\ufeff😀é' * 100_000
    directories.write(review("a", text=odd))
    directories.limit_resources(1 << 24)
    snapshot = published(directories)
    (content,) = json.loads(b"".join(read(f"{BASE}/reviews.json", STATELESS, snapshot)))["contents"]
    body = snapshot.documents["/reviews.json"].body
    assert str(body, "utf-8") == content["text"]


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


def test_large_resource_is_refused_with_its_address(demo: Tools, directories: Directories) -> None:
    body = demo.snapshot.documents["/reviews.json"].body
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
    assert INVALID_PARAMS == caught.value.code
