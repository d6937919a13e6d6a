"""Whether the names of reviews.json are short, so that an import goes on shortening them (decision 581)."""

from collections import Counter

from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import EXAMPLES, reviews_of
from reviewsctl.importing.values import short_name


class NamesThere:
    """The names of the reviews that are there.

    Args:
        document: The reviews.json; None if there is none.
    """

    def __init__(self, document: Document | None) -> None:
        self._short = Counter[str]()  # by source
        self._full = Counter[str]()
        for review in () if document is None else reviews_of(document):
            author, source = review.get("author"), str(review.get("source"))
            if not isinstance(author, str) or review.get("id") in EXAMPLES:
                continue
            if short_name(author) != author:
                self._full[source] += 1
            elif author.endswith(".") and len(author.split()) > 1:
                self._short[source] += 1

    def are_short(self, source: str) -> bool:
        """Return whether there are short names and no full one: of a source or, if it has neither, of all."""
        if self._short[source] or self._full[source]:
            return not self._full[source]
        return self._short.total() > 0 and self._full.total() == 0
