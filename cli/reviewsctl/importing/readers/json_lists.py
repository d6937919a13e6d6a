"""Finds the rows of a JSON document: lists of reviews at any depth, else the list with a usual name."""

from collections.abc import Callable, Mapping, Sequence

from reviewsctl.importing.bounds import MAX_ARRAYS, MAX_LAYOUT
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers.json_file import EACH, LINES, Document, Layout

_USUAL = (
    *("reviews", "reviews_data", "locationReviews", "data", "features", "places", "results"),
    "items",
)
_NESTED = ("reviews", "reviews_data")  # within an element: the reviews of one place
_LOOKED_AT = 3  # elements of a list that show what it holds
_MAX_LISTS = 100  # of a document, that are remembered

Likely = Callable[[Sequence[Mapping[str, object]]], bool]
"""Returns whether the first elements of a list are reviews."""


def layouts_of(document: Document, likely: Likely) -> Sequence[Layout]:
    """Return where the rows of a document are; it is read as far as it is JSON.

    These are all lists of reviews, as ``likely`` knows them; without one the list with a usual name, or
    the first that has objects.

    Raises:
        ImportRefusedError: It is no JSON from its beginning.
    """
    if document.peek() == "{" and document.has_lines():
        return [(LINES,)]
    survey = _Survey(document, likely)
    try:
        survey.read(())
    except ImportRefusedError:
        if not survey.lists:
            raise
    return survey.rows()


class _Survey:
    """Reads a document and notes its lists."""

    def __init__(self, document: Document, likely: Likely) -> None:
        self._document = document
        self._likely = likely
        self.lists: dict[Layout, tuple[bool, bool]] = {}
        """Of each list whether it looks like reviews, and whether it has objects."""

    def rows(self) -> Sequence[Layout]:
        """Return the lists that are read."""
        likely = [layout for layout, (is_likely, _) in self.lists.items() if is_likely]
        nested = [layout for layout in likely if _is_nested(layout)]
        outer = [
            layout for layout in likely if not any(_is_within(inner, layout) for inner in nested)
        ]
        rows = [
            layout
            for layout in outer
            if not any(_is_within(layout, outer_layout) for outer_layout in outer)
        ]
        if rows or not self.lists:
            return rows or [()]
        return [max(self.lists, key=self._rank)]

    def read(self, path: Layout) -> object:
        """Read a value, and note the lists in it; return it without what they hold."""
        document = self._document
        begins = document.peek()
        if begins not in ("{", "[") or len(path) > MAX_LAYOUT:
            return document.value().value
        if begins == "{":
            names = (str(name.value) for name in document.members())
            return {name: self.read((*path, name)) for name in names}
        if path[-MAX_ARRAYS:] == (EACH,) * MAX_ARRAYS:
            raise document.fault("nested too deeply")
        own = (*path, EACH)
        first: list[object] = []
        for index, _ in enumerate(document.elements()):
            if index == _LOOKED_AT:
                self._note(own, first)
                if not path:
                    return []  # nothing comes behind it
            if index < _LOOKED_AT:
                first.append(self.read(own))
            else:
                self._pass_over(own)
        self._note(own, first)
        return []

    def _note(self, layout: Layout, first: Sequence[object]) -> None:
        """Note a list, if it may hold rows."""
        rows = [element for element in first if isinstance(element, dict)]
        is_ours = layout[0] == "business"
        may_be = rows or not first or len(layout) == 1
        if may_be and not is_ours and len(self.lists) < _MAX_LISTS:
            before, _ = self.lists.get(layout, (False, False))
            self.lists[layout] = before or bool(rows and self._likely(rows)), bool(rows)

    def _pass_over(self, path: Layout) -> None:
        """Read a value that may be longer than any that is kept."""
        try:
            self._document.value()
        except ImportRefusedError:
            self.read(path)

    def _rank(self, layout: Layout) -> tuple[bool, int, bool, int]:
        """Return how usual it is for a list to hold reviews, where it does not look like them."""
        names = [step for step in layout if step != EACH]
        rank = _USUAL.index(names[-1]) if names and names[-1] in _USUAL else len(_USUAL)
        return _is_nested(layout), -rank, self.lists[layout][1], -len(layout)


def _is_nested(layout: Layout) -> bool:
    """Return whether a list is that of the reviews within an element of another one."""
    return len(layout) > 1 and layout[-2] in _NESTED and EACH in layout[:-2]


def _is_within(layout: Layout, outer: Layout) -> bool:
    return len(layout) > len(outer) and layout[: len(outer)] == outer
