"""The data set and the feeds as resources, under the addresses where they are served (mcp.md 5.6)."""

from dataclasses import dataclass

import msgspec

from reviewsd.formats import paths
from reviewsd.formats.representation import Buffer
from reviewsd.stores.snapshots import Snapshot

MAX_RESOURCE = 1 << 20
"""Bytes of a resource that is read through MCP, unless set otherwise (mcp.md 5.6)."""

TEMPLATES = b'{"resourceTemplates":[]}'


class ResourceNotFoundError(Exception):
    """No resource has this address."""


class ResourceTooLargeError(Exception):
    """The resource must be fetched from its address; the message says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    path: str
    title: str
    description: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


_KINDS = (
    _Kind(
        path=paths.JSON_FEED,
        title="JSON Feed",
        description="The newest reviews as JSON Feed 1.1.",
    ),
    _Kind(
        path=paths.ATOM_FEED,
        title="Atom feed",
        description="The newest reviews as Atom.",
    ),
    _Kind(
        path=paths.INSIGHTS,
        title="Insights",
        description="What the reviews say: sentiment by aspect, technician, topic, month, review.",
    ),
    _Kind(
        path=paths.REVIEWS,
        title="All reviews",
        description="The whole data set: the business, its rating and every review, newest first.",
    ),
)


class Resources:
    """The resources of a snapshot.

    Args:
        max_resource: Greatest size in bytes of one that is read here.
    """

    def __init__(self, max_resource: int = MAX_RESOURCE) -> None:
        self._max_resource = max_resource

    def listing(self, snapshot: Snapshot) -> bytes:
        """The result of ``resources/list``."""
        return msgspec.json.encode(
            {
                "resources": [
                    {
                        "uri": _address(snapshot, kind),
                        "name": kind.name,
                        "title": kind.title,
                        "description": kind.description,
                        "mimeType": _media_type(snapshot, kind),
                        "size": sum(map(len, snapshot.documents[kind.path].identity.parts)),
                    }
                    for kind in _KINDS
                    if kind.path in snapshot.documents
                ]
            }
        )

    def read(self, uri: str, snapshot: Snapshot) -> tuple[Buffer, ...]:
        """The result of ``resources/read``: the very bytes that the address serves.

        Raises:
            ResourceNotFoundError: There is none at this address.
            ResourceTooLargeError: It is larger than what is read here.
        """
        for kind in _KINDS:
            if kind.path in snapshot.documents and _address(snapshot, kind) == uri:
                break
        else:
            raise ResourceNotFoundError(uri)
        parts = snapshot.documents[kind.path].identity.parts
        if (size := sum(map(len, parts))) > self._max_resource:
            raise ResourceTooLargeError(
                f"{kind.name} has {size:,} bytes, too many to be read here: fetch {uri} over HTTP, "
                "or use the tool search_reviews for the reviews you need"
            )
        content = {
            "uri": uri,
            "mimeType": _media_type(snapshot, kind),
            "text": b"".join(parts).decode(),
        }
        return (msgspec.json.encode({"contents": [content]}),)


def _address(snapshot: Snapshot, kind: _Kind) -> str:
    return snapshot.manifest.base_url + kind.path


def _media_type(snapshot: Snapshot, kind: _Kind) -> str:
    served = snapshot.documents[kind.path].identity.media_type
    return served.partition(b";")[0].decode()
