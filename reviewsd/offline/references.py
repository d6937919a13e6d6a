"""Finds the id of the review that an operator names."""

from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

_MIN_PART: Final = 4  # characters of the shortest abbreviation of an id


class NoSuchReviewError(Exception):
    """A reference does not name exactly one review.

    Attributes:
        candidates: The ids that it could mean.
    """

    def __init__(self, detail: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.candidates = candidates


def find_id(reference: str, ids: Collection[str]) -> str:
    """Find the id of a review by the id, its beginning or end, or the URL of its page.

    Raises:
        NoSuchReviewError: No review matches, or several do.
    """
    if reference in ids:
        return reference
    path = urlsplit(reference).path.removesuffix("/") if "://" in reference else ""
    name = unquote(path.rpartition("/")[2]) if path else reference
    name = name.casefold().removesuffix(".md")
    is_number = name.isdecimal()  # of a row in the owner's table, as a rule
    folded = [(review_id.casefold(), review_id) for review_id in ids]
    matches = [review_id for text, review_id in folded if text == name]
    if not matches and name:
        matches = [
            review_id for text, review_id in folded if text.startswith(name) or text.endswith(name)
        ]
        is_short = len(name) < _MIN_PART
        if is_short and is_number:
            matches = []
        elif is_short and matches:
            detail = f"{reference!r} is too short; {_MIN_PART} characters of an id are needed"
            raise NoSuchReviewError(detail, matches)
    match matches:
        case [review_id]:
            return review_id
        case []:
            number = "; the number in your own table is not the id" if is_number else ""
            raise NoSuchReviewError(
                f"no review has the id {reference!r}{number}, which you find by its author or words: "
                "reviewsctl reviews list --author NAME, or --text WORDS"
            )
        case _:
            detail = f"{len(matches)} reviews have an id like {reference!r}"
            raise NoSuchReviewError(detail, matches)
