"""The sources of reviews.json, which are verified, and whether an import goes on shortening their names (decision 581)."""

from collections import Counter
from typing import Final

from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import EXAMPLES, reviews_of
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import display_name, short_name

_LEAST: Final = 3  # short names; one or two customers may call themselves so


class ExistingSources:
    """The sources of the reviews that are there, and their names.

    Args:
        document: The reviews.json; None if there is none.
    """

    def __init__(self, document: Document | None) -> None:
        self.names: set[str] = set()
        """``NO_SOURCE`` is that of tables without any."""
        self.places: set[Place] = set()
        self.verified: set[str] = set()
        """Those with verified reviews."""
        self._short = Counter[str]()  # names, by source
        self._with_full: set[str] = set()
        self.with_portraits: set[str] = set()
        """Those whose short names have portraits, so that the platform shows names so."""
        for review in () if document is None else reviews_of(document):
            if review.get("id") in EXAMPLES:
                continue
            author, source = display_name(review.get("author")), str(review.get("source"))
            self.names.add(source)
            if (place := Place.of(review)) is not None:
                self.places.add(place)
            if review.get("verified") is True:
                self.verified.add(source)
            if source in self._with_full or author is None:
                continue
            if short_name(author) != author:
                self._with_full.add(source)
            elif author.endswith(".") and len(author.split()) > 1:
                self._short[source] += 1
                if review.get("author_avatar_url") is not None:
                    self.with_portraits.add(source)

    def has_short_names(self, source: str) -> bool:
        """Return whether there are three short names and no full one: of a source or, if it has neither, of all."""
        if source in self._short or source in self._with_full:
            return self._short[source] >= _LEAST and source not in self._with_full
        return self._short.total() >= _LEAST and not self._with_full
