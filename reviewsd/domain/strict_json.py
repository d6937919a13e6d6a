"""Rejects duplicate members and deep nesting, which decoders accept (data-model.md 5).

msgspec already rejects NaN and lone surrogates, in skipped members as well. A document may have
400 MB, so it is never decoded as one: ``split`` splits an object, ``walk`` checks the names of its
members, and ``fault`` checks one value.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from mmap import mmap
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from reviewsd.domain.data_errors import show

MAX_DEPTH = 64  # data-model.md 5

_PIECE = 1 << 16  # bytes; the kernel maps new memory for each larger copy

# An unclosed string extends to the end, so that no byte is scanned twice.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?')
_NAME = re.compile(rb"[\s{,]*+(" + _STRING.pattern + rb")\s*+:\s*+")
_AFTER = re.compile(rb"\s*+[,}]")
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte ([0-9]++)\)")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\1\1\xff\xff")  # into depth and out of it: 1 and, signed, -1
_INVALID = "invalid character"  # a line break is one only within a text
_PLAIN = dict.fromkeys(
    ("object keys must be strings", 'expected """'), 'expected a name of a member, as in "text"'
)
_WRITTEN = 1_000  # bytes before and behind a fault that show what was meant
_WRONG_QUOTES = "'`\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}«»“”„‟"
_UNQUOTED = re.compile(rb'":[ \t]*+([+(]?[A-Za-z]{0,2}[0-9][-+()/.:0-9A-Za-z ]*[0-9A-Za-z)])')
_NO_TEXTS = {b"rating", b"verified", b"latitude", b"longitude"}
_TOO_DEEP = f"nesting deeper than {MAX_DEPTH}"

_members = msgspec.json.Decoder(dict[str, Raw])
_anything = msgspec.json.Decoder(Raw)
_name = msgspec.json.Decoder(str)

T = TypeVar("T")

JsonBuffer: TypeAlias = bytes | Raw | memoryview | mmap


class NotJsonError(Exception):
    """The text is not JSON.

    Attributes:
        offset: Offset of the fault, in bytes; the length of the text if it ends too early.
        reason: The reason.
    """

    def __init__(self, offset: int, reason: str) -> None:
        self.offset = offset
        self.reason = reason
        super().__init__(f"{reason} at byte {offset}")


class UnfitError(Exception):
    """The text has duplicate members or is nested too deeply."""


def split(text: JsonBuffer) -> dict[str, Raw]:
    """Return the members of a JSON object, undecoded.

    Raises:
        NotJsonError: The text is not JSON.
        UnfitError: It is nested too deeply to be decoded.
        msgspec.ValidationError: It is JSON, but not an object.
    """
    try:
        return _read(text, _members)
    except msgspec.ValidationError:
        check(text)  # msgspec stopped at the first byte; check the rest
        raise


def check(text: JsonBuffer) -> None:
    """Check that a text is JSON of any kind.

    Raises:
        NotJsonError: The text is not JSON.
        UnfitError: It is nested too deeply to be decoded.
    """
    _read(text, _anything)


def _read(text: JsonBuffer, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        malformed = _MALFORMED.fullmatch(str(error))
        if malformed is None:
            raise NotJsonError(memoryview(text).nbytes, "it ends too early") from None
        offset, reason = int(malformed[2]), malformed[1].replace("'", '"')
        if reason == _INVALID and bytes(memoryview(text)[offset : offset + 1]) in (b"\n", b"\r"):
            reason = "a text without a quotation mark at its end"
        # msgspec reports the offset behind the first trailing character
        offset -= reason == "trailing characters"
        is_comma = reason.startswith('expected ","') and memoryview(text)[offset] not in b"]}"
        if is_comma:  # it is missing behind the value before
            before = bytes(memoryview(text)[max(0, offset - _PIECE) : offset])
            offset -= len(before) - len(before.rstrip())
        view = memoryview(text)
        fault = _wrong_quote(view, offset) or _unquoted(view, offset)
        raise fault or NotJsonError(offset, _PLAIN.get(reason, reason)) from None
    except RecursionError:
        raise UnfitError(_TOO_DEEP) from None


def _wrong_quote(text: memoryview, offset: int) -> NotJsonError | None:
    """Return the fault that a text has other quotation marks, as word processors write them."""
    mark = text[offset : offset + 3].tobytes().decode(errors="ignore")[:1]
    if not mark or mark not in _WRONG_QUOTES:
        return None
    return NotJsonError(
        offset, f'{mark} is not the quotation mark of JSON; write " instead, as in "text"'
    )


def _unquoted(text: memoryview, offset: int) -> NotJsonError | None:
    """Return the fault that a text of digits has no quotation marks."""
    begin = max(0, offset - _WRITTEN)
    around = text[begin : offset + _WRITTEN].tobytes()
    value = _UNQUOTED.match(around, max(0, around.rfind(b'":', 0, offset - begin)))
    if value is None or not value.start(1) <= offset - begin < value.end(1):
        return None
    name = around[: value.start()].rpartition(b'"')[2]
    if name in _NO_TEXTS or name.endswith((b"_count", b"_value")):
        return None
    reason = "a phone number, a postal code, a day or a time is a text; write"
    return NotJsonError(begin + value.start(1), f"{reason} {show(value[1].decode())}")


def walk(text: JsonBuffer, members: Mapping[str, Raw]) -> Iterator[tuple[str, int, int]]:
    """Yield name, begin and end of each value of an object that was ``split``.

    Of two members with one name, ``members`` has the value of the last. So at the first one the text
    differs from that value, or the name occurs again later.

    Raises:
        UnfitError: Two members have the same name.
    """
    names: set[str] = set()
    view = memoryview(text)
    end = 0
    while (match := _NAME.match(view, end)) is not None:
        name, start = _name.decode(match[1]), match.end()
        value = memoryview(members[name])
        end = start + len(value)
        # One number may be a prefix of another, so the value must end here.
        if name in names or not _equal(view[start:end], value) or not _AFTER.match(view, end):
            raise UnfitError(_duplicate(name))
        names.add(name)
        yield name, start, end


def _equal(first: memoryview, second: memoryview) -> bool:
    """Compare two texts in pieces, without copying a large one."""
    return len(first) == len(second) and all(
        first[at : at + _PIECE].tobytes() == second[at : at + _PIECE].tobytes()
        for at in range(0, len(first), _PIECE)
    )


def fault(text: bytes | Raw, depth: int = 0) -> str | None:
    """Return why one value of a document must not be published, or None.

    Args:
        text: The value, small enough to be decoded as one.
        depth: Depth of the value in its document: 1 for a member of the document's object.
    """
    text = bytes(text)
    if too_deep(text, depth):
        return _TOO_DEEP
    try:
        _strict.decode(text.decode())
    except UnfitError as error:
        return str(error)
    return None


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise UnfitError(_duplicate(name))


# Numbers stay text, because Python refuses an integer of more than 4,300 digits.
_strict = json.JSONDecoder(object_pairs_hook=_refuse_duplicates, parse_int=str, parse_float=str)


def _duplicate(name: str) -> str:
    return f"member {show(name)} twice"


def too_deep(text: bytes, depth: int = 0) -> bool:
    """Return whether arrays and objects are nested too deeply."""
    if text.count(b"{") + text.count(b"[") + depth <= MAX_DEPTH:
        return False
    steps = _STRING.sub(b"", text).translate(_STEPS, _NOT_BRACKETS)
    return depth + max(accumulate(array("b", steps)), default=0) > MAX_DEPTH
