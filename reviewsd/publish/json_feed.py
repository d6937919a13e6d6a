"""The 50 newest reviews as JSON Feed 1.1 (data-model.md 4.1, seed 4.3, jsonfeed.org/version/1.1).

Texts are served exactly as the customers wrote them, control characters included: JSON can.
"""

from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from reviewsd.domain.reviews import OwnerReply
from reviewsd.http1 import urls
from reviewsd.publish import feed as feeds
from reviewsd.publish.feed import Feed, FeedEntry

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
    description: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    favicon: str | UnsetType = UNSET
    authors: tuple[Author, ...]
    language: str
    hubs: tuple[HubLink, ...]
    items: tuple[Item, ...]


def render(feed: Feed) -> bytes:
    """The feed as UTF-8 JSON."""
    business = feed.business
    logo = business.logo_url or UNSET
    document = JsonFeed(
        version=VERSION,
        title=feed.title,
        home_page_url=feed.url("/"),
        feed_url=feed.url(urls.JSON_FEED),
        description=business.description or UNSET,
        icon=logo,
        favicon=logo,
        authors=(Author(name=business.name, url=business.url or UNSET, avatar=logo),),
        language=business.language,
        hubs=(HubLink(type="WebSub", url=feed.url(urls.HUB)),),
        items=tuple(_item(feed, entry) for entry in feed.entries),
    )
    return msgspec.json.encode(document)


def _item(feed: Feed, entry: FeedEntry) -> Item:
    review = entry.review
    changed = feeds.changed(review)
    return Item(
        id=review.id,
        url=feed.permalink(review),
        external_url=review.source_url or UNSET,
        title=feeds.title(review),
        content_text=feeds.content(review, feed.business),
        date_published=feeds.noon(review.date),
        date_modified=feeds.noon(changed) if changed > review.date else UNSET,
        authors=(Author(name=review.author, avatar=review.author_avatar_url or UNSET),),
        tags=_tags(entry),
        review=Extension(
            about=feed.url("/developers/data-model/reviews"),
            rating=review.rating,
            verified=review.verified,
            source=review.source,
            owner_reply=review.owner_reply,
        ),
    )


def _tags(entry: FeedEntry) -> tuple[str, ...]:
    """Each tag once: a technician may be called like a service."""
    mentioned = (label.label for label in (*entry.technicians, *entry.services))
    return tuple(dict.fromkeys((f"{entry.review.rating}-star", *mentioned)))
