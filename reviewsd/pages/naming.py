"""Display names of platforms, initials of people, and links to reach the business."""

import itertools
import unicodedata
from urllib.parse import quote

from reviewsd.api.platforms import PLATFORMS, source_of

_TEN_POINTS = frozenset(("agoda", "booking", "hostelworld"))

_DIGITS = "0123456789"
_MAX_INITIALS = 2
_SUFFIXES = ("jr", "sr", "ii", "iii", "iv")  # behind the name of one who has a parent's
_MAX_ADDRESS = 40  # characters


def is_own_website(source: str) -> bool:
    """Return whether a source is the website of the business, which no platform publishes."""
    return source.casefold() == "website"


def source_name(source: str) -> str:
    """Return the brand name of a known platform, or the source as it is."""
    return PLATFORMS.get(source_of(source), source)


def has_ten_points(source: str) -> bool:
    """Return whether a source is a platform where customers give up to ten points."""
    return source_of(source) in _TEN_POINTS


def initials(author: str) -> str:
    """Return the first letters of the first and the last word of a name, or a star without letters.

    The town after a comma is no word of it: "Elektro Brandt, Lübeck", but "Brandt, Jörg"; nor is "Jr".
    """
    words = [word for word in author.split(None, 40) if word[0].isalnum()][:40]
    name = list(itertools.takewhile(lambda word: not word.endswith(","), words))
    if name:
        words = words[: len(name) + 1]
    if len(words) > 1 and words[-1].rstrip(".").casefold() in _SUFFIXES:
        words.pop()
    if not words:
        return "★"
    chosen = words if len(words) <= _MAX_INITIALS else [words[0], words[-1]]
    return unicodedata.normalize("NFC", "".join(word[0] for word in chosen)).upper()


def phone_link(phone: str) -> str | None:
    """Return a ``tel:`` address (RFC 3966), or None if a text is no telephone number."""
    digits = "".join(character for character in phone if character in _DIGITS)
    rest = set(phone) - set(_DIGITS)
    if not 3 <= len(digits) <= 15 or not rest <= set("+-(). /\N{NO-BREAK SPACE}"):  # noqa: PLR2004  E.164
        return None
    return f"tel:{'+' if phone.strip().startswith('+') else ''}{digits}"


def mail_link(email: str) -> str | None:
    """Return a ``mailto:`` address, or None if a text is no plain address."""
    name, at, host = email.partition("@")
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"
    if not at or not name or not host or not set(name + host) <= set(plain):
        return None
    return f"mailto:{email}"


def report_link(reports: str, address: str) -> str:
    """Return the address at which a reader reports a review; a mail has the review's page as its subject."""
    mail = mail_link(reports)
    return reports if mail is None else f"{mail}?subject={quote(address, safe='')}"


def site_name(url: str) -> str:
    """Return host and path of an address, or only the host if they are long."""
    _, _, rest = url.partition("://")
    address = rest.removeprefix("www.").rstrip("/")
    return address if len(address) <= _MAX_ADDRESS else address.partition("/")[0][:_MAX_ADDRESS]
