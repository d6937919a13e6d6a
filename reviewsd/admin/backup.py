"""``POST /v1/backup``: a copy of the state store, streamed to the client (D12, A3).

The copy is streamed, so the client owns the file and chooses its path, whatever the daemon may write to.
Its contents are in the header field ``Reviewsd-Backup``, as JSON.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from twisted.protocols.basic import FileSender
from twisted.web.server import Request

from reviewsd.admin.app import route
from reviewsd.admin.responses import ProblemError, audit, begin_stream
from reviewsd.http1.problems import Problem
from reviewsd.store.backup import Backups

_MEDIA_TYPE = b"application/vnd.sqlite3"

_SHARED = Problem(
    409,
    "shared-store",
    "Not Here",
    "The state is in PostgreSQL, which has tools of its own: pg_dump makes the backup. The keys"
    " (secret.key, mcp.key) belong to it.",
)


class BackupRoutes:
    """The route for backups.

    Args:
        backups: Makes copies; None if the store is shared.
        keys: Where the keys of a backup are, for people.
    """

    def __init__(self, backups: Backups | None, keys: Sequence[str]) -> None:
        self._backups = backups
        self._keys = tuple(keys)

    @route("POST", "/v1/backup")
    async def backup(self, request: Request) -> bytes:
        """Send the store as it is now."""
        if self._backups is None:
            raise ProblemError(_SHARED)
        audit(request, "backup")
        file, contents = await self._backups.make()
        with file:
            header = msgspec.json.encode(replace(contents, keys=self._keys))
            request.setHeader(b"Reviewsd-Backup", header)
            begin_stream(request, contents.bytes, _MEDIA_TYPE)
            await FileSender().beginFileTransfer(file, request)
        return b""
