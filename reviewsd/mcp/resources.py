"""The data set and the feeds as resources, under the addresses where they are served (mcp.md 5.6)."""

from dataclasses import dataclass

import msgspec

from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.snapshots import Snapshot

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
        path=urls.JSON_FEED,
        title="JSON Feed",
        description="The newest reviews as JSON Feed 1.1.",
    ),
    _Kind(
        path=urls.ATOM_FEED,
        title="Atom feed",
        description="The newest reviews as Atom.",
    ),
    _Kind(
        path=urls.INSIGHTS,
        title="Insights",
        description="What the reviews say: sentiment by aspect, technician, topic, month, review.",
    ),
    _Kind(
        path=urls.REVIEWS,
        title="All reviews",
        description="The whole data set: the business, its rating and every review, newest first.",
    ),
)


def listing(snapshot: Snapshot) -> bytes:
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


def read(uri: str, snapshot: Snapshot) -> tuple[Buffer, ...]:
    """The result of ``resources/read``: the very bytes that the address serves, as a string.

    Raises:
        ResourceNotFoundError: There is none at this address.
        ResourceTooLargeError: It is larger than what is read here (``mcp.max_resource``).
    """
    for kind in _KINDS:
        if kind.path in snapshot.documents and _address(snapshot, kind) == uri:
            break
    else:
        raise ResourceNotFoundError(uri)
    document = snapshot.documents[kind.path]
    if document.quoted is None:
        size = sum(map(len, document.identity.parts))
        raise ResourceTooLargeError(
            f"{kind.name} has {size:,} bytes, too many to be read here: fetch {uri} over HTTP, "
            "or use the tool search_reviews for the reviews you need"
        )
    content = msgspec.json.encode({"uri": uri, "mimeType": _media_type(snapshot, kind)})
    return (b'{"contents":[%b,"text":' % content[:-1], document.quoted, b"}]}")


def _address(snapshot: Snapshot, kind: _Kind) -> str:
    return snapshot.manifest.base_url + kind.path


def _media_type(snapshot: Snapshot, kind: _Kind) -> str:
    served = snapshot.documents[kind.path].identity.media_type
    return served.partition(b";")[0].decode()
