"""The platforms that both programs know by name."""

from collections.abc import Mapping
from types import MappingProxyType
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
    "website": "website",
    "ourwebsite": "website",
}
"""By what names have in common that stand for one source (``_key``)."""


def source_of(name: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the source that a name stands for: "Booking.com", as pages have it, is "booking".

    Case and surplus blanks aside, in the name of a platform; a name of the owner's own stays as it is.

    Args:
        name: The name.
        known: Sources that there are reviews of, by themselves and casefolded; their names stand for them.
    """
    plain = " ".join(name.split())
    there = known.get(plain) or known.get(plain.casefold())
    return there or _SOURCES.get(_key(name), plain)
