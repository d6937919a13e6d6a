"""Chooses the reviews of ``reviewsctl reviews list``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewsd.api.platforms import source_of

if TYPE_CHECKING:
    from reviewsd.domain.locations import Locations
    from reviewsd.offline.corrections import ReviewEntry, ReviewsWithCorrections


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The options of the command; what is empty chooses all."""

    hidden: bool
    source: str
    stars: int | None
    text: str
    author: str
    location: str
    unanswered: bool

    def matches(self, reviews: "ReviewsWithCorrections") -> "list[ReviewEntry]":
        """Return the reviews that all options choose."""
        places = _keys(self.location, reviews.locations)
        return [
            entry
            for entry in reviews.reviews
            if self._is_shown_so(entry)
            and self._has_words(entry)
            and (not self.source or _is_of(entry, self.source))
            and (not self.location or _place(entry, reviews.locations) in places)
        ]

    def _is_shown_so(self, entry: "ReviewEntry") -> bool:
        correction, review = entry.correction, entry.review
        is_hidden = correction is not None and correction.hides
        return (
            (not self.hidden or (correction is not None and correction.action != "restore"))
            and (self.stars is None or review.rating == self.stars)
            and (not self.unanswered or (review.owner_reply is None and self.hidden >= is_hidden))
        )

    def _has_words(self, entry: "ReviewEntry") -> bool:
        review = entry.review
        words = f"{review.author}\n{review.text or ''}".casefold()
        return self.author.casefold() in review.author.casefold() and self.text.casefold() in words


def _is_of(entry: "ReviewEntry", source: str) -> bool:
    return source_of(entry.review.source).casefold() == source_of(source).casefold()


def _keys(name: str, locations: "Locations") -> set[str]:
    """Return the keys of the locations that a name means, one that is not declared by itself."""
    found = {locations.key_of(place.id) for place in locations.search(name)}
    return found or {locations.key_of(name)}


def _place(entry: "ReviewEntry", locations: "Locations") -> str:
    return locations.key_of(entry.review.location or "")
