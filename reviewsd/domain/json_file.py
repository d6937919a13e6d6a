"""One file of the data directory, taken apart: its parts, strict and typed, and what is wrong with them.

A file may have a gigabyte, and a fault in each of a million records. So no part is decoded but for the
one that is looked at, and once there are as many findings as an operator is shown, faults are counted only,
one for each part: explaining one takes a hundred times as long as seeing that there is one.
"""

import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Generic, TypeVar

import msgspec
from msgspec import Raw

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.domain import strict_json
from reviewsd.domain.data_errors import MAX_FINDINGS, DataError, explain
from reviewsd.domain.records import RecordText
from reviewsd.domain.reviews import ReviewId
from reviewsd.domain.strict_json import JsonBuffer

_MIB = 1 << 20
_CHECKED = 1 << 14  # bytes: large texts take new memory of the kernel each time
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes within a UTF-8 character, at most three in a row
_BOM = b"\xef\xbb\xbf"
_MAX_DIGITS = 4000  # of an integer shown in a finding; Python itself refuses more than 4,300
_FIRST = re.compile(rb"\s*([{[])")
_HOLLOW: dict[bytes, object] = {b"{": {}, b"[": []}

T = TypeVar("T")


class Findings:
    """Keeps the first findings and counts the others."""

    def __init__(self) -> None:
        self._first: list[Diagnostic] = []
        self._total = 0
        self._exact = True

    def __bool__(self) -> bool:
        return self._total > 0

    @property
    def full(self) -> bool:
        """Whether no more are kept."""
        return len(self._first) == MAX_FINDINGS

    def add(self, finding: Diagnostic) -> None:
        """One more fault, explained."""
        self._total += 1
        if not self.full:
            self._first.append(finding)

    def count(self) -> None:
        """A part with one fault or more."""
        self._total += 1
        self._exact = False

    def error(self) -> DataError:
        """All of it, to be raised."""
        return DataError(tuple(self._first), self._total, exact=self._exact)


class PartType(Generic[T]):
    """A type that a part of a file must have, with its decoder.

    Args:
        kind: The type.
        identified: Whether such parts have an ``id`` that findings should name.
    """

    def __init__(self, kind: object, *, identified: bool = False) -> None:
        self.kind = kind
        self.identified = identified
        self.decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)


class JsonFile:
    """One file: what is refused is left out and leaves a finding.

    Args:
        name: Of the file.
        findings: Where they are collected.
    """

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings

    @property
    def faulty(self) -> bool:
        """Whether anything was refused, in whatever file."""
        return bool(self._findings)

    def refuse(self, path: str, reason: str, review_id: str | None = None) -> None:
        """Leave a finding."""
        self._findings.add(Diagnostic(file=self._name, path=path, reason=reason, id=review_id))

    def refuse_type(self, path: str, text: JsonBuffer, kind: object) -> None:
        """Refuse JSON of another type than this object or array; what it contains does not count."""
        first = _FIRST.match(text)
        self._refuse_all(explain(_loose(text) if first is None else _HOLLOW[first[1]], kind, path))

    def split(self, text: RecordText) -> tuple[dict[str, Raw], dict[str, int]] | None:
        """The members of the file's one object, and where in the file the value of each begins."""
        skipped = len(_BOM) if text[: len(_BOM)] == _BOM else 0
        view = memoryview(text)[skipped:]
        if (offset := _first_not_utf8(view)) is not None:
            self.refuse("", f"not UTF-8 at byte {offset + skipped}")
            return None
        try:
            members = strict_json.split(view)
        except strict_json.NotJsonError as error:
            line, column = _line_and_column(view, error.offset)
            reason = f"invalid JSON: {error.reason}"
            at = Diagnostic(file=self._name, line=line, column=column, reason=reason)
            self._findings.add(at)
            return None
        except strict_json.UnfitError as unfit:
            self.refuse("$", str(unfit))
            return None
        except msgspec.ValidationError:
            self.refuse_type("$", view, dict[str, object])
            return None
        begins: dict[str, int] = {}
        try:
            for name, begin, _ in strict_json.walk(view, members):
                begins[name] = begin + skipped
        except strict_json.UnfitError as unfit:
            self.refuse("$", str(unfit))
        return members, begins

    def decode(self, raw: Raw, kind: PartType[T], path: str, depth: int = 1) -> T | None:
        """One part, strict and typed, or None with what is wrong with it."""
        if self._findings.full:
            try:
                return kind.decoder.decode(raw)
            except msgspec.ValidationError:
                self._findings.count()
                return None
        if (reason := strict_json.fault(raw, depth)) is not None:
            self.refuse(path, reason, _review_id(raw, kind))
            return None
        try:
            return kind.decoder.decode(raw)
        except msgspec.ValidationError as refusal:
            faults = explain(_loose(raw), kind.kind, path)
            first = next(faults, (path, str(refusal)))
            self._refuse_all(chain((first,), faults), _review_id(raw, kind))
            return None

    def _refuse_all(self, faults: Iterable[tuple[str, str]], review_id: str | None = None) -> None:
        """Leave a finding for each fault of one part, as far as they are kept."""
        for path, reason in faults:
            if self._findings.full:
                self._findings.count()
                return
            self.refuse(path, reason, review_id)


class _Identified(msgspec.Struct):
    """Of a review its id, where that is one."""

    id: ReviewId


_identified = msgspec.json.Decoder(_Identified)


def _review_id(raw: Raw, kind: PartType[T]) -> str | None:
    """The id for the findings of a part; only one that is fit to be shown on a line."""
    if not kind.identified:
        return None
    try:
        return _identified.decode(raw).id
    except msgspec.ValidationError:
        return None


def _loose(raw: JsonBuffer) -> object:
    """Any JSON, decoded to be explained; msgspec refuses numbers that are too great for it."""
    return json.loads(bytes(raw), parse_int=lambda digits: int(digits[:_MAX_DIGITS]))


def _first_not_utf8(text: memoryview) -> int | None:
    """The offset of the first byte that is not UTF-8; in steps, as a str can take four times more."""
    start = 0
    while start < len(text):
        end = min(start + _CHECKED, len(text))
        while end < min(start + _CHECKED + 3, len(text)) and text[end] in _CONTINUATION:
            end += 1  # do not cut a character
        try:
            str(text[start:end], "utf-8")
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None


def _line_and_column(text: memoryview, offset: int) -> tuple[int, int]:
    """Of a byte, both counted from 1, the column in characters."""
    line, column = 1, 1
    for start in range(0, offset, _MIB):
        before, end, piece = text[start : min(start + _MIB, offset)].tobytes().rpartition(b"\n")
        if end:
            line += before.count(end) + 1
            column = 1
        column += len(piece.translate(None, _CONTINUATION))
    return line, column
