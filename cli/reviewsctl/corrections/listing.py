"""Chooses the reviews of ``reviewsctl reviews list``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewsctl.daemon.errors import Missing
from reviewsctl.importing.values import listed, shown
from reviewsd.api.platforms import PLATFORMS, source_of
from reviewsd.api.spelling import nearest

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
        """Return the reviews that all options choose.

        Raises:
            Missing: There is no such source or location.
        """
        places = _places(self.location, reviews)
        _check_source(self.source, reviews)
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


def _places(name: str, reviews: "ReviewsWithCorrections") -> set[str]:
    """Return the keys of the locations that a name means, one that is not declared by itself."""
    locations = reviews.locations
    known: dict[str, str] = {}
    for place in (*locations.ids(), *(entry.review.location for entry in reviews.reviews)):
        if place:
            known.setdefault(locations.key_of(place), place)
    keys = {locations.key_of(location.id) for location in locations.search(name)}
    keys = keys or {locations.key_of(name)}
    _check("location", name, keys, known)
    return keys


def _check_source(name: str, reviews: "ReviewsWithCorrections") -> None:
    """Check that there are reviews of a source, or that it is a platform."""
    known = {
        source_of(entry.review.source).casefold(): entry.review.source for entry in reviews.reviews
    }
    if source_of(name) not in PLATFORMS:
        _check("source", name, {source_of(name).casefold()}, known)


def _check(kind: str, name: str, keys: set[str], known: Mapping[str, str]) -> None:
    if name and keys.isdisjoint(known):
        names = known.values()
        raise Missing(
            "not found",
            f"there is no {kind} {shown(name)}{nearest(name, names)}",
            f"There are: {listed(names) or 'none'}",
        )


def _place(entry: "ReviewEntry", locations: "Locations") -> str:
    return locations.key_of(entry.review.location or "")
