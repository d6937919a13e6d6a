"""One line a minute, however much clients send (O8)."""

from twisted.logger import capturedLogs

from reviewsd.monitoring.rejections import RejectionSummary
from reviewsd.runtime.counters import Counts
from tests.support.admin_socket import told
from tests.support.hub import result_of


def lines(before: Counts, after: Counts) -> list[str]:
    """Return what is logged when counters move."""
    counts = before
    summary = RejectionSummary(lambda: counts)
    result_of(summary.log())
    counts = after
    with capturedLogs() as events:
        result_of(summary.log())
    return told(events)


def test_increments_are_logged_by_kind() -> None:
    before = {"rejected_total bad-request": 3, "ratelimited_total active": 1}
    after = {
        "rejected_total bad-request": 10_003,
        "ratelimited_total active": 1,
        "callback_refused_total not-https": 2,
        "callback_refused_total ip-literal": 1,
        "mcp_sessions_ended_total": 7,
        "requests_total /mcp POST 200": 9,
    }
    (line,) = lines(before, after)
    assert line == (
        "in the last minute: connections or requests rejected: 10,000 bad-request; "
        "callbacks refused: 1 ip-literal, 2 not-https; MCP sessions ended: 7"
    )


def test_minute_without_increments_is_not_logged() -> None:
    counts = {"rejected_total bad-request": 3}
    assert [] == lines(counts, counts)
