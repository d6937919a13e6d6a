"""JSON of any size, piece by piece.

The standard library's scanner decodes one value at a place of a text, at the speed of C. Here it is
given a window of the file that moves on with each value: what is in memory is one value, which has an
end, and a megabyte. Where rows stand in a document is a layout: ``("reviews", EACH)`` is each element of the
member ``reviews``.
"""

import codecs
import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from reviewsctl.importing.bounds import MAX_AROUND, MAX_RECORD
from reviewsctl.importing.errors import ImportRefusedError

EACH: Final = "*"
LINES: Final = "\n"
"""In a layout: one value after the other, as in NDJSON."""

Layout = tuple[str, ...]

DOWNLOAD: Final = "The file may be cut off: download or export it again."

OWN_VALUE = 64 * 1024 * 1024  # characters of a value in a file of the operator's own
_WINDOW = 1024 * 1024  # bytes read at once
_NUMBER_TAIL = re.compile("[-+.0-9eE]*")
_BLANK = re.compile("[ \t\n\r]*")
_BEGINS = frozenset("[{")


class Piece(NamedTuple):
    """One value and its text."""

    value: object
    text: str


class Document:
    """Reads one document from its beginning to its end.

    Every method raises ImportRefusedError where it is no JSON, with line and column.

    Args:
        file: UTF-8, a byte order mark tolerated.
        name: As messages name it.
        remedy: What to do when it is broken.
        max_value: Characters of one value.
    """

    def __init__(
        self, file: BinaryIO, name: str, remedy: str = DOWNLOAD, max_value: int = MAX_RECORD
    ) -> None:
        self._file = file
        self._name = name
        self._remedy = remedy
        self._max_value = max_value
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._line = 1  # of the window's first character
        self._column = 1
        self.around: dict[str, object] = {}
        """The members beside the rows, as ``rows`` passes them."""
        self.group: dict[str, object] = {}
        """The words and flags among them that are of the object in whose list the rows are."""
        self.list_name = "$"
        """What the list is called whose elements ``rows`` returns."""
        self._room = MAX_AROUND  # of these

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            assert blank is not None  # noqa: S101  # it matches the empty string
            self._at = blank.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def expect(self, characters: str) -> str:
        """Take the next character that is not blank, which must be one of these."""
        character = self.peek()
        if not character or character not in characters:
            expected = " or ".join(f'"{option}"' for option in characters)
            raise self._fault(self._at, f"expected {expected}")
        self._at += 1
        return character

    def value(self) -> Piece:
        """The next value."""
        self.peek()
        while True:
            piece, at, reason = self._scanned()
            if not reason:
                break
            if len(self._text) - self._at > self._max_value:
                raise self._fault(at, f"{reason}, or {self._too_long()}")
            if not self._more():
                break
        if piece is None:
            raise self._fault(at, reason)
        if len(piece.text) > self._max_value:
            raise self._fault(self._at, self._too_long())
        self._at += len(piece.text)
        return piece

    def _scanned(self) -> tuple[Piece | None, int, str]:
        """A value, if the window has one; and where and why there may be more of it, or nowhere."""
        try:
            value, end = self._scan(self._text, self._at)
        except json.JSONDecodeError as error:
            return None, error.pos, error.msg[0].lower() + error.msg[1:]
        except RecursionError:
            raise self._fault(self._at, "nested too deeply") from None
        except ValueError:
            most = sys.get_int_max_str_digits()
            reason = f"an integer of more than {most:,} digits"
            raise self._fault(self._at, reason) from None
        piece = Piece(value, self._text[self._at : end])
        return piece, end, "too long a number" if self._goes_on(value, end) else ""

    def _too_long(self) -> str:
        return f"a value of more than {self._max_value:,} characters"

    def members(self) -> Iterator[Piece]:
        """Iterate over the names of an object; the caller reads the value of each before the next."""
        self.expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                self.expect('"')
            name = self.value()
            self.expect(":")
            yield name
            if self.expect(",}") == "}":
                return

    def elements(self) -> Iterator[None]:
        """Iterate over an array; the caller reads each element before the next."""
        self.expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if self.expect(",]") == "]":
                return

    def rows(self, *layouts: Layout) -> Iterator[Piece]:
        """Iterate over the values at some layouts; the members beside them go to ``around``."""
        if () in layouts:
            yield self.value()
        elif (LINES,) in layouts:
            while self.peek():
                yield self.value()
        elif inner := [layout[1:] for layout in layouts if layout[0] == EACH]:
            for _ in self.elements():
                if () in inner:
                    yield self.value()
                    continue
                self.group = {}
                yield from self._inner(inner)
        else:
            for name in self.members():
                inner = [layout[1:] for layout in layouts if layout[0] == name.value]
                if inner and self.peek() in _BEGINS and not self._is_other(inner):
                    if (EACH,) in inner:
                        self.list_name = str(name.value)
                    yield from self._inner(inner)
                else:
                    self._keep(name, self.value())

    def _inner(self, layouts: Sequence[Layout]) -> Iterator[Piece]:
        if self._is_other(layouts):
            self.value()  # of another shape than the first ones
        else:
            yield from self.rows(*layouts)

    def _is_other(self, layouts: Sequence[Layout]) -> bool:
        """Whether the next value has not the shape that the layouts say."""
        is_array = any(layout[:1] == (EACH,) for layout in layouts)
        return self.peek() != ("[" if is_array else "{")

    def _keep(self, name: Piece, value: Piece) -> None:
        """Note a member beside the rows."""
        self._room -= len(name.text) + len(value.text)
        if self._room < 0:
            raise self._fault(self._at, f"more than {MAX_AROUND:,} characters beside the rows")
        self.around[str(name.value)] = value.value
        if isinstance(value.value, str | bool):  # a number may count the rows
            self.group[str(name.value)] = value.value

    def end(self) -> None:
        """Nothing may follow."""
        if self.peek():
            raise self._fault(self._at, "trailing characters")

    def _goes_on(self, value: object, end: int) -> bool:
        """Whether a number may be cut by the end of the window: ``1.5e`` and then ``10``."""
        if not isinstance(value, int | float):
            return False
        rest = _NUMBER_TAIL.match(self._text, end)
        return rest is not None and rest.end() == len(self._text)

    def has_lines(self) -> bool:
        """Return whether one object follows another; leaves the reading where it was."""
        first, _, rest = self._text[self._at :].partition("\n")
        if not rest.lstrip().startswith("{"):
            return False
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            return False
        return True

    def _more(self) -> bool:
        """Moves the window on: drops what was read, and reads as much again."""
        if self._ended:
            return False
        passed = self._text[: self._at]
        self._line, self._column = self._place(self._at)
        self._text = self._text[len(passed) :]
        self._at = 0
        chunk = self._file.read(max(_WINDOW, len(self._text)))
        self._ended = not chunk
        try:
            self._text += self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            raise ImportRefusedError(
                f"{self._name}: not UTF-8 near line {self._place(len(self._text))[0]}: "
                f"{error.reason}",
                "Save it as UTF-8, which JSON always is.",
            ) from None
        return True

    def _place(self, at: int) -> tuple[int, int]:
        lines = self._text.count("\n", 0, at)
        if lines == 0:
            return self._line, self._column + at
        return self._line + lines, at - self._text.rfind("\n", 0, at)

    def fault(self, reason: str) -> ImportRefusedError:
        """Return why the next value cannot be read, with line and column."""
        return self._fault(self._at, reason)

    def _fault(self, at: int, reason: str) -> ImportRefusedError:
        line, column = self._place(at)
        if at >= len(self._text) and self._ended:
            reason = "it ends too early"
        return ImportRefusedError(
            f"{self._name}:{line}:{column}: invalid JSON: {reason}",
            self._remedy,
        )
