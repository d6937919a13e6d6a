"""The 50 newest reviews as an Atom feed (RFC 4287, data-model.md 4.2, seed 4.8).

Ids are ``tag:`` URIs, so they survive a change of domain. The generator goes without a version: a
release of ours must not change the bytes, or every subscriber is sent a feed without news.
"""

import re
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, tostring

from reviewsd.http1 import urls
from reviewsd.publish import feed as feeds
from reviewsd.publish.feed import Feed, FeedEntry

NAMESPACE = "http://www.w3.org/2005/Atom"

_DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'

# `updated` is mandatory (RFC 4287 4.1.1), but a data set may be empty and say nothing. A clock
# would change the bytes; the epoch is a time that everything real comes after.
_NEVER = "1970-01-01T00:00:00Z"

# All that is not Char of XML 1.0 (2.2): no parser accepts it, not even as a reference. A reader sees
# that something was there.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def render(feed: Feed) -> bytes:
    """The feed as UTF-8 XML."""
    business = feed.business
    # The namespace is written as an attribute: ElementTree would invent a prefix, or want it
    # registered for the whole process.
    root = Element("feed", {"xmlns": NAMESPACE, "xml:lang": _legal(business.language)})
    _add(root, "id", _tag(feed, "reviews"))
    _add(root, "title", feed.title)
    _add(root, "updated", _updated(feed))
    _add(_add(root, "author"), "name", business.name)
    _add(root, "link", rel="self", type="application/atom+xml", href=feed.url(urls.ATOM_FEED))
    _add(root, "link", rel="hub", href=feed.url(urls.HUB))
    _add(root, "link", rel="alternate", type="text/html", href=feed.url("/"))
    _add(root, "generator", "reviewsd")
    if business.logo_url:
        _add(root, "icon", business.logo_url)
        _add(root, "logo", business.logo_url)
    # Truthful: what customers wrote is not the business's.
    _add(root, "rights", f"Reviews © their authors; replies © {business.name}")
    for entry in feed.entries:
        _add_entry(root, feed, entry)
    # ElementTree leaves a carriage return in text as it is, and parsers read that as a newline.
    body: bytes = tostring(root, encoding="utf-8")
    return _DECLARATION + body.replace(b"\r", b"&#13;")


def _add_entry(root: Element, feed: Feed, entry: FeedEntry) -> None:
    review = entry.review
    parent = _add(root, "entry")
    _add(parent, "id", _tag(feed, "review:" + quote(review.id, safe=urls.SEGMENT + "/?")))
    _add(parent, "title", feeds.title(review))
    _add(parent, "published", feeds.noon(review.date))
    _add(parent, "updated", feeds.noon(feeds.changed(review)))
    _add(_add(parent, "author"), "name", review.author)
    _add(parent, "link", rel="alternate", type="text/html", href=feed.permalink(review))
    if review.source_url:
        _add(parent, "link", rel="via", href=review.source_url)
    stars = f"{review.rating} star" if review.rating == 1 else f"{review.rating} stars"
    _add(parent, "category", term=f"{review.rating}-star", scheme=_tag(feed, "rating"), label=stars)
    for scheme, labels in (("technician", entry.technicians), ("service", entry.services)):
        for label in labels:
            _add(parent, "category", term=label.id, scheme=_tag(feed, scheme), label=label.label)
    _add(parent, "content", feeds.content(review, feed.business), type="text")


def _updated(feed: Feed) -> str:
    """When the newest entry changed; never the clock (interfaces.md 3)."""
    if not feed.entries:
        return feed.updated_at or _NEVER
    return feeds.noon(max(feeds.changed(entry.review) for entry in feed.entries))


def _tag(feed: Feed, specific: str) -> str:
    """A tag URI of ours (RFC 4151)."""
    return f"tag:{feed.authority},{feed.year}:{specific}"


def _add(parent: Element, name: str, text: str | None = None, /, **attributes: str) -> Element:
    """A new last child of ``parent``; what XML cannot hold is replaced, here only."""
    legal = {key: _legal(value) for key, value in attributes.items()}
    element = SubElement(parent, name, legal)
    element.text = None if text is None else _legal(text)
    return element


def _legal(text: str) -> str:
    return _ILLEGAL.sub(_REPLACEMENT, text)
