"""The route of test messages: ``/v1/notify/test`` (notices.md 5)."""

from functools import partial

from twisted.web.server import Request

from reviewsd.admin.app import route
from reviewsd.admin.parameters import text
from reviewsd.admin.responses import ProblemError, audit, respond
from reviewsd.api.notices import NoticeTests
from reviewsd.http1.problems import Problem
from reviewsd.notices.notices import Notices
from reviewsd.runtime.tasks import TaskSet

_NO_TARGET = Problem(
    404,
    "no-target",
    "No Such Target",
    "The configuration that the daemon was started with has no target of this name under notify.",
)


class NoticeRoutes:
    """The operator's route of notices.

    Args:
        notices: Sends the messages; None without a target.
        tasks: Own the ordered work.
    """

    def __init__(self, notices: Notices | None, tasks: TaskSet) -> None:
        self._notices = notices
        self._finish = partial(tasks.outcome, "work for a client that has left")

    @route("POST", "/v1/notify/test")
    async def test(self, request: Request) -> bytes:
        """Send a test message: ``?name=`` names a target; without it all get one."""
        name = text(request, "name")
        audit(request, f"a test message to {name or 'all targets'}")
        tests = [] if self._notices is None else await self._finish(self._notices.test(name))
        if not tests:
            raise ProblemError(_NO_TARGET)
        return respond(request, NoticeTests(tests=tuple(tests)))
