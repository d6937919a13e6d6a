"""The daemon as reviewsctl sees it: the operations of the admin socket (interfaces.md 1.5).

Importing this costs about 25 ms (``transport``): it is done only in commands that talk to the
daemon.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from msgspec import Raw

from reviewsctl.daemon.errors import UnexpectedAnswer, Unreachable
from reviewsctl.daemon.transport import Answer, Peer, Transport, decode
from reviewsd.api.hub import Blocked, BlockList, HubStatus, Listing, ListingPage
from reviewsd.api.jobs import EventLine, JobLine, PushResult, ReloadResult, Step
from reviewsd.api.notices import NoticeTests
from reviewsd.api.status import BackupContents, Status

ANSWER_SECONDS = 10.0  # most is answered from memory, the rest by one query
SILENCE_SECONDS = 600.0  # between two lines of a job; one stage over a million reviews is silent
PAGE = 1000  # subscriptions asked for at once

_T = TypeVar("_T")


class Client:
    """Asks one daemon; each request is a connection of its own.

    What goes wrong is a DaemonError, in every method.

    Args:
        path: The admin socket.
        answer_seconds: How long an immediate answer may take.
        silence_seconds: How long a job may say nothing.
        observe: Told who answered, before the answer is read.
    """

    def __init__(
        self,
        path: Path,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
        observe: Callable[[Peer], None] = lambda _peer: None,
    ) -> None:
        self._transport = Transport(path, observe)
        self._answer_seconds = answer_seconds
        self._silence_seconds = silence_seconds

    def status(self) -> Answer[Status]:
        """What is served, since when, and how the data is."""
        return decode(self._ask("GET", "/v1/status"), Status)

    def metrics(self) -> str:
        """How much there is of everything, in Prometheus's text format."""
        return self._ask("GET", "/v1/metrics").decode(errors="replace")

    def events(self) -> Iterator[Answer[EventLine]]:
        """What happens from now on, for as long as the daemon lives."""
        for line in self._transport.lines("GET", "/v1/events", None):
            yield decode(line, EventLine)
        raise Unreachable("it has ended", "See whether it starts again: systemctl status reviewsd")

    def backup(self, write: Callable[[bytes], object]) -> BackupContents:
        """Copies the state; returns what is in the copy.

        Args:
            write: Called with each piece.
        """
        head = self._transport.file("POST", "/v1/backup", self._silence_seconds, write)
        return decode(head.get("Reviewsd-Backup", "").encode("latin-1"), BackupContents).value

    def reload_later(self, **lifted: bool) -> str:
        """Asks for a reload without waiting for it; returns the daemon's document."""
        return decode(self._ask("POST", "/v1/reload", wait="false", **_true(lifted)), JobLine).text

    def reload(self, step: Callable[[Answer[Step]], None], **lifted: bool) -> Answer[ReloadResult]:
        """Reloads the data and waits for the outcome.

        Giving up the wait does not stop the daemon (A3).

        Args:
            step: Called with each step, of which there may be none.
            lifted: Guards that let the data pass this time: ``force``, ``without_corrections``.
        """
        target = _target("/v1/reload", **_true(lifted))
        return self._job(target, ReloadResult, step, "How it ended: reviewsctl status")

    def subscriptions(
        self, *, topic: str = "", state: str = "", callback: str = "", limit: int | None = None
    ) -> Iterator[list[Answer[Listing]]]:
        """The subscriptions, a page at a time; an empty filter lets all through.

        Args:
            topic: Its path or whole address.
            state: As the daemon names it.
            callback: The whole of it.
            limit: How many at most, if not all.
        """
        after: str | None = ""
        while after is not None and limit != 0:
            at_most = PAGE if limit is None else min(PAGE, limit)
            filters = {"topic": topic, "state": state, "callback": callback, "after": after}
            page = decode(
                self._ask("GET", "/v1/subscriptions", limit=str(at_most), **filters),
                ListingPage[Raw],
            )
            found = [decode(bytes(each), Listing) for each in page.value.subscriptions]
            yield found
            after = page.value.next
            limit = None if limit is None else limit - len(found)

    def subscription(self, identifier: str) -> Answer[Listing]:
        """One subscription, or a request for one that is not confirmed yet."""
        return decode(self._ask("GET", f"/v1/subscriptions/{identifier}"), Listing)

    def remove(self, identifier: str, reason: str) -> None:
        """Ends a subscription, or a request for one."""
        self._ask("POST", f"/v1/subscriptions/{identifier}/remove", reason=reason)

    def push_later(self, whom: Mapping[str, str | Sequence[str]]) -> str:
        """Asks for a push without waiting for it; returns the daemon's document."""
        target = _target("/v1/push", **whom, wait="false")
        return decode(self._whole("POST", target), JobLine).text

    def push(
        self,
        whom: Mapping[str, str | Sequence[str]],
        step: Callable[[Answer[Step]], None],
    ) -> Answer[PushResult]:
        """Delivers the current content now and waits until each has had its attempt.

        Giving up the wait does not stop the daemon (A3).

        Args:
            whom: A ``topic``, or the ``id`` of subscriptions; everybody, if both are empty.
            step: Called with each step, of which there may be none.
        """
        target = _target("/v1/push", **whom)
        return self._job(target, PushResult, step, "How it ended: reviewsctl hub status")

    def hub(self) -> Answer[HubStatus]:
        """How the hub and its topics are."""
        return decode(self._ask("GET", "/v1/hub"), HubStatus)

    def pause(self) -> None:
        """Has the hub send nothing until ``resume``."""
        self._ask("POST", "/v1/hub/pause")

    def resume(self) -> None:
        """Has the hub send again."""
        self._ask("POST", "/v1/hub/resume")

    def blocks(self) -> Answer[BlockList]:
        """What the hub has nothing to do with."""
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
        return self._whole(method, _target(path, **parameters))

    def _whole(self, method: str, target: str) -> bytes:
        return self._transport.whole(method, target, self._answer_seconds)

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
        raise UnexpectedAnswer("the daemon broke off before the result", remedy)


def _true(parameters: Mapping[str, bool]) -> dict[str, str]:
    return {name: "true" for name, value in parameters.items() if value}


def _target(path: str, **parameters: str | Sequence[str]) -> str:
    given = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path
