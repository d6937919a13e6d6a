"""JSON documents in memory, whose values stay as they are written until they are decoded.

Where rows stand in a document is a layout: ``("reviews", EACH)`` is each element of the member ``reviews``.
"""

import codecs
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.values import without_surrogates

EACH: Final = "*"
LINES: Final = "\n"
"""In a layout: one value in each line, as in NDJSON."""

Layout = tuple[str, ...]

DOWNLOAD: Final = "The file may be cut off: download or export it again."

_OBJECT, _ARRAY = b"{", b"["
_raw: Final = msgspec.json.Decoder(Raw).decode
_value: Final = msgspec.json.Decoder().decode
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_elements: Final = msgspec.json.Decoder(list[Raw]).decode


class Piece(NamedTuple):
    """One value and its text."""

    value: object
    text: bytes


class Document:
    """One document.

    Every method raises ImportRefusedError where it is no JSON.

    Args:
        content: UTF-8, a byte order mark tolerated.
        name: As messages name it.
        remedy: What to do when it is broken.
    """

    def __init__(self, content: bytes, name: str, remedy: str = DOWNLOAD) -> None:
        self._name = name
        self._remedy = remedy
        content = content.removeprefix(codecs.BOM_UTF8)
        self._lines = content.split(b"\n") if _has_lines(content) else ()
        self.root = Raw(b"null") if self._lines else self._parsed(content)
        """The whole document; null if each line is a value."""
        self.around: dict[str, object] = {}
        """The members beside the rows, as ``rows`` passes them."""
        self.group: dict[str, object] = {}
        """The words and flags among them that are of the object in whose list the rows are."""
        self.list_name = "$"
        """What the list is called whose elements ``rows`` returns."""

    @property
    def has_lines(self) -> bool:
        """Whether each line is a value."""
        return bool(self._lines)

    def value(self, raw: Raw) -> object:
        """Return a decoded value."""
        try:
            return _value(raw)
        except msgspec.DecodeError:  # a number of more than 64 bits
            return self._loaded(bytes(raw))
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None

    def members(self, raw: Raw | None = None) -> dict[str, Raw]:
        """Return the members of an object; those of the document without an argument."""
        raw = self.root if raw is None else raw
        if begin(raw) != _OBJECT:
            raise ImportRefusedError(f"{self._name}: it is no object of JSON", self._remedy)
        try:
            return _members(raw)
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None

    def elements(self, raw: Raw | None = None) -> list[Raw]:
        """Return the elements of an array; null counts as none."""
        raw = self.root if raw is None else raw
        if begin(raw) not in (_ARRAY, b"n"):
            raise ImportRefusedError(f"{self._name}: a list is expected in it", self._remedy)
        return [] if begin(raw) == b"n" else _elements(raw)

    def rows(self, *layouts: Layout) -> Iterator[Piece]:
        """Iterate over the values at some layouts; the members beside them go to ``around``."""
        if (LINES,) not in layouts:
            yield from self._rows(self.root, layouts)
            return
        for number, line in enumerate(self._lines):
            if line.strip():
                yield self.piece(self._parsed(line, number))

    def piece(self, raw: Raw) -> Piece:
        """Return a value with its text."""
        return Piece(self.value(raw), bytes(raw))

    def _rows(self, raw: Raw, layouts: Sequence[Layout]) -> Iterator[Piece]:
        if () in layouts:
            yield self.piece(raw)
        elif inner := _below(layouts, EACH):
            for element in self.elements(raw):
                if () in inner:
                    yield self.piece(element)
                elif _has_shape(element, inner):
                    self.group = {}
                    yield from self._rows(element, inner)
        else:
            for name, member in self.members(raw).items():
                inner = _below(layouts, name)
                if inner and _has_shape(member, inner):
                    self.list_name = name if (EACH,) in inner else self.list_name
                    yield from self._rows(member, inner)
                else:
                    value = self.around[name] = self.value(member)
                    if isinstance(value, str | bool):  # a number may count the rows
                        self.group[name] = value

    def _parsed(self, text: bytes, line: int = 0) -> Raw:
        """Return a value without decoding it; half characters become U+FFFD, and NaN null."""
        try:
            return _raw(text)
        except RecursionError:
            raise ImportRefusedError(f"{self._name}: nested too deeply", self._remedy) from None
        except msgspec.DecodeError:
            value = without_surrogates(self._loaded(text, line))
            return Raw(json.dumps(value, ensure_ascii=False).encode())

    def _loaded(self, text: bytes, line: int = 0) -> object:
        """Return a value by the lenient decoder of the standard library, which says what is wrong and where."""
        try:
            return json.loads(text.decode(), parse_constant=lambda _: None)
        except UnicodeDecodeError as fault:
            raise self._not_utf8(fault) from None
        except json.JSONDecodeError as fault:
            reason = fault.msg[0].lower() + fault.msg[1:]
            if fault.pos >= len(fault.doc.rstrip()):
                reason = "it ends too early"
            place = f"{self._name}:{line + fault.lineno}:{fault.colno}"
            raise ImportRefusedError(f"{place}: invalid JSON: {reason}", self._remedy) from None
        except ValueError as fault:  # an integer of thousands of digits
            raise ImportRefusedError(f"{self._name}: {fault}", self._remedy) from None

    def _not_utf8(self, fault: UnicodeDecodeError) -> ImportRefusedError:
        return ImportRefusedError(
            f"{self._name}: not UTF-8: {fault.reason}", "Save it as UTF-8, which JSON always is."
        )


def begin(raw: Raw) -> bytes:
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


def _below(layouts: Iterable[Layout], step: str) -> list[Layout]:
    """Return the layouts that begin with a step, without it."""
    return [layout[1:] for layout in layouts if layout[0] == step]


def _has_shape(raw: Raw, layouts: Sequence[Layout]) -> bool:
    """Return whether a value has the shape that layouts say; elements may be of another than the first."""
    is_array = any(layout[:1] == (EACH,) for layout in layouts)
    return begin(raw) == (_ARRAY if is_array else _OBJECT)
