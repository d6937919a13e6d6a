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
    folded = [(review_id.casefold(), review_id) for review_id in ids]
    matches = [review_id for text, review_id in folded if text == name]
    if not matches and name:
        matches = [
            review_id for text, review_id in folded if text.startswith(name) or text.endswith(name)
        ]
        if matches and len(name) < _MIN_PART:
            detail = f"{reference!r} is too short; {_MIN_PART} characters of an id are needed"
            raise NoSuchReviewError(detail, matches)
    match matches:
        case [review_id]:
            return review_id
        case []:
            raise NoSuchReviewError(
                f"no review has the id {reference!r}, which you find by its author or words: "
                "reviewsctl reviews list --author NAME, or --text WORDS"
            )
        case _:
            detail = f"{len(matches)} reviews have an id like {reference!r}"
            raise NoSuchReviewError(detail, matches)
