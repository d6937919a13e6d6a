"""Strict JSON: what decoders let through and a published data set must not have (data-model.md 5).

msgspec reads strictly, also where it skips a member: no NaN, no lone surrogates. But it keeps the
last of two equal member names, and nesting ends where the stack does. A document may have 400 MB, so
it is never decoded as one: ``split`` takes an object apart, ``walk`` looks at what stands between the
parts, ``fault`` at one part.
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

_PIECE = 1 << 16  # bytes; more take new memory of the kernel each time

# A string that is not closed goes on to the end: whatever the text is, no byte is looked at twice.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?')
_NAME = re.compile(rb"[\s{,]*+(" + _STRING.pattern + rb")\s*+:\s*+")
_AFTER = re.compile(rb"\s*+[,}]")
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte ([0-9]++)\)")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\1\1\xff\xff")  # into depth and out of it: 1 and, signed, -1
_TOO_DEEP = f"nesting deeper than {MAX_DEPTH}"

_members = msgspec.json.Decoder(dict[str, Raw])
_anything = msgspec.json.Decoder(Raw)
_name = msgspec.json.Decoder(str)

T = TypeVar("T")

JsonBuffer: TypeAlias = bytes | Raw | memoryview | mmap


class NotJsonError(Exception):
    """The text is not JSON at all.

    Attributes:
        offset: Where, in bytes from the start; the length of the text when it ends too early.
        reason: What is wrong there.
    """

    def __init__(self, offset: int, reason: str) -> None:
        self.offset = offset
        self.reason = reason
        super().__init__(f"{reason} at byte {offset}")


class UnfitError(Exception):
    """The text is JSON, or may be, and is not fit to publish."""


def split(text: JsonBuffer) -> dict[str, Raw]:
    """The members of a JSON object, undecoded.

    Raises:
        NotJsonError: The text is not JSON.
        UnfitError: It is nested so deeply that it cannot be read.
        msgspec.ValidationError: It is JSON, but not an object.
    """
    try:
        return _read(text, _members)
    except msgspec.ValidationError:
        _read(text, _anything)  # msgspec has stopped at the first byte: is the rest JSON?
        raise


def _read(text: JsonBuffer, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        found = _MALFORMED.fullmatch(str(error))
        if found is None:
            raise NotJsonError(memoryview(text).nbytes, "unexpected end") from None
        offset, reason = int(found[2]), found[1].replace("'", '"')
        # msgspec has read the first of these already
        raise NotJsonError(offset - (reason == "trailing characters"), reason) from None
    except RecursionError:
        raise UnfitError(_TOO_DEEP) from None


def walk(text: JsonBuffer, members: Mapping[str, Raw]) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of each value of an object that ``split`` took apart.

    Raises:
        UnfitError: There are two members of one name. Of these, ``members`` has the last one's value:
            where the first one stands, the text differs, or else its name comes again.
    """
    seen: set[str] = set()
    view = memoryview(text)
    end = 0
    while (match := _NAME.match(view, end)) is not None:
        name, start = _name.decode(match[1]), match.end()
        value = memoryview(members[name])
        end = start + len(value)
        # a number may begin with another one, so look what follows it
        if name in seen or not _equal(view[start:end], value) or not _AFTER.match(view, end):
            raise UnfitError(_twice(name))
        seen.add(name)
        yield name, start, end


def _equal(one: memoryview, other: memoryview) -> bool:
    """Whether two texts are the same; in pieces, so that no copy of a large one is made."""
    return len(one) == len(other) and all(
        one[at : at + _PIECE].tobytes() == other[at : at + _PIECE].tobytes()
        for at in range(0, len(one), _PIECE)
    )


def fault(text: bytes | Raw, depth: int = 0) -> str | None:
    """Why one part of a document that was ``split`` is not fit to publish, or None.

    Args:
        text: The part, small enough to be decoded as one.
        depth: How deeply it is nested in its document: 1 for a member of the document's object.
    """
    text = bytes(text)
    if too_deep(text, depth):
        return _TOO_DEEP
    try:
        _strict.decode(text.decode())
    except UnfitError as unfit:
        return str(unfit)
    return None


def _refuse_twice(pairs: list[tuple[str, object]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise UnfitError(_twice(name))


# numbers stay text: Python refuses an integer of more than 4,300 digits
_strict = json.JSONDecoder(object_pairs_hook=_refuse_twice, parse_int=str, parse_float=str)


def _twice(name: str) -> str:
    return f"member {show(name)} twice"


def too_deep(text: bytes, depth: int = 0) -> bool:
    """Whether arrays and objects are nested too deeply; brackets within strings do not count."""
    if text.count(b"{") + text.count(b"[") + depth <= MAX_DEPTH:
        return False
    steps = _STRING.sub(b"", text).translate(_STEPS, _NOT_BRACKETS)
    return depth + max(accumulate(array("b", steps)), default=0) > MAX_DEPTH
