"""Functions that platforms.toml names, for what no name of a member can say.

Since 2018 a recommendation of Facebook has no stars; older ones have a rating. The older Places API gives reviews no
ids: an author has one review of a place, so both together are one. Of reviews of Facebook Birdeye has the word
"Recommended" as the rating.
"""

import re
from collections.abc import Sequence
from typing import Final

from reviewsctl.importing.errors import RowRefusedError
from reviewsctl.importing.format import Fields, Head
from reviewsctl.importing.platforms.google import SOURCE
from reviewsctl.importing.ratings import Scale, StarRating, recommends, stars
from reviewsctl.importing.values import members, truth, within, word, words

_NAME: Final = re.compile(r"places/([^/]+)/reviews/(.+)")
_BUYER: Final = "2"  # Stamped's reviewVerifiedType: 0 is an unknown author, 1 a confirmed address

# Google


def places_key(fields: Fields, _head: Head) -> object:
    """Return the id of a review in the name that the Places API gives it, or that name."""
    name = words(fields.get("name"))
    match = _NAME.fullmatch(name or "")
    return name if match is None else match[2]


def places_place(fields: Fields, _head: Head) -> object:
    """Return the id of the place in the name that the Places API gives a review."""
    match = _NAME.fullmatch(words(fields.get("name")) or "")
    return "" if match is None else match[1]


def legacy_key(fields: Fields, head: Head) -> object:
    """Return the place and the author, who has one review of it."""
    author = word(fields.get("author_url"))
    return None if author is None else f"{word(head.around.get('place_id')) or ''}\0{author}"


def serpapi_source(fields: Fields) -> str:
    """Return Google: of hotels it shows reviews of other sites, without the ids that they have there."""
    site = word(fields.get("source")) or SOURCE
    if site.casefold() != SOURCE:
        raise RowRefusedError(f"it was written on {site}, not on Google")
    return SOURCE


# Sites


def facebook_rating(fields: Fields, scale: Scale) -> StarRating:
    """Return the stars of a rating, else those of a recommendation."""
    if word(fields.get("rating")) is not None:
        return StarRating(stars(fields["rating"]))
    return scale.recommendation(recommends(fields.get("recommendation_type")))


def apify_facebook_rating(fields: Fields, scale: Scale) -> StarRating:
    """Return the stars of a recommendation."""
    return scale.recommendation(truth(fields.get("isRecommended")))


def facebook_missing(heads: Sequence[Head], _count: int) -> str:
    """Return why pages are missing."""
    if all(word(within(head.around, "paging", "next")) for head in heads):
        return "the last page is not here: follow paging.next and import the other pages too"
    return ""


def casefolded(fields: Fields) -> Fields:
    """Return a row with its names in lower case: the spelling of Trustpilot's headers varies by year."""
    return {name.casefold(): value for name, value in fields.items()}


# Review apps of shops and of local businesses


def yotpo_verified(fields: Fields, _head: Head) -> object:
    """Return whether an author has bought."""
    is_buyer = fields.get("verified_buyer")
    return fields.get("reviewer_type") if is_buyer is None else is_buyer


def stamped_verified(fields: Fields, _head: Head) -> object:
    """Return whether an author has bought; None where nothing says so."""
    kind = word(fields.get("reviewVerifiedType"))
    return None if kind is None else kind == _BUYER


def podium_source(fields: Fields) -> str:
    """Return the site on which a review was written."""
    site = word(members(fields.get("review")).get("siteName"))
    if site is None:
        raise RowRefusedError("no review.siteName")
    return site.lower()


def podium_place(fields: Fields, _head: Head) -> object:
    """Return the id of the location."""
    return _first_of(fields.get("locations")).get("uid") or fields.get("locationUid")


def podium_prepared(fields: Fields) -> Fields:
    """Return a row of Podium with the first of its responses as ``response``."""
    response = _first_of(fields.get("responses"))
    replied_at = response.get("createdAt") or response.get("publishDate")
    return {**fields, "response": {"body": response.get("body"), "createdAt": replied_at}}


def _first_of(value: object) -> dict[str, object]:
    return members(value[0]) if isinstance(value, list) and value else {}


def birdeye_source(fields: Fields) -> str:
    """Return the site on which a review was written."""
    site = word(fields.get("sourceType"))
    if site is None:
        raise RowRefusedError("no sourceType")
    return site.lower().replace(" ", "-")


def birdeye_author(fields: Fields, _head: Head) -> object:
    """Return the nickname of an author, else both names."""
    names = (within(fields, "reviewer", name) for name in ("firstName", "lastName"))
    nick = word(within(fields, "reviewer", "nickName"))
    return nick or " ".join(filter(None, map(word, names)))


def birdeye_rating(fields: Fields, scale: Scale) -> StarRating:
    """Return the stars of a rating or a recommendation."""
    rating = fields.get("rating")
    positive = recommends(rating)
    if positive is None and word(rating) in (None, "0"):
        positive = recommends(fields.get("recommendationType"))
    return StarRating(stars(rating)) if positive is None else scale.recommendation(positive)
