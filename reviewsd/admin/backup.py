"""``POST /v1/backup``: a copy of the state store, streamed to who asks for it (D12, A3).

So the file is his who asked, and where he wants it, whatever the daemon may write to. What is in it
stands in the header field ``Reviewsd-Backup``, as JSON.
"""

import re
from collections.abc import Sequence

import msgspec
from klein import Klein
from msgspec.structs import replace
from twisted.protocols.basic import FileSender
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request

from reviewsd.admin.responses import AdminReplies, ProblemError
from reviewsd.http1.problems import Problem
from reviewsd.store.backup import Backups

PATHS = re.compile(rb"/v1/backup")
"""What is answered here."""

_MEDIA_TYPE = b"application/vnd.sqlite3"

_SHARED = Problem(
    409,
    "shared-store",
    "Not Here",
    "The state is in PostgreSQL, which has tools of its own: pg_dump makes the backup. The keys"
    " (secret.key, mcp.key) belong to it.",
)


class BackupRoutes:
    """Klein's route for backups.

    Args:
        backups: Makes them; None where the store is not ours to copy.
        keys: Where the keys are that belong to a backup, for people.
        version: Of the program.
    """

    _app = Klein()

    def __init__(self, backups: Backups | None, keys: Sequence[str], version: str) -> None:
        self._backups = backups
        self._keys = tuple(keys)
        self._replies = AdminReplies(version)

    def resource(self) -> IResource:
        """The route."""
        return self._app.resource()

    @_app.route("/v1/backup", methods=["POST"])
    async def backup(self, request: Request) -> bytes:
        """The store as it is now."""
        if self._backups is None:
            raise ProblemError(_SHARED)
        self._replies.audit(request, "backup")
        file, contents = await self._backups.make()
        with file:
            about = msgspec.json.encode(replace(contents, keys=self._keys))
            request.setHeader(b"Reviewsd-Backup", about)
            self._replies.stream(request, contents.bytes, _MEDIA_TYPE)
            await FileSender().beginFileTransfer(file, request)
        return b""

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)
