"""Reviews as cards: every value is a text already, so that templates only place it (pages.md 2)."""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reviewsd.domain.locations import Locations
from reviewsd.domain.reviews import OwnerReply, Review, is_blank, primary_language
from reviewsd.http1 import urls
from reviewsd.pages.naming import initials, source_name
from reviewsd.pages.text import beginning, highlighted, printable
from reviewsd.pages.words import Words

if TYPE_CHECKING:
    from reviewsd.analysis.language import Detector

_LONG = 280
"""Characters of a text that the front page shows in full; cards in a row are as high as the highest."""

_CUT = 225
"""Characters that it shows of a longer text."""


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
    """The name of the link to its page: author and date."""
    path: str
    """Path of its page."""
    day: str
    """ISO 8601."""
    date: str
    """The date in the language of the business."""
    source: str
    location: str
    """The name of its location, if there are several; else empty."""
    verified: str
    """The label of a verified review; else empty."""
    rating: int
    stars: str
    """The rating in words."""
    text: str
    """Empty if the review has none; markup if matches are highlighted."""
    lang: str
    """The language of the text (BCP 47) if it is not that of the page; else empty (WCAG 2.2, 3.1.2)."""
    wordless: str
    """The sentence in place of an empty text."""
    reply: Reply | None
    url: str | None
    """Address of the original."""
    original: str
    """Text of the link to the original."""
    more: str
    """Text of the link to the complete review; empty if the card is complete."""


class Cards:
    """Makes cards.

    Args:
        words: The words of the pages.
        name: Name of the business.
        locations: Its locations, if there are several.
    """

    def __init__(self, words: Words, name: str, locations: Locations | None = None) -> None:
        self._locations = locations or Locations()
        self._date = lru_cache(1024)(words.language.date)
        self._lang = lru_cache(256)(self._other_language)  # of the texts that are asked for most
        self._words = words
        self._language = primary_language(words.language.tag)
        self._verified = printable(words("verified"))
        self._reply_heading = printable(words("reply", name=name))
        self._stars = {rating: printable(words("stars", rating=rating)) for rating in range(1, 6)}
        self._wordless = {
            rating: printable(words("rated_only", rating=rating)) for rating in range(1, 6)
        }

    def of(self, reviews: Iterable[Review], query: str | None = None) -> list[Card]:
        """Return the cards of reviews, in which the matches of a search are highlighted."""
        cards = [self._card(review) for review in reviews]
        if query is None:
            return cards
        needle = query.casefold()
        return [replace(card, text=highlighted(card.text, needle)) for card in cards]

    def shortened(self, reviews: Iterable[Review]) -> list[Card]:
        """Return the cards of reviews, with only the beginnings of long texts."""
        pairs = ((review, short(review)) for review in reviews)
        return [self._card(excerpt, cut=excerpt is not review) for review, excerpt in pairs]

    def author(self, review: Review) -> str:
        """Return the name of the author, or other words if it is blank."""
        return self._words("nameless") if is_blank(review.author) else review.author

    def _card(self, review: Review, *, cut: bool = False) -> Card:
        date, author = self._date(review.date), printable(self.author(review))
        source = printable(source_name(review.source))
        location = self._locations.find(review.location)
        return Card(
            author=author,
            initials=initials(author),
            label=self._words("permalink", author=author, date=date),
            path=urls.permalink(review.id),
            day=review.date.isoformat(),
            date=date,
            source=source,
            location="" if location is None else printable(location.name),
            verified=self._verified if review.verified else "",
            rating=review.rating,
            stars=self._stars[review.rating],
            text=printable(review.text or ""),
            lang=self._lang(review.text or ""),
            wordless=self._wordless[review.rating],
            reply=None if review.owner_reply is None else self._reply(review.owner_reply),
            url=review.source_url,
            original="" if review.source_url is None else self._words("original", source=source),
            more=self._words("read_on") if cut else "",
        )

    def _other_language(self, text: str) -> str:
        """Return the language of a text if it is not that of the page; else nothing."""
        language = self._detector.language_of(text)
        return "" if language == self._language else language

    @cached_property
    def _detector(self) -> "Detector":
        from reviewsd.analysis.language import Detector  # noqa: PLC0415  only when cards are made
        from reviewsd.analysis.language_data import has_data  # noqa: PLC0415

        return Detector(self._language, has_data)

    def _reply(self, reply: OwnerReply) -> Reply:
        day = reply.date
        return Reply(self._reply_heading, day.isoformat(), self._date(day), printable(reply.text))


def short(review: Review) -> Review:
    """Return a review with only the beginnings of long texts."""
    text, reply = review.text, review.owner_reply
    if text is not None and len(text) > _LONG:
        review = replace(review, text=beginning(text, _CUT))
    if reply is not None and len(reply.text) > _LONG:
        review = replace(review, owner_reply=replace(reply, text=beginning(reply.text, _CUT)))
    return review
