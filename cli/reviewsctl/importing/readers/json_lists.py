"""Finds the rows of a JSON document: lists of reviews at any depth, else the list with a usual name."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from reviewsctl.importing.bounds import MAX_LAYOUT
from reviewsctl.importing.format import Fields

EACH: Final = "*"
Layout = tuple[str, ...]
"""The place of a list: the names of members, and ``EACH`` for each element of a list."""

USUAL: Final = (
    *("reviews", "reviews_data", "locationReviews", "data", "features", "places", "results"),
    "items",
)
"""The names that lists of reviews have, the likeliest first."""
_NESTED = ("reviews", "reviews_data")  # within an element: the reviews of one place
_LOOKED_AT = 3  # elements of a list that show what it holds
_MAX_LISTS = 100  # of a document, that are remembered

Likely = Callable[[Sequence[Fields]], bool]
"""Returns whether the first elements of a list are reviews."""


def layouts_of(document: object, likely: Likely) -> Sequence[Layout]:
    """Return the places of the lists of reviews, as ``likely`` knows them.

    Without one it is the list with a usual name, or the first that has objects; none if there are no lists.
    """
    lists: dict[Layout, tuple[bool, bool]] = {}  # whether it is likely, and whether it has objects
    for layout, elements in _surveyed(document, ()):
        first = [element for element in elements[:_LOOKED_AT] if isinstance(element, dict)]
        may_be = first or not elements or len(layout) == 1
        if may_be and layout[0] != "business" and len(lists) < _MAX_LISTS:
            before, _ = lists.get(layout, (False, False))
            lists[layout] = before or bool(first and likely(first)), bool(first)
    likely_ones = [layout for layout, (is_likely, _) in lists.items() if is_likely]
    nested = [layout for layout in likely_ones if _is_nested(layout)]
    outer = [
        layout for layout in likely_ones if not any(_is_within(inner, layout) for inner in nested)
    ]
    rows = [
        layout for layout in outer if not any(_is_within(layout, around_it) for around_it in outer)
    ]
    if rows or not lists:
        return rows

    def rank(layout: Layout) -> tuple[bool, int, bool, int]:
        """Return how usual it is for a list to hold reviews, where it does not look like them."""
        name = name_of(layout)
        usual = USUAL.index(name) if name in USUAL else len(USUAL)
        return _is_nested(layout), -usual, lists[layout][1], -len(layout)

    return [max(lists, key=rank)]


def _surveyed(value: object, path: Layout) -> Iterator[tuple[Layout, list[object]]]:
    """Iterate over the lists in a value, as far as their first elements show them; outer ones come later."""
    if len(path) > MAX_LAYOUT:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _surveyed(member, (*path, name))
    elif isinstance(value, list):
        for element in value[:_LOOKED_AT]:
            yield from _surveyed(element, (*path, EACH))
        yield (*path, EACH), value


def lists_at(
    value: object, layout: Layout, group: Fields | None = None
) -> Iterator[tuple[Sequence[object], Fields]]:
    """Iterate over the lists at a place in a value, each with the object that has it."""
    step, rest = layout[0], layout[1:]
    if step != EACH:
        if isinstance(value, dict) and step in value:
            yield from lists_at(value[step], rest, value)
    elif isinstance(value, list):
        if not rest:
            yield value, group or {}
        for element in value if rest else ():
            yield from lists_at(element, rest, group)


def around(value: object, layouts: Sequence[Layout]) -> dict[str, object]:
    """Return the members beside the lists at some places, of all objects on the way to them."""
    members: dict[str, object] = {}
    if isinstance(value, dict):
        for name, member in value.items():
            inner = [layout[1:] for layout in layouts if layout[0] == name]
            members |= around(member, inner) if inner else {name: member}
    elif isinstance(value, list):
        inner = [layout[1:] for layout in layouts if layout[0] == EACH and layout[1:]]
        for element in value if inner else ():
            members |= around(element, inner)
    return members


def name_of(layout: Layout) -> str:
    """Return the name of a list; nothing if it has none."""
    return next((step for step in reversed(layout) if step != EACH), "")


def _is_nested(layout: Layout) -> bool:
    """Return whether a list is that of the reviews within an element of another one."""
    return len(layout) > 1 and layout[-2] in _NESTED and EACH in layout[:-2]


def _is_within(layout: Layout, outer: Layout) -> bool:
    return len(layout) > len(outer) and layout[: len(outer)] == outer
