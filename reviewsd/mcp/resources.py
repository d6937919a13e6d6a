"""The data set, the insights and the feeds as resources, under their public addresses (mcp.md 5.6)."""

from typing import NamedTuple

import msgspec

from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.jsonrpc import INVALID_PARAMS, JsonRpcError
from reviewsd.mcp.revisions import Revision
from reviewsd.snapshot.snapshots import Snapshot

TEMPLATES = b'{"resourceTemplates":[]}'


class _Resource(NamedTuple):
    path: str
    title: str
    description: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


_RESOURCES = (
    _Resource(urls.JSON_FEED, "JSON Feed", "The newest reviews as JSON Feed 1.1."),
    _Resource(urls.ATOM_FEED, "Atom feed", "The newest reviews as Atom."),
    _Resource(
        urls.INSIGHTS,
        "Insights",
        "What the reviews say: sentiment by aspect, technician, topic, month, review.",
    ),
    _Resource(
        urls.REVIEWS,
        "All reviews",
        "The whole data set: the business, its rating and every review, newest first.",
    ),
)


def _published(snapshot: Snapshot) -> dict[str, _Resource]:
    """Return the published resources by address."""
    return {
        snapshot.manifest.base_url + resource.path: resource
        for resource in _RESOURCES
        if resource.path in snapshot.documents
    }


def addresses(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the addresses of all resources, also of those that are not published now."""
    return tuple(snapshot.manifest.base_url + resource.path for resource in _RESOURCES)


def tags(snapshot: Snapshot) -> dict[str, bytes]:
    """Return the entity tags of the published resources by address."""
    published = _published(snapshot).items()
    return {uri: snapshot.documents[resource.path].etag for uri, resource in published}


def listing(snapshot: Snapshot) -> bytes:
    """Return the result of ``resources/list``."""
    return msgspec.json.encode(
        {
            "resources": [
                {
                    "uri": uri,
                    "name": resource.name,
                    "title": resource.title,
                    "description": resource.description,
                    "mimeType": _media_type(snapshot, resource),
                    "size": len(snapshot.documents[resource.path].body),
                }
                for uri, resource in _published(snapshot).items()
            ]
        }
    )


def read(uri: str | None, revision: Revision, snapshot: Snapshot) -> tuple[Buffer, ...]:
    """Return the result of ``resources/read``, with the bytes that HTTP serves as a string.

    Raises:
        JsonRpcError: No resource has this address, or it is too large to be read.
    """
    if uri is None:
        raise JsonRpcError(INVALID_PARAMS, '"uri" must be a string, the uri of a resource')
    resource = _published(snapshot).get(uri)
    if resource is None:
        raise JsonRpcError(
            revision.resource_not_found,
            "Unknown resource; resources/list has the known ones",
            b'{"uri":%b}' % msgspec.json.encode(uri),
        )
    document = snapshot.documents[resource.path]
    if document.quoted is None:
        size = len(document.body)
        raise JsonRpcError(
            INVALID_PARAMS,
            f"{resource.name} has {size:,} bytes, too many to be read here: fetch {uri} over HTTP, "
            "or use the tool search_reviews for the reviews you need",
        )
    content = msgspec.json.encode({"uri": uri, "mimeType": _media_type(snapshot, resource)})
    return (b'{"contents":[%b,"text":' % content[:-1], document.quoted, b"}]}")


def _media_type(snapshot: Snapshot, resource: _Resource) -> str:
    media_type = snapshot.documents[resource.path].media_type
    return media_type.partition(b";")[0].decode()
