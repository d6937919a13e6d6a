"""The revisions of the protocol that are offered, and in what they differ here (mcp.md 1).

What every revision tolerates is sent in all of them, so that tools and answers are the same bytes:
titles, annotations, ``outputSchema`` and ``structuredContent``.
"""

from dataclasses import dataclass

from reviewsd.mcp.jsonrpc import INVALID_PARAMS

RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; must not be sent after it (B#error-codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One row of the table."""

    name: str
    """As clients and the header spell it."""
    number: int
    """In session ids; never given to another one. 0 where there are no sessions."""
    batches: bool = False
    """Several messages may come in an array."""
    stateless: bool = False
    """Without initialize and sessions; each request says all there is to know."""
    website: bool = False
    """``serverInfo`` has ``websiteUrl``."""
    resource_not_found: int = RESOURCE_NOT_FOUND
    """The code for an unknown resource."""


HANDSHAKE = (
    Revision(name="2025-03-26", number=1, batches=True),
    Revision(name="2025-06-18", number=2),
    Revision(name="2025-11-25", number=3, website=True),
)
"""Those that begin with initialize; the newest is offered to whom asks for an unknown one."""

STATELESS = Revision(
    name="2026-07-28",
    number=0,
    stateless=True,
    website=True,
    resource_not_found=INVALID_PARAMS,
)
"""The only one of its era."""

BY_NUMBER = {revision.number: revision for revision in HANDSHAKE}
_BY_NAME = {revision.name: revision for revision in HANDSHAKE}


def negotiated(wanted: str) -> Revision:
    """The revision of a new session: what is asked for, or else the newest (L#version-negotiation)."""
    return _BY_NAME.get(wanted, HANDSHAKE[-1])
