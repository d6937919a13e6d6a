"""Answers of tools: the data once as JSON, and once as the text of the same JSON (mcp.md 5.4).

Both are spliced: what a snapshot holds is rendered and compact, so there are no control characters
in it, and to make a string of it only backslashes and quotes need escaping.
"""

from collections.abc import Generator, Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.records import escaped
from reviewsd.snapshot.snapshots import Snapshot

ANSWER_BUDGET = 40_000
"""Bytes of UTF-8 that a list is not to pass, unless set otherwise (mcp.md 5.4).

What counts for a language model is tokens, and usual clients refuse 25,000. Answers have been counted
with the tokenizers of GPT-4, GPT-4o and Claude 2: a token is 3.2 to 4.6 bytes of English or German, 2.4
to 4.1 of Chinese, Japanese or Korean, 1.7 to 7 of Greek, Thai, Arabic or Hindi, 1.5 at worst. By
characters the same texts differ ten times as much: 0.65 to 4.6.
"""

DEFAULT_BUDGET = 20_000
"""The same where the agent has named no limit: of most languages below 10,000 tokens."""

KNOWN = 20
"""Ids that are listed where one is not found (mcp.md 5.4)."""

ENVELOPE = 400
"""Bytes that may stand around the records of an answer; a cursor has at most 186."""


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """What a tool answers."""

    structured: tuple[Buffer, ...] | None
    """A JSON object; None for an error."""
    text: bytes
    """A JSON string, with its quotes: the same object, or what is wrong."""
    is_error: bool
    notes: bytes = b""
    """Members of the result's ``_meta``, rendered."""


class Call(Struct, frozen=True, kw_only=True):
    """What a tool works on."""

    tool: str
    """Its name, for messages."""
    values: Mapping[str, object]
    """The arguments, in the kinds of their parameters."""
    snapshot: Snapshot
    budget: int
    """Bytes of UTF-8 that the text of a list is not to pass."""


ToolSteps = Generator[None, None, ToolAnswer]


def answered(structured: bytes) -> ToolAnswer:
    """The data of a compact JSON object."""
    return ToolAnswer(structured=(structured,), text=literal(structured), is_error=False)


def listed(head: bytes, records: Buffer, escaped_records: bytes, tail: bytes) -> ToolAnswer:
    """The data of a compact JSON object with records in it, which are there as they stand in a string, too."""
    text = b'"%b%b%b"' % (escaped(head), escaped_records, escaped(tail))
    return ToolAnswer(structured=(head, records, tail), text=text, is_error=False)


def with_note(structured: bytes, note: str) -> bytes:
    """The same object, or its end, with why nothing matches where there is something to say."""
    if not note:
        return structured
    return b'%b,"note":%b}' % (structured[:-1], msgspec.json.encode(note))


def as_written(query: str | None) -> str:
    """What is told of a text that nothing has: language models like to list keywords."""
    if query is None or len(query.split()) == 1:
        return ""
    return "query is looked for as it is written, all words together: try one of them"


def refused(message: str) -> ToolAnswer:
    """What the agent should do otherwise."""
    return ToolAnswer(structured=None, text=msgspec.json.encode(message), is_error=True)


def literal(compact: bytes) -> bytes:
    """The JSON string whose text is a compact JSON value."""
    return b'"%b"' % escaped(compact)


def fitting(records: Sequence[Buffer], budget: int) -> int:
    """How many of the records fit into a number of bytes, commas counted; at least the first."""
    left = budget - ENVELOPE
    for count, record in enumerate(records):
        left -= len(record) + 1
        if left < 0:
            return max(count, 1)
    return len(records)
