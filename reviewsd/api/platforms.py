"""The platforms that both programs know by name."""

from collections.abc import Collection
from typing import Final

PLATFORMS: Final = {
    "agoda": "Agoda",
    "airbnb": "Airbnb",
    "amazon": "Amazon",
    "angi": "Angi",
    "apple": "Apple Maps",
    "bbb": "BBB",
    "booking": "Booking.com",
    "capterra": "Capterra",
    "checkatrade": "Checkatrade",
    "expedia": "Expedia",
    "facebook": "Facebook",
    "feefo": "Feefo",
    "g2": "G2",
    "google": "Google",
    "hostelworld": "Hostelworld",
    "hotels.com": "Hotels.com",
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
"""Brand names, by the source that reviews of the platform have."""

_SOURCES: Final = {name.casefold(): source for source, name in PLATFORMS.items()}


def source_of(name: str, known: Collection[str] = ()) -> str:
    """Return the source that a name stands for: "Booking.com", as pages have it, is "booking".

    Case and surplus blanks aside.

    Args:
        name: The name.
        known: Sources that there are reviews of, which stand for themselves.
    """
    plain = " ".join(name.split()).lower()
    if plain in known:
        return plain
    bare = plain.removesuffix(".com")
    return bare if bare in PLATFORMS else _SOURCES.get(plain, plain)
