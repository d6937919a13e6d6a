"""The operations of the admin socket, as methods of a client (interfaces.md 1.5).

The import takes about 25 ms (``transport``), so only commands that need the daemon do it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from msgspec import Raw

from reviewsctl.daemon.errors import UnexpectedAnswer, Unreachable
from reviewsctl.daemon.transport import Answer, Peer, Transport, decode
from reviewsd.api.hub import Blocked, BlockList, Listing, ListingPage
from reviewsd.api.jobs import EventLine, JobLine, PushResult, ReloadResult, Step
from reviewsd.api.status import BackupContents, NoticeTests, Status

SILENCE_SECONDS = 600.0  # between two lines of a job: a stage over a million reviews sends none
PAGE = 1000  # subscriptions of one request

_T = TypeVar("_T")


class Client:
    """A client of one daemon, with a connection for each request.

    Every method raises ``DaemonError`` when it fails.

    Args:
        path: The admin socket.
        answer_seconds: The time limit of an immediate answer.
        silence_seconds: The time limit between two lines of a job.
        observe: Called with the versions of the daemon before its answer is read.
    """

    def __init__(
        self,
        path: Path,
        *,
        answer_seconds: float = 10.0,
        silence_seconds: float = SILENCE_SECONDS,
        observe: Callable[[Peer], None] = lambda _peer: None,
    ) -> None:
        self._transport = Transport(path, observe)
        self._answer_seconds = answer_seconds
        self._silence_seconds = silence_seconds

    def status(self) -> Answer[Status]:
        """Return the state of the daemon."""
        return decode(self._ask("GET", "/v1/status"), Status)

    def metrics(self) -> str:
        """Return the metrics in Prometheus's text format."""
        return self._ask("GET", "/v1/metrics").decode(errors="replace")

    def events(self) -> Iterator[Answer[EventLine]]:
        """Yield events as they happen.

        Raises:
            Unreachable: The daemon has stopped.
        """
        for line in self._transport.lines("GET", "/v1/events", None):
            yield decode(line, EventLine)
        raise Unreachable("it has stopped", "See its state: systemctl status reviewsd")

    def backup(self, write: Callable[[bytes], object]) -> BackupContents:
        """Copy the state to ``write``, piece by piece, and return what the copy contains."""
        head = self._transport.file("POST", "/v1/backup", self._silence_seconds, write)
        return decode(head.get("Reviewsd-Backup", "").encode("latin-1"), BackupContents).value

    def reload(self, step: Callable[[Answer[Step]], None], **lifted: bool) -> Answer[ReloadResult]:
        """Reload the data and wait for the outcome.

        An interrupted wait does not stop the reload (A3).

        Args:
            step: Called with each step.
            lifted: Guards that are off for this reload: ``force``, ``without_corrections``.
        """
        target = _target("/v1/reload", **{name: "true" for name in lifted if lifted[name]})
        return self._job(target, ReloadResult, step, "See its outcome: reviewsctl status")

    def subscriptions(self, *, topic: str = "", state: str = "") -> Iterator[Answer[Listing]]:
        """Yield the subscriptions of a topic, its path or whole address, that are in a state.

        An empty filter matches all.
        """
        after: str | None = ""
        while after is not None:
            filters = {"topic": topic, "state": state, "after": after}
            page = decode(
                self._ask("GET", "/v1/subscriptions", limit=str(PAGE), **filters),
                ListingPage[Raw],
            )
            yield from (decode(bytes(text), Listing) for text in page.value.subscriptions)
            after = page.value.next

    def subscription(self, identifier: str) -> Answer[Listing]:
        """Return a subscription, or an unconfirmed request for one."""
        return decode(self._ask("GET", f"/v1/subscriptions/{identifier}"), Listing)

    def remove(self, identifier: str, reason: str) -> None:
        """End a subscription, or a request for one."""
        self._ask("POST", f"/v1/subscriptions/{identifier}/remove", reason=reason)

    def push(self, step: Callable[[Answer[Step]], None], **recipients: str) -> Answer[PushResult]:
        """Deliver the current content now and wait until each has had its attempt.

        Giving up the wait does not stop the daemon (A3).

        Args:
            step: Called with each step.
            recipients: A ``topic``, or the ``id`` of a subscription; empty for all.
        """
        target = _target("/v1/push", **recipients)
        return self._job(target, PushResult, step, "See its outcome: reviewsctl status")

    def pause(self) -> None:
        """Has the hub send nothing until ``resume``."""
        self._ask("POST", "/v1/hub/pause")

    def resume(self) -> None:
        """Has the hub send again."""
        self._ask("POST", "/v1/hub/resume")

    def blocks(self) -> Answer[BlockList]:
        """Return the blocked hosts and networks."""
        return decode(self._ask("GET", "/v1/blocks"), BlockList)

    def block(self, value: str, note: str, *, dry_run: bool) -> Answer[Blocked]:
        """Ends all that a host or network has here, and refuses it from then on."""
        flag = "true" if dry_run else ""
        return decode(
            self._ask("POST", "/v1/blocks", value=value, note=note, dry_run=flag), Blocked
        )

    def unblock(self, value: str) -> None:
        """Lets a host or network in again."""
        self._ask("DELETE", "/v1/blocks", value=value)

    def test_notices(self, name: str) -> Answer[NoticeTests]:
        """Sends a test message to a target of notices, or to all of them."""
        target = _target("/v1/notify/test", name=name)
        return decode(self._transport.whole("POST", target, self._silence_seconds), NoticeTests)

    def _ask(self, method: str, path: str, **parameters: str) -> bytes:
        return self._transport.whole(method, _target(path, **parameters), self._answer_seconds)

    def _job(
        self, target: str, kind: type[_T], step: Callable[[Answer[Step]], None], remedy: str
    ) -> Answer[_T]:
        for line in self._transport.lines("POST", target, self._silence_seconds):
            match decode(line, JobLine).value.type:
                case "progress":
                    step(decode(line, Step))
                case "result":
                    return decode(line, kind)
                case _:  # an event of a newer daemon
                    continue
        raise UnexpectedAnswer("the daemon ended before the result", remedy)


def _target(path: str, **parameters: str) -> str:
    query = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(query)}" if query else path
