"""The offered revisions of the protocol, and their differences (mcp.md 1).

Members that every revision tolerates are sent in all of them, so that tools and results have the same
bytes: titles, annotations, ``outputSchema`` and ``structuredContent``.
"""

from dataclasses import dataclass

from reviewsd.mcp.jsonrpc import INVALID_PARAMS

RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; must not be sent after it (B#error-codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A revision of the protocol."""

    name: str
    """Its spelling in messages and in the header."""
    number: int
    """Its number in session ids, never reused; 0 without sessions."""
    batches: bool = False
    """Whether an array of messages is accepted."""
    stateless: bool = False
    """Whether there is neither initialize nor a session."""
    website: bool = False
    """Whether ``serverInfo`` has ``websiteUrl``."""
    resource_not_found: int = RESOURCE_NOT_FOUND
    """The error code for an unknown resource."""


HANDSHAKE = (
    Revision(name="2025-03-26", number=1, batches=True),
    Revision(name="2025-06-18", number=2),
    Revision(name="2025-11-25", number=3, website=True),
)
"""The revisions with initialize and sessions, oldest first."""

STATELESS = Revision(
    name="2026-07-28",
    number=0,
    stateless=True,
    website=True,
    resource_not_found=INVALID_PARAMS,
)

SUPPORTED = b'["%b"]' % STATELESS.name.encode()
"""The revisions that clients of the stateless era are offered (2b-9)."""

BY_NUMBER = {revision.number: revision for revision in HANDSHAKE}
_BY_NAME = {revision.name: revision for revision in HANDSHAKE}


def negotiated(requested: str) -> Revision:
    """Return the revision of a new session: the requested one, else the newest (L#version-negotiation)."""
    return _BY_NAME.get(requested, HANDSHAKE[-1])
