"""Notes on personal data that readers see in the new texts and replies of an import."""

from collections.abc import Iterable, Sequence
from typing import Final

from reviewsctl.importing.review_merge import Review
from reviewsctl.importing.values import members
from reviewsd.api.names import surname_in
from reviewsd.api.texts import first_of

_SHOWN: Final = 3  # reviews in a note


def has_surname(review: Review) -> bool:
    """Return whether the reply to a review may have the surname of its author, whose name is short."""
    reply, author = members(review.get("owner_reply")), review.get("author")
    return bool(reply) and bool(surname_in(f"{reply.get('text')}", f"{author}"))


def notes_of_replies(days: Sequence[str]) -> list[str]:
    """Return the note on replies that may have a surname that is shortened, by the days of their reviews.

    It names nobody, as a sync writes notes to the journal.
    """
    title = "replies that may have the surname of a shortened name"
    return _note(title, days, "; correct it there, as readers see it")


def notes_of_contacts(reviews: Iterable[Review]) -> list[str]:
    """Return the note on new texts that have a phone number or an e-mail address."""
    names = [f"{review.get('date')}, {review.get('id')}" for review in reviews]
    title = "texts with a phone number or an e-mail address, which readers see"
    remedy = "reviewsctl reviews hide ID --reason personal-data --text"
    return _note(title, names, f"; to leave the stars alone: {remedy}")


def _note(title: str, names: Sequence[str], remedy: str) -> list[str]:
    return [f"{title}: {len(names):,} ({first_of(names, _SHOWN)}){remedy}"] if names else []
