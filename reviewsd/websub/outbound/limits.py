"""Limits of one exchange with a callback (E12)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeLimits:
    """Limits of time and bytes."""

    connect_timeout: float = 10.0
    """Seconds until a connection is open."""
    byte_budget: int = 131_072
    """Bytes that are received below TLS in one exchange."""
    max_lifetime: float = 45.0
    """Seconds of a connection; below the 90 s for which a delivery is claimed (D5)."""


LIMITS = ExchangeLimits()
