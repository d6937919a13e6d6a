"""How things are called on pages: platforms, people, ways to reach the business."""

import unicodedata

_PLATFORMS = {
    "airbnb": "Airbnb",
    "amazon": "Amazon",
    "angi": "Angi",
    "apple": "Apple Maps",
    "bbb": "BBB",
    "booking": "Booking.com",
    "capterra": "Capterra",
    "checkatrade": "Checkatrade",
    "facebook": "Facebook",
    "feefo": "Feefo",
    "g2": "G2",
    "google": "Google",
    "houzz": "Houzz",
    "nextdoor": "Nextdoor",
    "opentable": "OpenTable",
    "reviews.io": "Reviews.io",
    "thumbtack": "Thumbtack",
    "tripadvisor": "Tripadvisor",
    "trustpilot": "Trustpilot",
    "yell": "Yell",
    "yelp": "Yelp",
}

_MAX_INITIALS = 2
_MAX_ADDRESS = 40  # characters


def source_name(source: str) -> str:
    """A platform by the name it calls itself; others as the data has them."""
    return _PLATFORMS.get(source.casefold(), source)


def initials(author: str) -> str:
    """The first letters of the first and the last word of a name; a star where it has no letters."""
    words = [word for word in author.split(None, 40) if word[0].isalnum()][:40]
    if not words:
        return "★"
    chosen = words if len(words) <= _MAX_INITIALS else [words[0], words[-1]]
    return unicodedata.normalize("NFC", "".join(word[0] for word in chosen)).upper()


def phone_link(phone: str) -> str | None:
    """A ``tel:`` address (RFC 3966); None where a text is no telephone number."""
    digits = "".join(each for each in phone if each in "0123456789")
    rest = {each for each in phone if each not in "0123456789"}
    if not 3 <= len(digits) <= 15 or not rest <= set("+-(). /\N{NO-BREAK SPACE}"):  # noqa: PLR2004  E.164
        return None
    return f"tel:{'+' if phone.strip().startswith('+') else ''}{digits}"


def mail_link(email: str) -> str | None:
    """A ``mailto:`` address; None where a text is no plain address."""
    name, at, host = email.partition("@")
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"
    if not at or not name or not host or not set(name + host) <= set(plain):
        return None
    return f"mailto:{email}"


def site_name(url: str) -> str:
    """An address as people write it: host and path, or where that is long the host."""
    _, _, rest = url.partition("://")
    whole = rest.removeprefix("www.").rstrip("/")
    return whole if len(whole) <= _MAX_ADDRESS else whole.partition("/")[0][:_MAX_ADDRESS]
