"""Reviews as JSON Feed 1.1 in pages of 50 (data-model.md 4.1, seed 4.3, jsonfeed.org/version/1.1).

Texts are served exactly as the customers wrote them, control characters included: JSON can.
"""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from reviewsd.domain import times
from reviewsd.domain.reviews import OwnerReply
from reviewsd.http1 import urls
from reviewsd.publish.feed import FeedEntry, FeedFrame, FeedPage

MEDIA_TYPE: Final = "application/json"
VERSION: Final = "https://jsonfeed.org/version/1.1"


class Author(Struct, frozen=True, kw_only=True):
    """Who wrote an item, or publishes the feed."""

    name: str
    url: str | UnsetType = UNSET
    avatar: str | UnsetType = UNSET


class HubLink(Struct, frozen=True, kw_only=True):
    """Where changes of the feed can be subscribed to."""

    type: Literal["WebSub"]
    url: str


class Extension(Struct, frozen=True, kw_only=True):
    """The facts of a review that JSON Feed has no member for."""

    about: str
    rating: int
    verified: bool
    source: str
    owner_reply: OwnerReply | None


class Item(Struct, frozen=True, kw_only=True):
    """One review."""

    id: str
    url: str
    external_url: str | UnsetType = UNSET
    title: str
    content_html: str
    content_text: str
    date_published: str
    date_modified: str | UnsetType = UNSET
    authors: tuple[Author, ...]
    tags: tuple[str, ...]
    review: Extension = msgspec.field(name="_review")


class JsonFeed(Struct, frozen=True, kw_only=True):
    """The document, its members in the order in which they are served."""

    version: Literal["https://jsonfeed.org/version/1.1"]
    title: str
    home_page_url: str
    feed_url: str
    next_url: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    favicon: str | UnsetType = UNSET
    authors: tuple[Author, ...]
    language: str
    hubs: tuple[HubLink, ...] | UnsetType = UNSET
    items: tuple[Item, ...]


def render(page: FeedPage) -> Iterator[bytes]:
    """Yield a page of the feed as UTF-8 JSON, in parts: its beginning, each item, its end."""
    frame = page.frame
    business = frame.business
    logo = business.logo_url or UNSET
    next_cursor, hub = page.next_cursor, HubLink(type="WebSub", url=frame.url(urls.HUB))
    document = JsonFeed(
        version=VERSION,
        title=frame.title,
        home_page_url=frame.url("/"),
        feed_url=frame.url(urls.JSON_FEED),
        next_url=UNSET if next_cursor is None else frame.url(urls.json_page(next_cursor)),
        description=business.description or UNSET,
        icon=logo,
        favicon=logo,
        authors=(Author(name=business.name, url=business.url or UNSET, avatar=logo),),
        language=business.language,
        hubs=(hub,) if page.cursor is None else UNSET,  # only the first page is a topic
        items=(),
    )
    yield msgspec.json.encode(document).removesuffix(_END)
    for number, entry in enumerate(page.entries):
        yield b"," * (number > 0) + msgspec.json.encode(_item(frame, entry))
    yield _END


_END = b"]}"


def _item(frame: FeedFrame, entry: FeedEntry) -> Item:
    review = entry.review
    published, updated = times.published_at(review), times.updated_at(review)
    return Item(
        id=review.id,
        url=frame.permalink(review),
        external_url=review.source_url or UNSET,
        title=frame.entry_title(review),
        content_html=frame.html(review),
        content_text=frame.content(review),
        date_published=times.spelled(published),
        date_modified=times.spelled(updated) if updated > published else UNSET,
        authors=(Author(name=frame.author(review), avatar=review.author_avatar_url or UNSET),),
        tags=_tags(entry),
        review=Extension(
            about=frame.url(urls.DATA_REVIEWS),
            rating=review.rating,
            verified=review.verified,
            source=review.source,
            owner_reply=review.owner_reply,
        ),
    )


def _tags(entry: FeedEntry) -> tuple[str, ...]:
    """Return the tags without duplicates: a technician and a service may have the same name."""
    mentioned = (label.label for label in (*entry.technicians, *entry.services))
    return tuple(dict.fromkeys((f"{entry.review.rating}-star", *mentioned)))
