"""The content of the feeds, independent of their format (data-model.md 4.1 and 4.2, seed 4.3 and 4.8).

The first page of a feed is a topic, rendered at publication; older pages are rendered on request, with
the same frame and code (decision 160). Deterministic: all text and times come from the data, so that
subscribers are not notified without a change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec
from markupsafe import escape
from msgspec import Struct

from reviewsd.api.texts import ANONYMOUS
from reviewsd.domain import times
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entity, named, slug
from reviewsd.domain.naming import mention_key
from reviewsd.domain.reviews import Business, RemovedReview, Review
from reviewsd.http1 import urls
from reviewsd.pages.text import printable
from reviewsd.publish import documents

MAX_ENTRIES = 50  # of a page; seed 4.3

_MAX_STARS = 5


class Label(Struct, frozen=True, array_like=True):
    """A technician or service that a review mentions."""

    id: str
    label: str


class FeedWords(Struct, frozen=True, kw_only=True):
    """The feed's own words by the keys of the pages, with the names of values in braces. A snapshot without has English ones."""

    feed_title: str = "{name} reviews"
    feed_rights: str = "Reviews © their authors; replies © {name}"
    rated_only: str = "Rated {rating} out of 5."
    reply: str = "Reply from {name}"
    star: str = "{count} stars"
    star_one: str = "{count} star"
    nameless: str = ANONYMOUS


class FeedFrame(Struct, frozen=True, kw_only=True):
    """A feed without its entries. A snapshot stores it for pages that are rendered on request."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    business: Business
    updated_at: str | None
    """Time of the last change, RFC 3339 in UTC with ``Z``; None for an empty set without a time."""
    authority: str
    """Domain name of the ``tag:`` ids (RFC 4151)."""
    year: int
    """Year of the ``tag:`` ids, in which the operator owned the domain name."""
    words: FeedWords = FeedWords()
    technicians: dict[str, Label] = {}
    """Labels by ``mention_key`` of each name."""
    services: dict[str, Label] = {}

    @property
    def title(self) -> str:
        """The title of the feed."""
        return self.words.feed_title.format(name=self.business.name)

    @property
    def rights(self) -> str:
        """Whose the reviews and the replies are: customers have the rights to theirs."""
        return self.words.feed_rights.format(name=self.business.name)

    def author(self, review: Review) -> str:
        """Return the author of a review, verbatim but for the word of imports for nobody."""
        return self.words.nameless if review.author == ANONYMOUS else review.author

    def entry_title(self, review: Review) -> str:
        """Return stars and author, because feed readers show no ratings: ``★★★★☆ Jane D.``."""
        stars = "★" * review.rating + "☆" * (_MAX_STARS - review.rating)
        return f"{stars} {self.author(review)}"

    def stars(self, review: Review) -> str:
        """Return the number of stars in words."""
        words = self.words.star_one if review.rating == 1 else self.words.star
        return words.format(count=review.rating)

    def content(self, review: Review) -> str:
        """Return the review's plain text, verbatim, and the owner's reply after a blank line."""
        text = review.text or self._wordless(review)
        if review.owner_reply is None:
            return text
        return f"{text}\n\n{self._reply_heading}: {review.owner_reply.text}"

    def html(self, review: Review) -> str:
        """Return the content as HTML, with the owner's reply in a block quotation."""
        text = _paragraphs(review.text or "") or _paragraphs(self._wordless(review))
        if review.owner_reply is None:
            return text
        heading = escape(printable(self._reply_heading))
        reply = _paragraphs(review.owner_reply.text)
        return f"{text}<blockquote><p><strong>{heading}</strong></p>{reply}</blockquote>"

    def _wordless(self, review: Review) -> str:
        return self.words.rated_only.format(rating=review.rating)

    @property
    def _reply_heading(self) -> str:
        return self.words.reply.format(name=self.business.name)

    def url(self, path: str) -> str:
        """Return the absolute URL of a path."""
        return self.base_url + path

    def permalink(self, review: Review) -> str:
        """Return the URL of a review's page."""
        return self.url(urls.permalink(review.id))

    def entry(self, review: Review, insight: bytes | memoryview | None) -> "FeedEntry":
        """Return the entry of a review, with the labels of what its entry of ``per_review`` mentions."""
        mentions = _mentions.decode(insight or b"{}")
        return FeedEntry(
            review=review,
            technicians=_labelled(mentions.technicians, self.technicians),
            services=_labelled(mentions.services, self.services),
        )


class _Mentions(Struct):
    """The part of a review's insight that feeds show."""

    technicians: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


_mentions = msgspec.json.Decoder(_Mentions)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """A review and the labels of its mentions."""

    review: Review
    technicians: tuple[Label, ...]
    services: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Consecutive reviews of a business."""

    frame: FeedFrame
    entries: Sequence[FeedEntry]
    """Newest first, at most ``MAX_ENTRIES``."""
    cursor: str | None = None
    """The cursor of this page; None for the first one, which is the topic."""
    next_cursor: str | None = None
    """The cursor of the next page; None on the last."""
    removed: Sequence[RemovedReview] = ()
    """The reviews that were removed last, at most ``MAX_ENTRIES``; only on the first page."""


def frame_of(
    dataset: Dataset, base_url: str, authority: str, year: int, texts: Mapping[str, str]
) -> FeedFrame:
    """Return the frame of a dataset's feeds; ``texts`` are the words of the pages, by key."""
    entities = None if dataset.insights is None else dataset.insights.typed.entities
    return FeedFrame(
        base_url=base_url,
        business=dataset.business,
        updated_at=documents.updated_at(dataset),
        authority=authority,
        year=year,
        words=msgspec.convert(texts, FeedWords),
        technicians=_labels(() if entities is None else entities.technicians),
        services=_labels(() if entities is None else entities.services),
    )


def _labels(entities: Iterable[str | Entity]) -> dict[str, Label]:
    """Return labels by every name of the entities; the first entity of a name wins."""
    labels: dict[str, Label] = {}
    for entity in map(named, entities):
        label = Label(entity.id or "", entity.label or "")
        for name in (entity.id, entity.name, entity.label):
            labels.setdefault(mention_key(name or ""), label)
    return labels


def _labelled(names: Iterable[str], labels: dict[str, Label]) -> tuple[Label, ...]:
    """Return the labels of names without duplicates; an unknown name is its own label."""
    entries = (labels.get(mention_key(name)) or Label(slug(name), name) for name in names if name)
    return tuple(dict.fromkeys(entries))


def _paragraphs(text: str) -> str:
    """Convert text with empty lines between its paragraphs to HTML."""
    grouped = groupby(printable(text).splitlines(), key=lambda line: line.strip() != "")
    return "".join(
        f"<p>{'<br>'.join(map(escape, lines))}</p>" for has_text, lines in grouped if has_text
    )


def updated(page: FeedPage) -> str | None:
    """Return when an entry of a page was last changed or removed; None if unknown (interfaces.md 3)."""
    moments = [times.updated_at(entry.review) for entry in page.entries]
    moments += [review.at for review in page.removed]
    return times.spelled(max(moments)) if moments else page.frame.updated_at
