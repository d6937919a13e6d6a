"""Reviews as cards: every value is a text already, so that templates only place it (pages.md 2).

A template is rendered once for all cards with the same parts, because Jinja takes three times as long as all else
that a card costs. The result is an outline, into which the texts of each review are put (decision 403).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NoReturn

from markupsafe import Markup, escape
from msgspec import Struct
from msgspec.structs import replace

from reviewsd.domain.locations import Locations
from reviewsd.domain.reviews import OwnerReply, Review, is_unnamed, primary_language
from reviewsd.http1 import urls
from reviewsd.pages.environment import Templates
from reviewsd.pages.naming import initials
from reviewsd.pages.text import beginning, highlighted, marked, printable
from reviewsd.pages.words import Words

if TYPE_CHECKING:
    from reviewsd.analysis.language import Detector

_LONG = 280
"""Characters of a text that the front page shows in full; cards in a row are as high as the highest."""

_CUT = 225
"""Characters that it shows of a longer text."""

_SAMPLE = 300
"""Characters by which the language of a text is found."""

_SAMPLES, _OUTLINES = 2_048, 256
"""Languages of texts and outlines of cards that are kept, at most."""

_VALUES = ("author", "initials", "label", "path", "day", "date", "heading", "text", "url")
_REPLY_VALUES = ("day", "date", "text")
"""The members that differ from card to card; the others belong to the outline."""


class Reply(Struct, frozen=True):
    """The owner's reply."""

    heading: str
    day: str
    """Empty if nobody knows it (decision 611); so is ``date``."""
    date: str
    text: str


class Card(Struct, frozen=True, kw_only=True):
    """A review; what is filled into outlines is printable."""

    author: str
    initials: str
    heading: str = ""
    """The heading of its own page; empty elsewhere."""
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
    """Empty if the review has none; with the bounds of the matches if these are highlighted."""
    lang: str
    """The language of the text (BCP 47) if it is not that of the page; else empty (WCAG 2.2, 3.1.2)."""
    wordless: str
    """The sentence in place of an empty text."""
    reply: Reply | None
    url: str | None
    """Address of the original."""
    more: str
    """Text of the link to the complete review; empty if the card is complete."""


class _Place:
    """The place of a value in an outline. A template can show it and test whether there is one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __html__(self) -> str:
        return f"\0{self._name}\0"

    def __str__(self) -> NoReturn:
        message = f"card.{self._name} can be shown, or tested for being empty, but not be changed"
        raise TypeError(message)

    def __eq__(self, _: object) -> bool:
        return bool(str(self))

    def __hash__(self) -> int:
        return hash(str(self))


class _Outline(Struct, frozen=True):
    """The HTML of cards that have the same parts."""

    text: str
    """A format with ``%s`` for each value."""
    values: tuple[Callable[[Card], str], ...]

    def fill(self, card: Card) -> str:
        """Return the HTML of a card."""
        values = "\0".join([value(card) for value in self.values])
        escaped = marked(str(escape(values))).split("\0")
        return self.text % tuple(escaped[: len(self.values)])


class Cards:
    """Makes cards; ``locations`` are those of a business with several."""

    def __init__(
        self, words: Words, name: str, templates: Templates, locations: Locations | None = None
    ) -> None:
        self._locations = locations or Locations()
        self._templates = templates
        self._outlines: dict[tuple[object, ...], _Outline] = {}
        self._date = lru_cache(1024)(words.language.date)
        self._lang = lru_cache(_SAMPLES)(self._other_language)
        self._words = words
        self._language = primary_language(words.language.tag)
        self._verified, self._reply_heading = words("verified"), words("reply", name=name)
        self._stars = {rating: words("stars", rating=rating) for rating in range(1, 6)}
        self._wordless = {rating: words("rated_only", rating=rating) for rating in range(1, 6)}

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

    def html(
        self, cards: Iterable[Card], level: int, template: str = "card.html", **more: object
    ) -> Markup:
        """Render cards.

        Args:
            cards: The cards.
            level: The level of their headings; 1 on the page of a review.
            template: The template of a card.
            more: Further values for the template, always the same.

        Raises:
            TemplateError: The template is faulty, or changes a value of a card.
        """
        texts = [self._outline(card, level, template, more).fill(card) for card in cards]
        return Markup("".join(texts))  # noqa: S704  the outline has escaped it

    def _outline(
        self, card: Card, level: int, template: str, more: Mapping[str, object]
    ) -> _Outline:
        parts = (card.rating, card.source, card.location, card.verified, card.lang, card.more)
        empty = (not card.text, card.url is None, card.reply and not card.reply.day)
        outline = self._outlines.get(key := (template, level, *parts, *empty))
        if outline is None:
            if len(self._outlines) >= _OUTLINES:
                self._outlines.clear()
            places = {name: _Place(name) for name in _VALUES if getattr(card, name)}
            reply = {n: _Place(f"reply.{n}") for n in _REPLY_VALUES if getattr(card.reply, n, "")}
            blank = replace(card, **places, reply=card.reply and replace(card.reply, **reply))
            text = self._templates.render(template, card=blank, level=level, **more)
            first, *rest = text.replace("%", "%%").split("\0")
            values = tuple(map(attrgetter, rest[::2]))
            outline = _Outline("%s".join((first, *rest[1::2])), values)
            self._outlines[key] = outline
        return outline

    def author(self, review: Review) -> str:
        """Return the name of the author, or the page's word for one without a name."""
        return self._words("nameless") if is_unnamed(review.author) else review.author

    def _card(self, review: Review, *, cut: bool = False) -> Card:
        date, author = self._date(review.date), printable(self.author(review))
        location = self._locations.find(review.location)
        return Card(
            author=author,
            initials=initials(author),
            label=self._words("permalink", author=author, date=date),
            path=urls.permalink(review.id),
            day=review.date.isoformat(),
            date=date,
            source=self._words.source(review.source),
            location="" if location is None else location.name,
            verified=self._verified if review.verified else "",
            rating=review.rating,
            stars=self._stars[review.rating],
            text=printable(review.text or ""),
            lang=self._lang((review.text or "")[:_SAMPLE]),
            wordless=self._wordless[review.rating],
            reply=None if review.owner_reply is None else self._reply(review.owner_reply),
            url=review.source_url,
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
        day, date = reply.date.isoformat(), self._date(reply.date)
        if reply.undated is True:
            day = date = ""
        return Reply(self._reply_heading, day, date, printable(reply.text))


def short(review: Review) -> Review:
    """Return a review with only the beginnings of long texts."""
    text, reply = review.text, review.owner_reply
    if text is not None and len(text) > _LONG:
        review = replace(review, text=beginning(text, _CUT))
    if reply is not None and len(reply.text) > _LONG:
        review = replace(review, owner_reply=replace(reply, text=beginning(reply.text, _CUT)))
    return review
