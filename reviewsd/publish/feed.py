"""What both feeds say, whatever their format (data-model.md 4.1 and 4.2, seed 4.3 and 4.8).

The first page of a feed is a topic, rendered at publication; older pages are made for a request, of the same
frame and by the same code (decision 160). Deterministic: every word and every time comes from the data, so the
same data give the same bytes and no subscriber is told of a change that is none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import escape
from msgspec import Struct

from reviewsd.domain import times
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entity, named, slug
from reviewsd.domain.insights_file import Mentions
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


class FeedFrame(Struct, frozen=True, kw_only=True):
    """All that a feed says beside its entries. A snapshot keeps it for the pages that are made for a request."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    business: Business
    updated_at: str | None
    """When the data changed, RFC 3339 in UTC with ``Z``; None for an empty set that does not say."""
    authority: str
    """Domain name that the ``tag:`` ids are minted under (RFC 4151)."""
    year: int
    """Year in which that domain name was ours."""
    technicians: dict[str, Label] = {}
    """By ``mention_key`` of each of their names."""
    services: dict[str, Label] = {}

    @property
    def title(self) -> str:
        """The feed's own title."""
        return f"{self.business.name} reviews"

    def url(self, path: str) -> str:
        """The absolute address of one of our paths."""
        return self.base_url + path

    def permalink(self, review: Review) -> str:
        """The address of a review's page."""
        return self.url(urls.permalink(review.id))

    def entry(self, review: Review, mentions: Mentions | None) -> "FeedEntry":
        """A review with the labels of whom and what it mentions."""
        technicians, services = mentions or ((), ())
        return FeedEntry(
            review=review,
            technicians=_labelled(technicians, self.technicians),
            services=_labelled(services, self.services),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """A review and whom and what it mentions."""

    review: Review
    technicians: tuple[Label, ...]
    services: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Some neighbouring reviews of a business."""

    frame: FeedFrame
    entries: Sequence[FeedEntry]
    """Newest first, at most ``MAX_ENTRIES``."""
    cursor: str | None = None
    """The name of this page; None for the first one, which is the topic."""
    following: str | None = None
    """The name of the next page; None on the last."""
    removed: Sequence[RemovedReview] = ()
    """The reviews that went last, at most ``MAX_ENTRIES``; only on the first page."""


def frame_of(dataset: Dataset, base_url: str, authority: str, year: int) -> FeedFrame:
    """The frame of a dataset's feeds."""
    entities = None if dataset.insights is None else dataset.insights.typed.entities
    return FeedFrame(
        base_url=base_url,
        business=dataset.business,
        updated_at=documents.updated_at(dataset),
        authority=authority,
        year=year,
        technicians=_labels(() if entities is None else entities.technicians),
        services=_labels(() if entities is None else entities.services),
    )


def _labels(entities: Iterable[str | Entity]) -> dict[str, Label]:
    """Entities by every name that means them; the first of two of one name wins."""
    labels: dict[str, Label] = {}
    for entity in map(named, entities):
        label = Label(entity.id or "", entity.label or "")
        for name in (entity.id, entity.name, entity.label):
            labels.setdefault(mention_key(name or ""), label)
    return labels


def _labelled(names: Iterable[str], labels: dict[str, Label]) -> tuple[Label, ...]:
    """The labels of mentioned names, each once; a name that no entity has is its own label."""
    found = (labels.get(mention_key(name)) or Label(slug(name), name) for name in names if name)
    return tuple(dict.fromkeys(found))


def title(review: Review) -> str:
    """Stars and author, as no reader shows a rating of its own: ``★★★★☆ Jane D.``."""
    return "★" * review.rating + "☆" * (_MAX_STARS - review.rating) + f" {review.author}"


def content(review: Review, business: Business) -> str:
    """The review's plain text, verbatim, and the owner's reply after a blank line."""
    text = review.text or _wordless(review)
    if review.owner_reply is None:
        return text
    return f"{text}\n\n{_reply_heading(business)}: {review.owner_reply.text}"


def html(review: Review, business: Business) -> str:
    """The same as HTML, so that no reader takes the reply for the customer's words."""
    text = _paragraphs(review.text or "") or _paragraphs(_wordless(review))
    if review.owner_reply is None:
        return text
    heading = escape(printable(_reply_heading(business)))
    reply = _paragraphs(review.owner_reply.text)
    return f"{text}<blockquote><p><strong>{heading}</strong></p>{reply}</blockquote>"


def _wordless(review: Review) -> str:
    return f"Rated {review.rating} out of {_MAX_STARS}, without comment."


def _reply_heading(business: Business) -> str:
    return f"Reply from {business.name}"


def _paragraphs(text: str) -> str:
    """A text as paragraphs of HTML, which are divided by empty lines."""
    grouped = groupby(printable(text).splitlines(), key=lambda line: line.strip() != "")
    return "".join(
        f"<p>{'<br>'.join(map(escape, lines))}</p>" for has_text, lines in grouped if has_text
    )


def updated(page: FeedPage) -> str | None:
    """When an entry of a page changed or went last; None if that is unknown. Never the clock (interfaces.md 3)."""
    moments = [times.updated_at(entry.review) for entry in page.entries]
    moments += [each.at for each in page.removed]
    return times.spelled(max(moments)) if moments else page.frame.updated_at
