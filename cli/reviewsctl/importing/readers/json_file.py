"""JSON documents in memory, whose values stay as they are written until they are decoded."""

import codecs
import functools
import json
from typing import Final

import msgspec
from msgspec import Raw

from reviewsctl.daemon import local
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.values import without_surrogates

DOWNLOAD: Final = "The file may be cut off: download or export it again."

_OBJECT, _ARRAY = b"{", b"["
_NULL: Final = Raw(b"null")
_raw: Final = msgspec.json.Decoder(Raw).decode
_value: Final = msgspec.json.Decoder().decode
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_elements: Final = msgspec.json.Decoder(list[Raw]).decode


class Document:
    """One document.

    Everything of it raises ImportRefusedError where it is no JSON.

    Args:
        content: UTF-8, a byte order mark tolerated.
        name: As messages name it.
        remedy: What to do when it is broken.
        line: Lines before it in its file.
    """

    def __init__(self, content: bytes, name: str, remedy: str = DOWNLOAD, *, line: int = 0) -> None:
        self._name = name
        self._remedy = remedy
        self._line = line
        self.root = self._parsed(content.removeprefix(codecs.BOM_UTF8))
        """The whole document."""

    def value(self, raw: Raw) -> object:
        """Return a decoded value."""
        try:
            return _value(raw)
        except msgspec.DecodeError:  # a number of more than 64 bits
            return self._loaded(bytes(raw))
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None

    @functools.cached_property
    def members(self) -> dict[str, Raw]:
        """The members of the document, which is an object."""
        if _begin(self.root) != _OBJECT:
            raise ImportRefusedError(f"{self._name}: it is no object of JSON", self._remedy)
        try:
            return _members(self.root)
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None

    def member(self, name: str) -> object:
        """Return the decoded value of a member of the document; None if it is not there."""
        return self.value(self.members.get(name, _NULL))

    def elements(self, name: str) -> list[Raw]:
        """Return the elements of a member that is an array; null counts as none."""
        raw = self.members.get(name, _NULL)
        if _begin(raw) not in (_ARRAY, b"n"):
            raise ImportRefusedError(f"{self._name}: a list is expected in it", self._remedy)
        return [] if _begin(raw) == b"n" else _elements(raw)

    def _parsed(self, text: bytes) -> Raw:
        """Return a value without decoding it; half characters become U+FFFD, and NaN null."""
        try:
            return _raw(text)
        except RecursionError:
            raise ImportRefusedError(f"{self._name}: nested too deeply", self._remedy) from None
        except msgspec.DecodeError:
            value = without_surrogates(self._loaded(text))
            return Raw(json.dumps(value, ensure_ascii=False).encode())

    def _loaded(self, text: bytes) -> object:
        """Return a value by the lenient decoder of the standard library, which takes NaN and half characters."""
        try:
            return json.loads(text.decode(), parse_constant=lambda _: None)
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None
        except json.JSONDecodeError as fault:
            line, column, reason = local.json_fault(text) or (fault.lineno, fault.colno, fault.msg)
            place = f"{self._name}:{self._line + line}:{column}"
            raise ImportRefusedError(f"{place}: {reason}", self._remedy) from None
        except ValueError as fault:  # an integer of thousands of digits
            raise ImportRefusedError(f"{self._name}: {fault}", self._remedy) from None

    def _not_utf8(self, fault: UnicodeDecodeError) -> ImportRefusedError:
        return ImportRefusedError(
            f"{self._name}: not UTF-8: {fault.reason}", "Save it as UTF-8, which JSON always is."
        )


def decoded(content: bytes, name: str) -> tuple[object, bool]:
    """Return the value of a document, and whether it is the list of the values in its lines, as in NDJSON.

    Raises:
        ImportRefusedError: It is no JSON.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    if not (name.casefold().endswith((".jsonl", ".ndjson")) or _has_lines(content)):
        document = Document(content, name)
        return document.value(document.root), False
    lines = (
        Document(line, name, line=number)
        for number, line in enumerate(content.split(b"\n"))
        if line.strip()
    )
    return [line.value(line.root) for line in lines], True


def _begin(raw: Raw) -> bytes:
    """Return the first byte of a value."""
    return bytes(memoryview(raw)[:1])


def _has_lines(content: bytes) -> bool:
    """Return whether one object follows another."""
    first, _, rest = content.lstrip().partition(b"\n")
    if not (first.startswith(_OBJECT) and rest.lstrip().startswith(_OBJECT)):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True
