"""What is odd about a configuration that is valid: told by ``reviewsctl check``, as a warning."""

import datetime
from collections.abc import Iterator

from reviewsd.config.schema import Config

_NOTICE = datetime.timedelta(days=30)
"""Before security.txt expires (pages.md 1)."""


def doubts(config: Config, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """Each oddity as a dotted key and what there is to say of it.

    Args:
        config: What is in effect.
        now: The time; aware.
    """
    expires = config.security.expires
    if expires is not None and expires - now < _NOTICE:
        day = expires.astimezone(datetime.UTC).date()
        told = f"expired on {day}" if expires <= now else f"expires on {day}"
        yield (
            "security.expires",
            f"security.txt {told}; look its contacts over and set a later time",
        )
