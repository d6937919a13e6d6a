"""Chooses the reviews of ``reviewsctl reviews list``."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewsd.api.platforms import source_of
from reviewsd.api.spelling import nearest
from reviewsd.api.texts import printable

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
        return (
            (not self.hidden or (correction is not None and correction.action != "restore"))
            and (self.stars is None or review.rating == self.stars)
            and (not self.unanswered or review.owner_reply is None)
        )

    def _has_words(self, entry: "ReviewEntry") -> bool:
        review = entry.review
        words = f"{review.author}\n{review.text or ''}".casefold()
        return self.author.casefold() in review.author.casefold() and self.text.casefold() in words


def unknown_names(wanted: Filter, reviews: "ReviewsWithCorrections") -> "Iterator[tuple[str, str]]":
    """Yield the lines on a source, and on a location, of which there is no review."""
    entries, locations = reviews.reviews, reviews.locations
    if wanted.source and not any(_is_of(entry, wanted.source) for entry in entries):
        sources = {entry.review.source for entry in entries}
        yield _explained(f"is from {wanted.source!r}", wanted.source, sources)
    keys = _keys(wanted.location, locations)
    if wanted.location and not any(_place(entry, locations) in keys for entry in entries):
        used = {entry.review.location for entry in entries if entry.review.location}
        what = f"is of the location {wanted.location!r}"
        yield _explained(what, wanted.location, {*locations.ids(), *used})


def _explained(what: str, name: str, there: Collection[str]) -> tuple[str, str]:
    listed = ", ".join(sorted(map(printable, there))) or "none"
    return f"no review {what}{nearest(name, there)}", f"There are: {listed}"


def _is_of(entry: "ReviewEntry", source: str) -> bool:
    return source_of(entry.review.source).casefold() == source_of(source).casefold()


def _keys(name: str, locations: "Locations") -> set[str]:
    """Return the keys of the locations that a name means, one that is not declared by itself."""
    found = {locations.key_of(place.id) for place in locations.search(name)}
    return found or {locations.key_of(name)}


def _place(entry: "ReviewEntry", locations: "Locations") -> str:
    return locations.key_of(entry.review.location or "")
