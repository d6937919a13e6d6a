"""Backups and test messages: ``/v1/backup`` (D12, A3) and ``/v1/notify/test`` (notices.md 5).

A backup is streamed, so the client owns the file and chooses its path, whatever the daemon may write to.
Its contents are in the header field ``Reviewsd-Backup``, as JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace
from twisted.protocols.basic import FileSender
from twisted.web.server import Request

from reviewsd.admin.app import ProblemError, audit, respond, route, text
from reviewsd.api.notices import NoticeTests
from reviewsd.http1.problems import Problem
from reviewsd.notices.notices import Notices
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.backup import Backups

_SHARED = Problem(
    409,
    "shared-store",
    "Not Here",
    "The state is in PostgreSQL, which has tools of its own: pg_dump makes the backup. The keys"
    " (secret.key, mcp.key) belong to it.",
)
_NO_TARGET = Problem(
    404,
    "no-target",
    "No Such Target",
    "The configuration that the daemon was started with has no target of this name under notify.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRoutes:
    """The routes for backups and test messages."""

    backups: Backups | None
    """None if the store is shared."""
    keys: Sequence[str]
    """The locations of the keys that belong to a backup, for people."""
    notices: Notices | None
    """None without a target."""
    tasks: TaskSet

    @route("POST", "/v1/backup")
    async def backup(self, request: Request) -> bytes:
        """Send the store as it is now."""
        if self.backups is None:
            raise ProblemError(_SHARED)
        audit(request, "backup")
        file, contents = await self.backups.make()
        with file:
            header = msgspec.json.encode(replace(contents, keys=tuple(self.keys)))
            request.setHeader(b"Reviewsd-Backup", header)
            request.setHeader(b"Content-Type", b"application/vnd.sqlite3")
            request.setHeader(b"Content-Length", b"%d" % contents.bytes)
            await FileSender().beginFileTransfer(file, request)
        return b""

    @route("POST", "/v1/notify/test")
    async def test_notices(self, request: Request) -> bytes:
        """Send a test message: ``?name=`` names a target; without it all get one."""
        name = text(request, "name")
        audit(request, f"a test message to {name or 'all targets'}")
        tests = None
        if self.notices is not None:
            tests = await self.tasks.outcome("test message", self.notices.test(name))
        if not tests:
            raise ProblemError(_NO_TARGET)
        return respond(request, NoticeTests(tests=tuple(tests)))
