"""One line a minute, however much strangers send (O8)."""

from collections.abc import Iterator
from contextlib import contextmanager

from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs

from reviewsd.monitoring.rejections import SESSIONS_ENDED, RejectionSummary
from reviewsd.runtime.counters import Counts
from tests.support.admin_socket import told


class Counted:
    """Counts, and a digest of them."""

    def __init__(self) -> None:
        self.counts: Counts = {}
        self.digest = RejectionSummary(self._counts)

    async def _counts(self) -> Counts:
        return self.counts

    def tell(self) -> list[str]:
        with capturedLogs() as events:
            ended = Deferred.fromCoroutine(self.digest.tell())
            assert ended.called
        return told(events)


@contextmanager
def counted(counts: Counts) -> Iterator[Counted]:
    """What was counted has been told already."""
    counted = Counted()
    counted.counts = counts
    counted.tell()
    yield counted


def test_what_is_new_is_told_by_kind() -> None:
    with counted({"rejected_total bad-request": 3, "ratelimited_total active": 1}) as minute:
        minute.counts = {
            "rejected_total bad-request": 10_003,
            "ratelimited_total active": 1,
            "callback_refused_total not-https": 2,
            "callback_refused_total ip-literal": 1,
            SESSIONS_ENDED: 7,
            "requests_total /mcp POST 200": 9,
        }
        (line,) = minute.tell()
        assert line == (
            "in the last minute: connections refused, or what came over them: 10,000 bad-request; "
            "callbacks refused: 1 ip-literal, 2 not-https; MCP sessions ended: 7"
        )


def test_nothing_new_is_no_line() -> None:
    with counted({"rejected_total bad-request": 3}) as minute:
        assert [] == minute.tell()


def test_counts_that_fell_are_no_line() -> None:
    """A worker that was too busy to answer is missing from the sum."""
    with counted({"rejected_total bad-request": 3}) as minute:
        minute.counts = {"rejected_total bad-request": 2}
        assert [] == minute.tell()
