"""A review as a card shows it: everything in words, so that templates only place it (pages.md 2)."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from reviewsd.domain.reviews import OwnerReply, Review, is_blank
from reviewsd.http1 import urls
from reviewsd.pages.language import Language
from reviewsd.pages.naming import initials, source_name
from reviewsd.pages.text import beginning, printable

_LONG = 500
"""Characters of a text on a page of many that is not cut."""

_CUT = 401
"""Characters of a text that is."""


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
    more: str
    """What leads to the whole review is called; empty where this is the whole."""


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
        self._verified = printable(words("verified"))
        self._reply_heading = printable(words("reply", name=name))
        self._stars = {rating: printable(words("stars", rating=rating)) for rating in range(1, 6)}
        self._wordless = {
            rating: printable(words("rated_only", rating=rating)) for rating in range(1, 6)
        }

    def of(self, reviews: Iterable[Review]) -> list[Card]:
        """The cards of some reviews."""
        return [self._card(review) for review in reviews]

    def shortened(self, reviews: Iterable[Review]) -> list[Card]:
        """The same with texts that are cut where they are long."""
        both = ((review, short(review)) for review in reviews)
        return [self._card(shown, cut=shown is not review) for review, shown in both]

    def author(self, review: Review) -> str:
        """Who wrote it; other words where the name is blank."""
        return self._words("nameless") if is_blank(review.author) else review.author

    def _card(self, review: Review, *, cut: bool = False) -> Card:
        date, author = self._date(review.date), printable(self.author(review))
        source = printable(source_name(review.source))
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
            text=printable(review.text or ""),
            wordless=self._wordless[review.rating],
            reply=None if review.owner_reply is None else self._reply(review.owner_reply),
            url=review.source_url,
            original="" if review.source_url is None else self._words("original", source=source),
            more=self._words("read_on") if cut else "",
        )

    def _reply(self, reply: OwnerReply) -> Reply:
        day = reply.date
        return Reply(self._reply_heading, day.isoformat(), self._date(day), printable(reply.text))


def short(review: Review) -> Review:
    """A review whose texts are cut at a blank where they are long."""
    text, reply = review.text, review.owner_reply
    if text is not None and len(text) > _LONG:
        review = replace(review, text=beginning(text, _CUT))
    if reply is not None and len(reply.text) > _LONG:
        review = replace(review, owner_reply=replace(reply, text=beginning(reply.text, _CUT)))
    return review
