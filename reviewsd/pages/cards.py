"""A review as a card shows it: everything in words, so that templates only place it (pages.md 2)."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct

from reviewsd.domain.reviews import OwnerReply, Review
from reviewsd.http1 import urls
from reviewsd.pages.environment import printed
from reviewsd.pages.language import Language
from reviewsd.pages.naming import initials, source_name


class Reply(Struct, frozen=True):
    """The owner's reply."""

    heading: str
    day: str
    date: str
    text: str


class Card(Struct, frozen=True, kw_only=True):
    """A review; its texts are printable."""

    author: str
    initials: str
    label: str
    """Whose review it is, and of when."""
    path: str
    """Of its page."""
    day: str
    """ISO 8601."""
    date: str
    """In the language of the business."""
    source: str
    verified: str
    """The word for that; empty where it is not."""
    rating: int
    stars: str
    """In words."""
    text: str
    """Empty where it has none."""
    wordless: str
    """What is said then."""
    reply: Reply | None
    url: str | None
    """Of the original."""
    original: str
    """What leads there is called."""


class Cards:
    """Makes cards.

    Args:
        language: How dates are written.
        words: Of a key.
        name: Of the business.
    """

    def __init__(self, language: Language, words: Callable[..., str], name: str) -> None:
        self._date = lru_cache(1024)(language.date)
        self._words = words
        self._verified = printed(words("verified"))
        self._reply_heading = printed(words("reply", name=name))
        self._stars = {rating: printed(words("stars", rating=rating)) for rating in range(1, 6)}
        self._wordless = {
            rating: printed(words("rated_only", rating=rating)) for rating in range(1, 6)
        }

    def of(self, reviews: Iterable[Review]) -> list[Card]:
        """The cards of some reviews."""
        return [self._card(review) for review in reviews]

    def _card(self, review: Review) -> Card:
        date, author = self._date(review.date), printed(review.author)
        source = printed(source_name(review.source))
        return Card(
            author=author,
            initials=initials(author),
            label=self._words("permalink", author=author, date=date),
            path=urls.permalink(review.id),
            day=review.date.isoformat(),
            date=date,
            source=source,
            verified=self._verified if review.verified else "",
            rating=review.rating,
            stars=self._stars[review.rating],
            text=printed(review.text or ""),
            wordless=self._wordless[review.rating],
            reply=None if review.owner_reply is None else self._reply(review.owner_reply),
            url=review.source_url,
            original="" if review.source_url is None else self._words("original", source=source),
        )

    def _reply(self, reply: OwnerReply) -> Reply:
        day = reply.date
        return Reply(self._reply_heading, day.isoformat(), self._date(day), printed(reply.text))
