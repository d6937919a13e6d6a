"""The content of topics as deliveries carry it: what a GET without Accept-Encoding returns (W14)."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.snapshots import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of one topic, prepared once for all subscribers."""

    sha256: str
    headers: bytes
    """Header lines that are the same for all subscribers, each ended with CRLF."""
    body: tuple[Buffer, ...]

    @property
    def length(self) -> int:
        """The bytes of the body."""
        return sum(map(len, self.body))


def contents_of(snapshot: Snapshot, base_url: str) -> dict[str, Content]:
    """Return the content of each topic by its path (W15)."""
    digests = {document.path: document.sha256 for document in snapshot.manifest.documents}
    contents = {}
    for path in urls.TOPICS:
        document = snapshot.documents[path]
        # The topic comes first because a widespread client library checks only the first link
        link = f'<{base_url}{path}>; rel="self", <{base_url}{urls.HUB}>; rel="hub"'
        lines = (
            b"Content-Type: " + document.media_type,
            b"Content-Length: %d" % len(document.body),
            b"Link: " + link.encode(),
            b"ETag: " + document.etag,
        )
        contents[path] = Content(
            sha256=digests[path],
            headers=b"".join(line + b"\r\n" for line in lines),
            body=(document.body,),
        )
    return contents


def digests_of(contents: Mapping[str, Content]) -> dict[str, str]:
    """Return the sha256 of each topic's content by its path."""
    return {path: content.sha256 for path, content in contents.items()}


def signature_header(method: str, secret: bytes, content: Content) -> bytes:
    """Return the header line that signs a content (W19).

    Args:
        method: ``hub.signature_method``.
        secret: The subscriber's ``hub.secret``.
        content: The content to sign.
    """
    signature = hmac.new(secret, digestmod=getattr(hashlib, method))
    for part in content.body:
        signature.update(part)
    return f"X-Hub-Signature: {method}={signature.hexdigest()}\r\n".encode()
