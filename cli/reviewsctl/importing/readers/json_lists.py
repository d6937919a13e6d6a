"""Finds the rows of a JSON document: lists of reviews at any depth, else the list with a usual name."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Raw

from reviewsctl.importing.bounds import MAX_LAYOUT
from reviewsctl.importing.readers.json_file import EACH, LINES, Document, Layout, begin

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
    """Return where the rows of a document are.

    These are all lists of reviews, as ``likely`` knows them; without one the list with a usual name, or
    the first that has objects.
    """
    if document.has_lines:
        return [(LINES,)]
    survey = _Survey(document, likely)
    survey.read(document.root, ())
    return survey.rows()


class _Survey:
    """Notes the lists of a document."""

    def __init__(self, document: Document, likely: Likely) -> None:
        self._document = document
        self._likely = likely
        self._lists: dict[Layout, tuple[bool, bool]] = {}
        """Of each list whether it looks like reviews, and whether it has objects."""

    def rows(self) -> Sequence[Layout]:
        """Return the lists that are read."""
        likely = [layout for layout, (is_likely, _) in self._lists.items() if is_likely]
        nested = [layout for layout in likely if _is_nested(layout)]
        outer = [
            layout for layout in likely if not any(_is_within(inner, layout) for inner in nested)
        ]
        rows = [
            layout
            for layout in outer
            if not any(_is_within(layout, outer_layout) for outer_layout in outer)
        ]
        if rows or not self._lists:
            return rows or [()]
        return [max(self._lists, key=self._rank)]

    def read(self, raw: Raw, path: Layout) -> object:
        """Note the lists in a value; return it without what they hold."""
        kind = begin(raw)
        if kind not in (b"{", b"[") or len(path) > MAX_LAYOUT:
            return self._document.value(raw)
        if kind == b"{":
            members = self._document.members(raw)
            return {name: self.read(member, (*path, name)) for name, member in members.items()}
        own = (*path, EACH)
        self._note(own, [self.read(row, own) for row in self._document.elements(raw)[:_LOOKED_AT]])
        return []

    def _note(self, layout: Layout, first: Sequence[object]) -> None:
        """Note a list, if it may hold rows."""
        rows = [element for element in first if isinstance(element, dict)]
        is_ours = layout[0] == "business"
        may_be = rows or not first or len(layout) == 1
        if may_be and not is_ours and len(self._lists) < _MAX_LISTS:
            before, _ = self._lists.get(layout, (False, False))
            self._lists[layout] = before or bool(rows and self._likely(rows)), bool(rows)

    def _rank(self, layout: Layout) -> tuple[bool, int, bool, int]:
        """Return how usual it is for a list to hold reviews, where it does not look like them."""
        names = [step for step in layout if step != EACH]
        rank = _USUAL.index(names[-1]) if names and names[-1] in _USUAL else len(_USUAL)
        return _is_nested(layout), -rank, self._lists[layout][1], -len(layout)


def _is_nested(layout: Layout) -> bool:
    """Return whether a list is that of the reviews within an element of another one."""
    return len(layout) > 1 and layout[-2] in _NESTED and EACH in layout[:-2]


def _is_within(layout: Layout, outer: Layout) -> bool:
    return len(layout) > len(outer) and layout[: len(outer)] == outer
