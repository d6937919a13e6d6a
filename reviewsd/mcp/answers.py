"""Answers of tools: the data once as JSON, and once as the text of the same JSON (mcp.md 5.4).

Both are spliced: what a snapshot holds is rendered and compact, so there are no control characters
in it, and to make a string of it only backslashes and quotes need escaping.
"""

from collections.abc import Generator, Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewsd.formats.representation import Buffer
from reviewsd.stores.snapshots import Snapshot

ANSWER_BUDGET = 80_000
"""Characters of the text that a list is not to pass, unless set otherwise (mcp.md 5.4)."""

DEFAULT_BUDGET = 38_000
"""The same where the agent has named no limit: below 10,000 tokens."""

KNOWN = 20
"""Ids that are listed where one is not found (mcp.md 5.4)."""

ENVELOPE = 400
"""Characters that may stand around the records of an answer; a cursor has at most 186."""


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """What a tool answers."""

    structured: tuple[Buffer, ...] | None
    """A JSON object; None for an error."""
    text: bytes
    """A JSON string, with its quotes: the same object, or what is wrong."""
    is_error: bool


class Call(Struct, frozen=True, kw_only=True):
    """What a tool works on."""

    tool: str
    """Its name, for messages."""
    values: Mapping[str, object]
    """The arguments, in the kinds of their parameters."""
    snapshot: Snapshot
    budget: int
    """Characters that the text of a list is not to pass."""


Steps = Generator[None, None, ToolAnswer]


def answered(structured: bytes) -> ToolAnswer:
    """The data of a compact JSON object."""
    return ToolAnswer(structured=(structured,), text=literal(structured), is_error=False)


def refused(message: str) -> ToolAnswer:
    """What the agent should do otherwise."""
    return ToolAnswer(structured=None, text=msgspec.json.encode(message), is_error=True)


def literal(compact: bytes) -> bytes:
    """The JSON string whose text is a compact JSON value."""
    return b'"%s"' % compact.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def fitting(records: Sequence[Buffer], budget: int) -> int:
    """How many of the records fit into a number of characters, commas counted; at least the first."""
    left = budget - ENVELOPE
    if sum(map(len, records)) + len(records) <= left:  # no text has more characters than bytes
        return len(records)
    for count, record in enumerate(records):
        left -= len(str(record, "utf-8")) + 1
        if left < 0:
            return max(count, 1)
    return len(records)
