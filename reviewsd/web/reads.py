"""Every read of the specification: what is asked becomes a Reply (seed 4, contract 2 and 3).

A read looks up what was rendered at publication, or joins slices of it; it encodes no JSON. It looks
at ``snapshots.current`` once, so an answer never mixes two states of the data. Here is neither Klein
nor a connection: the routes (``public``) and the fast lane (``lane``) ask the same methods.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Generator

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.domain.parameters import InvalidParametersError, read_date, read_query
from reviewsd.domain.search_query import SearchQuery
from reviewsd.publish import documents
from reviewsd.http1 import urls as paths, problems
from reviewsd.snapshot.snapshots import Snapshot, SnapshotError, Snapshots
from reviewsd.http1.request import Asked
from reviewsd.runtime.cooperative import RETRY_SOON, QueueFullError
from reviewsd.http1.responses import PreparedDocument, Replies, Reply
from reviewsd.web.workload import Workload

COPIED = 16_384
"""Bytes of a search answer that is joined; the records of a larger one stay views of the document, so
that a client that takes its time holds no memory."""

Answer = Reply | Deferred[Reply]
"""What a route comes to; a Deferred only where it had to wait for something."""


class Reads:
    """Answers reads from the current snapshot.

    Args:
        snapshots: Where the data is.
        replies: What answers are made of.
        workload: Computes answers.
    """

    _log = Logger()

    def __init__(self, snapshots: Snapshots, replies: Replies, workload: Workload) -> None:
        self._snapshots = snapshots
        self.replies = replies
        """What answers are made of."""
        self._workload = workload
        self._documents: dict[str, PreparedDocument] = {}
        snapshots.observe(self._published)

    def _published(self, snapshot: Snapshot) -> None:
        self._documents = {
            path: self.replies.prepare(path, document)
            for path, document in snapshot.documents.items()
        }

    def document(self, asked: Asked, path: str) -> Reply:
        """A resource rendered at publication."""
        prepared = self._documents.get(path)
        if prepared is not None:
            return self.replies.rendered(asked, prepared)
        if self._snapshots.empty:
            return self.unpublished(asked)
        return self.replies.problem(asked, problems.NOT_PUBLISHED)

    def search(self, asked: Asked) -> Answer:
        """The reviews that match all filters, a page of them."""
        query = read_query(asked.query)
        return self._workload.run(asked, self._search(asked, query, self._snapshots.current))

    def _search(
        self, asked: Asked, query: SearchQuery, snapshot: Snapshot
    ) -> Generator[None, None, Reply]:
        hits = yield from snapshot.search(query)
        following = snapshot.cursor(hits)
        cursor = None if following is None else following.encode()
        found = hits.positions
        records = snapshot.records.pieces(found)
        parts = documents.search_parts(hits.matched, len(found), records, cursor)
        if sum(map(len, parts)) <= COPIED:
            parts = (b"".join(parts),)
        first = question = query.first_page()
        if query.cursor is not None:
            question = query.canonical()
        after = None
        if cursor is not None:
            after = f"{paths.SEARCH}?{first}{'&' if first else ''}cursor={cursor}"
        tag = _tag(snapshot.revision, question)
        return self.replies.computed(asked, parts, tag, following=after)

    def since(self, asked: Asked, date: str) -> Reply:
        """All reviews dated on or after a day."""
        day = read_date(date)
        snapshot = self._snapshots.current
        count, records = snapshot.since(day)
        dataset = snapshot.documents[paths.REVIEWS].identity
        parts = documents.since_result(day, count, records)
        tag = _tag(snapshot.revision, f"since {day}")
        return self.replies.computed(asked, parts, tag, dataset.last_modified)

    def health(self) -> Reply:
        """The reactor answers."""
        return self.replies.unstored(b'{"status":"ok"}')

    def unpublished(self, asked: Asked) -> Reply:
        """There is nothing to serve yet."""
        return self.replies.problem(asked, problems.UNAVAILABLE, ((b"Retry-After", b"5"),))

    def failed(self, asked: Asked, failure: Failure) -> Reply:
        """An error of a route, as the status it means."""
        replies = self.replies
        match failure.value:
            case InvalidParametersError(issues=issues):
                return replies.invalid(asked, issues)
            case MethodNotAllowed(valid_methods=methods) if asked.method == b"OPTIONS":
                return replies.options(sorted({*(methods or ()), "OPTIONS"}))
            case MethodNotAllowed(valid_methods=methods):
                allow = ", ".join(sorted({*(methods or ()), "OPTIONS"}))
                return replies.problem(asked, problems.NOT_ALLOWED, ((b"Allow", allow.encode()),))
            case HTTPException():
                return replies.problem(asked, problems.NOT_FOUND)
            case QueueFullError():
                return replies.problem(asked, problems.TOO_MANY_REQUESTS, (RETRY_SOON,))
            case SnapshotError():
                return self.unpublished(asked)
        self._log.failure("answering {path} failed", failure, path=asked.path)
        return replies.problem(asked, problems.INTERNAL)


def _tag(revision: str, question: str) -> bytes:
    """The entity tag of a computed answer: it depends on the data and the question alone."""
    digest = hashlib.sha256(f"{revision} {question}".encode()).digest()
    return b'"%s"' % urlsafe_b64encode(digest)[:22]
