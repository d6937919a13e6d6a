"""Delays before a failed delivery is retried (contract 5, H14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.websub.delivery import JITTER, MAX_RETRY_AFTER, retry_after, waits

NOW = 1_760_000_000_000  # Thu, 09 Oct 2025 08:53:20 GMT
DELAYS = (60.0, 1800.0)


def test_each_wait_varies_by_a_fifth() -> None:
    """Independently of the others."""
    chances = iter((0.0, 1.0))
    assert (48_000, 2_160_000) == waits(DELAYS, lambda: next(chances))


@given(
    st.tuples(st.floats(0, 86_400), st.floats(0, 86_400)),
    st.floats(0, 1),
    st.integers(0, MAX_RETRY_AFTER),
)
def test_wait_is_within_its_bounds_and_not_shorter_than_requested(
    delays: tuple[float, float], chance: float, requested: int
) -> None:
    for delay, wait in zip(delays, waits(delays, lambda: chance, requested), strict=True):
        least, most = delay * (1 - JITTER) * 1000, delay * (1 + JITTER) * 1000
        assert max(least - 1, requested) <= wait <= max(most + 1, requested)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 0),
        (b"", 0),
        (b"0", 0),
        (b"1", 1_000),
        (b"120", 120_000),
        (b"3600", MAX_RETRY_AFTER),
        (b"3601", MAX_RETRY_AFTER),
        (b"9999999999", MAX_RETRY_AFTER),
        (b"99999999999999999999", MAX_RETRY_AFTER),
        (b"-1", 0),
        (b"+5", 0),
        (b"1.5", 0),
        (b"1e3", 0),
        (b" 5", 0),
        (b"soon", 0),
        (b"\xd9\xa1", 0),
        (b"Thu, 09 Oct 2025 08:54:20 GMT", 60_000),
        (b"Thu, 09 Oct 2025 08:53:20 GMT", 0),
        (b"Thu, 09 Oct 2025 08:00:00 GMT", 0),
        (b"Thu, 09 Oct 2036 08:00:00 GMT", MAX_RETRY_AFTER),
        (b"Thursday, 09-Oct-25 08:54:20 GMT", 60_000),
        (b"Thu Oct  9 08:54:20 2025", 60_000),
        (b"09 Oct 2025 08:54:20", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date_up_to_1_h(value: bytes | None, expected: int) -> None:
    """RFC 9110 10.2.3."""
    assert expected == retry_after(value, NOW)


@given(st.binary(max_size=40), st.integers(0, 4 * 10**12))
def test_any_retry_after_gives_a_wait(value: bytes, now: int) -> None:
    assert 0 <= retry_after(value, now) <= MAX_RETRY_AFTER
