"""Splits a JSON file of the data directory into parts, and validates each part.

A file may have a gigabyte, and a fault in each of a million records. So parts are decoded one at a
time. Once the maximum of findings is reached, each further invalid part is only counted: explaining a
fault takes a hundred times as long as detecting it.
"""

import codecs
import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

import msgspec
from msgspec import Raw

from reviewsd.api.files import Diagnostic
from reviewsd.domain import strict_json
from reviewsd.domain.data_errors import MAX_FINDINGS, DataError, explain
from reviewsd.domain.records import RecordText
from reviewsd.domain.reviews import Review, ReviewId
from reviewsd.domain.strict_json import JsonBuffer

_MIB = 1 << 20
_UTF8_CHUNK = 1 << 14  # bytes; the kernel maps new memory for each large str
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes within a UTF-8 character, at most three in a row
BOM = b"\xef\xbb\xbf"
_MAX_DIGITS = 4000  # of an integer shown in a finding; Python itself refuses more than 4,300
_OPENING = re.compile(rb"\s*([{[])")
_EMPTY: dict[bytes, object] = {b"{": {}, b"[": []}

T = TypeVar("T")


class Findings:
    """The first findings, and the number of all."""

    def __init__(self) -> None:
        self._first: list[Diagnostic] = []
        self._total = 0
        self._exact = True

    def __bool__(self) -> bool:
        return self._total > 0

    @property
    def full(self) -> bool:
        """Whether further findings are only counted."""
        return len(self._first) == MAX_FINDINGS

    def add(self, finding: Diagnostic) -> None:
        """Add a finding."""
        self._total += 1
        if not self.full:
            self._first.append(finding)

    def count(self) -> None:
        """Count an invalid part."""
        self._total += 1
        self._exact = False

    def error(self) -> DataError:
        """Return the error to raise."""
        return DataError(tuple(self._first), self._total, exact=self._exact)


class JsonFile:
    """A JSON file; an invalid part adds findings.

    Args:
        name: Name of the file.
        findings: Collects the findings.
    """

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings

    @property
    def full(self) -> bool:
        """Whether further findings are only counted."""
        return self._findings.full

    def refuse(self, path: str, reason: str, review_id: str | None = None) -> None:
        """Add a finding."""
        self._findings.add(Diagnostic(file=self._name, path=path, reason=reason, id=review_id))

    def refuse_type(self, path: str, text: JsonBuffer, kind: object) -> None:
        """Add the finding that a value should be an object or an array.

        A value that is one of the two is explained as if it were empty.
        """
        opening = _OPENING.match(text)
        value = _decode_any(text) if opening is None else _EMPTY[opening[1]]
        self._refuse_all(explain(value, kind, path))

    def split(self, text: RecordText) -> tuple[dict[str, Raw], dict[str, int]] | None:
        """Return the members of the file's object, and the offsets of their values."""
        skipped = len(BOM) if text[: len(BOM)] == BOM else 0
        view = memoryview(text)[skipped:]
        if (offset := _first_not_utf8(view)) is not None:
            self.refuse("", f"not UTF-8 at byte {offset + skipped}")
            return None
        try:
            members = strict_json.split(view)
        except strict_json.NotJsonError as error:
            line, column, reason = located(view, error)
            self._findings.add(Diagnostic(file=self._name, line=line, column=column, reason=reason))
            return None
        except strict_json.UnfitError as error:
            self.refuse("$", str(error))
            return None
        except msgspec.ValidationError:
            self.refuse_type("$", view, dict[str, object])
            return None
        begins: dict[str, int] = {}
        try:
            for name, begin, _ in strict_json.walk(view, members):
                begins[name] = begin + skipped
        except strict_json.UnfitError as error:
            self.refuse("$", str(error))
        return members, begins

    def decode(
        self, raw: Raw, decoder: msgspec.json.Decoder[T], path: str, depth: int = 1
    ) -> T | None:
        """Decode one part; None after adding its findings if it is invalid."""
        if self._findings.full:
            try:
                return decoder.decode(raw)
            except msgspec.ValidationError:
                self._findings.count()
                return None
        if (reason := strict_json.fault(raw, depth)) is not None:
            self.refuse(path, reason, _review_id(raw, decoder.type))
            return None
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            faults = explain(_decode_any(raw), decoder.type, path)
            first = next(faults, (path, str(error)))
            self._refuse_all(chain((first,), faults), _review_id(raw, decoder.type))
            return None

    def _refuse_all(self, faults: Iterable[tuple[str, str]], review_id: str | None = None) -> None:
        """Add the faults of one part as findings."""
        for path, reason in faults:
            if self._findings.full:
                self._findings.count()
                return
            self.refuse(path, reason, review_id)


class _Identified(msgspec.Struct):
    """The id of a review."""

    id: ReviewId


_identified = msgspec.json.Decoder(_Identified)


def _review_id(raw: Raw, kind: object) -> str | None:
    """Return the id for the findings of a part, if it is a review and the id is valid."""
    if kind is not Review:
        return None
    try:
        return _identified.decode(raw).id
    except msgspec.ValidationError:
        return None


def _decode_any(raw: JsonBuffer) -> object:
    """Decode JSON for ``explain``; msgspec refuses numbers outside its range."""
    return json.loads(bytes(raw), parse_int=lambda digits: int(digits[:_MAX_DIGITS]))


def _first_not_utf8(text: memoryview) -> int | None:
    """Return the offset of the first byte that is not UTF-8.

    The text is checked in chunks, because a str may take four times the memory.
    """
    start = 0
    while start < len(text):
        chunk = text[start : start + _UTF8_CHUNK]
        is_last = start + len(chunk) == len(text)
        try:
            start += codecs.utf_8_decode(chunk, "strict", is_last)[1]  # a cut character is left
        except UnicodeDecodeError as error:
            return start + error.start
    return None


def fault(text: bytes) -> tuple[int, int, str] | None:
    """Return line, column and reason of the first place where a text is not JSON; None if it is."""
    try:
        strict_json.check(text)
    except strict_json.NotJsonError as error:
        return located(memoryview(text), error)
    return None


def located(text: memoryview, error: strict_json.NotJsonError) -> tuple[int, int, str]:
    """Return line and column of a fault, both counted from 1, and its reason in words."""
    return *line_and_column(text, error.offset), f"invalid JSON: {error.reason}"


def line_and_column(text: memoryview, offset: int) -> tuple[int, int]:
    """Return the line and column of a byte, both counted from 1, the column in characters."""
    line, column = 1, 1
    for start in range(0, offset, _MIB):
        before, end, piece = text[start : min(start + _MIB, offset)].tobytes().rpartition(b"\n")
        if end:
            line += before.count(end) + 1
            column = 1
        column += len(piece.translate(None, _CONTINUATION))
    return line, column
