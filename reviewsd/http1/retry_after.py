"""When a failed delivery is tried again (contract.md 5, H14)."""

from collections.abc import Callable

from reviewsd.http1.preconditions import parse_http_date

MAX_RETRY_AFTER = 3_600_000
"""Milliseconds by which a callback may ask for patience at most."""

_DIGITS = 10  # of the seconds asked for; these are more than enough


def waits(
    delays: tuple[float, float], jitter: float, chance: Callable[[], float], request: int = 0
) -> tuple[int, int]:
    """The waits after the first and the second failure, milliseconds.

    Args:
        delays: Seconds.
        jitter: By which part of itself each is made longer or shorter at most.
        chance: Gives a number from 0 to 1, another one each time.
        request: What the callback asked for; lengthens a wait, never shortens it.
    """

    def wait(delay: float) -> int:
        spread = 1 + jitter * (2 * chance() - 1)
        return max(round(delay * spread * 1000), request)

    first, second = delays
    return wait(first), wait(second)


def retry_after(value: bytes | None, now: int) -> int:
    """How long a Retry-After asks to wait (RFC 9110 10.2.3), milliseconds, an hour at most.

    Args:
        value: The header; None and what is malformed ask for nothing.
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
