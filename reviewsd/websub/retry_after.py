"""The delays before a failed delivery is retried (contract.md 5, H14)."""

from collections.abc import Callable

from reviewsd.http1.preconditions import parse_http_date

MAX_RETRY_AFTER = 3_600_000
"""Longest delay in milliseconds that a callback may request."""

_DIGITS = 10  # of the seconds; more exceed the longest delay


def waits(
    delays: tuple[float, float], jitter: float, chance: Callable[[], float], request: int = 0
) -> tuple[int, int]:
    """Return the delays after the first and the second failure, in milliseconds.

    Args:
        delays: Seconds.
        jitter: The largest fraction of a delay by which it is lengthened or shortened.
        chance: Returns a random number from 0 to 1.
        request: The delay that the callback requests, in milliseconds; it only lengthens.
    """

    def wait(delay: float) -> int:
        spread = 1 + jitter * (2 * chance() - 1)
        return max(round(delay * spread * 1000), request)

    first, second = delays
    return wait(first), wait(second)


def retry_after(value: bytes | None, now: int) -> int:
    """Return the delay of a Retry-After in milliseconds, at most an hour (RFC 9110 10.2.3).

    Args:
        value: The header; an absent or malformed one has no delay.
        now: Milliseconds since 1970 UTC.
    """
    if value is None:
        return 0
    if value.isdigit():
        wait = int(value.lstrip(b"0")[:_DIGITS] or b"0") * 1000
    else:
        date = parse_http_date(value, now // 1000)
        wait = 0 if date is None else date * 1000 - now
    return min(max(wait, 0), MAX_RETRY_AFTER)
