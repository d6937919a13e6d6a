"""Results of methods and tools, and the limits of a tool's result (mcp.md 5.4).

A tool's result has its data twice, as JSON and as a JSON string of the same JSON. Both are spliced
from rendered bytes. These are compact and have no control characters, so that only backslashes and
quotes need escaping.
"""

from collections.abc import Generator, Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.records import escaped
from reviewsd.snapshot.snapshots import Snapshot

ANSWER_BUDGET = 40_000
"""Most bytes of UTF-8 in the text of a list (mcp.md 5.4).

Language models count tokens, and usual clients refuse more than 25,000. By the tokenizers of GPT-4, GPT-4o and
Claude 2, a token is 3.2 to 4.6 bytes of English or German, 2.4 to 4.1 of Chinese, Japanese or Korean,
1.7 to 7 of Greek, Thai, Arabic or Hindi, and 1.5 at worst. By characters the same texts differ ten
times as much: 0.65 to 4.6.
"""

DEFAULT_BUDGET = 20_000
"""The limit of a call without a limit argument: below 10,000 tokens in most languages."""

MAX_LISTED_IDS = 20
"""Most ids in the error for an unknown id."""

ENVELOPE = 400
"""Bytes reserved for the members around the records; a cursor has at most 186."""


class Result(Struct, frozen=True):
    """The result of a method."""

    parts: tuple[Buffer, ...]
    """The pieces of a JSON object."""
    is_error: bool = False
    """Whether a tool reports an error in it."""
    notes: bytes = b""
    """Rendered members of ``_meta``."""


class Call(Struct, frozen=True, kw_only=True):
    """A call of a tool."""

    values: Mapping[str, object]
    """The arguments by name, in the types of their parameters."""
    snapshot: Snapshot
    budget: int
    """Most bytes of UTF-8 in the text of a list."""


ToolSteps = Generator[None, None, Result]


class ToolError(Exception):
    """An error that the agent can correct; the message follows the name of the tool."""


def data_result(structured: bytes) -> Result:
    """Return the result of a compact JSON object."""
    return _result((structured,), b'"%b"' % escaped(structured))


def list_result(head: bytes, records: Buffer, escaped_records: bytes, tail: bytes) -> Result:
    """Return the result of a compact JSON object with records, which are passed plain and escaped."""
    text = b'"%b%b%b"' % (escaped(head), escaped_records, escaped(tail))
    return _result((head, records, tail), text)


def error_result(message: str) -> Result:
    """Return the result with an error that the agent can correct."""
    text = msgspec.json.encode(message)
    return Result((_CONTENT, text, b'}],"isError":true}'), is_error=True)


def _result(structured: tuple[Buffer, ...], text: bytes) -> Result:
    return Result((_CONTENT, text, b'}],"structuredContent":', *structured, b',"isError":false}'))


_CONTENT = b'{"content":[{"type":"text","text":'


def with_note(structured: bytes, note: str) -> bytes:
    """Add ``note`` to a JSON object, or to its end; an empty note is left out."""
    if not note:
        return structured
    return b'%b,"note":%b}' % (structured[:-1], msgspec.json.encode(note))


def keyword_note(query: str | None) -> str:
    """Return the note on a query without a match; language models like to list keywords."""
    if query is None or len(query.split()) == 1:
        return ""
    return "the query is matched as one phrase: try a single word of it"


def count_fitting(records: Sequence[Buffer], budget: int) -> int:
    """Return how many records fit into a budget, with their commas; at least one."""
    available = budget - ENVELOPE
    for count, record in enumerate(records):
        available -= len(record) + 1
        if available < 0:
            return max(count, 1)
    return len(records)
