"""Copies: one review that two tools have exported under two ids (corrections.md C22)."""

from collections.abc import Mapping
from typing import Final

from reviewsctl.importing.review import alike

SAME: Final = ("source", "author", "date", "rating")
"""Members of which copies say the same, beside the text."""


def alike_number(review: Mapping[str, object]) -> int | None:
    """Return the number by which a review of the file is found under another id."""
    parts = tuple(map(review.get, SAME))
    return alike(*parts) if all(isinstance(part, str | int) for part in parts) else None


def is_copy(review: Mapping[str, object], record: Mapping[str, object], place: str) -> bool:
    """Return whether a row of an export is of a review that is there under another id.

    Stars alone have no copies: a customer may rate two locations on one day.

    Args:
        review: The review that is there.
        record: The review of the row.
        place: Its location, as the export names it.
    """
    text, location = _plain(review.get("text")), review.get("location")
    return (
        text != ""
        and text == _plain(record.get("text"))
        and all(record.get(name) == review.get(name) for name in SAME)
        and not (isinstance(location, str) and _are_two(location, place))
    )


def _plain(text: object) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split()) if isinstance(text, str) else ""


def _are_two(location: str, other: str) -> bool:
    """Return whether two locations differ and are named in one way, as one tool does."""
    is_one_way = location[:4] == other[:4] or (location.isdigit() and other.isdigit())
    return location != other and is_one_way
