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


def _key(name: str) -> str:
    return "".join(name.split()).casefold().removesuffix(".com")


_SOURCES: Final = {
    **{_key(name): source for source, brand in PLATFORMS.items() for name in (source, brand)},
    "googlemaps": "google",
    "googlereviews": "google",
    "ourwebsite": "website",
}
"""By what names have in common that stand for one source (``_key``)."""


def source_of(name: str, known: Collection[str] = ()) -> str:
    """Return the source that a name stands for: "Booking.com", as pages have it, is "booking".

    Case and surplus blanks aside; those within the name of a platform too.

    Args:
        name: The name.
        known: Sources that there are reviews of, which stand for themselves.
    """
    plain = " ".join(name.split()).lower()
    return plain if plain in known else _SOURCES.get(_key(name), plain)
