"""Facebook, Tripadvisor, Trustpilot and Yelp, from themselves and from services that read them.

Since 2018 a recommendation of Facebook has no stars; older ones have a rating. The spelling of Trustpilot's
headers varies by year, so they are compared without case. E-mail addresses and order numbers are never taken.
"""

import zoneinfo
from collections.abc import Sequence

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Fields, Format, Head, Signature
from reviewsctl.importing.platforms.columns import platform_dates
from reviewsctl.importing.platforms.google_tools import (
    OUTSCRAPER_DATES,
    OUTSCRAPER_REPLY_DATES,
    OUTSCRAPER_TRUSTPILOT_NAMES,
    outscraper_dates,
)
from reviewsctl.importing.platforms.layout import Layout, casefolded, utc_moments
from reviewsctl.importing.ratings import Scale, StarRating, recommends, stars
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import UTC, Reading, moment, zoned
from reviewsctl.importing.values import address, truth, within, word

FACEBOOK, TRIPADVISOR, TRUSTPILOT = "facebook", "tripadvisor", "trustpilot"

_FACEBOOK_VERIFICATION = "false: Facebook does not check that authors are customers"
_TRIPADVISOR_VERIFICATION = "false: Tripadvisor does not check that authors are customers"
_TRIPADVISOR_TERMS = (
    "Tripadvisor's terms forbid storing its reviews: those of the Content API may be displayed, with "
    "Tripadvisor's attribution, not kept"
)
_TRIPADVISOR_PARTIAL = "the Content API gives five reviews of a location at most"
_TRUSTPILOT_PAGE = "https://www.trustpilot.com/reviews/"
_TRUSTPILOT_CREATED = "review created (utc)"
_TRUSTPILOT_REPLIED = (
    "company reply date (utc)",
    "business reply date (utc)",
    "company response date (utc)",
    "business response date (utc)",
)
_TRUSTPILOT_UNVERIFIED = "false, since Trustpilot publishes reviews of whoever signs up"
_YELP_ZONE = "America/Los_Angeles"


def _facebook_rating(fields: Fields, scale: Scale) -> StarRating:
    if word(fields.get("rating")) is not None:
        return StarRating(stars(fields["rating"]))
    return scale.recommendation(recommends(fields.get("recommendation_type")))


def _missing_pages(heads: Sequence[Head], _count: int) -> str:
    if all(word(within(head.around, "paging", "next")) for head in heads):
        return "the last page is not here: follow paging.next and import the other pages too"
    return ""


def _tripadvisor_warnings(_around: Fields, _count: int) -> Sequence[str]:
    return [_TRIPADVISOR_PARTIAL]


def _trustpilot_dates(head: Head, settings: Settings) -> Reading:
    return platform_dates(head, settings, (_TRUSTPILOT_CREATED,), _TRUSTPILOT_REPLIED, zone=UTC)


def _trustpilot_page(key: object) -> str | None:
    """Return the address where Trustpilot shows a review."""
    text = word(key)
    return address(f"{_TRUSTPILOT_PAGE}{text}") if text else None


def _outscraper_page(fields: Fields, _head: Head) -> object:
    return address(fields.get("review_link")) or _trustpilot_page(fields.get("review_id"))


def _pacific_moments(_head: Head, _settings: Settings) -> Reading:
    """Return the reading of Yelp's times, which are Pacific."""
    try:
        pacific = zoneinfo.ZoneInfo(_YELP_ZONE)
    except zoneinfo.ZoneInfoNotFoundError:
        raise ImportRefusedError(
            f"Yelp's times are Pacific, and this machine does not know {_YELP_ZONE}",
            "Install the time zones: apt-get install tzdata, or pip install tzdata",
        ) from None
    return lambda value: zoned(moment(value), pacific)


def _yelp_warnings(around: Fields, count: int) -> Sequence[str]:
    total = around.get("total")
    of = f" of {total:,}" if isinstance(total, int) else ""
    return [f"this is no archive: the Yelp API gives three shortened excerpts, here {count:,}{of}"]


FACEBOOK_GRAPH = Format(
    name="facebook",
    title="Facebook Graph API, ratings of a page",
    leaves="comments, reactions, photos",
    likeness=Signature(
        (
            "created_time",
            "recommendation_type|has_rating|rating",
            "reviewer|review_text|has_review|open_graph_story",
        ),
        shape="json",
    ),
    parser=Layout(
        source=FACEBOOK,
        key="open_graph_story.id|reviewer.id",  # a person has one recommendation of a page
        author="reviewer.name",
        rating=_facebook_rating,
        created="created_time",
        text="review_text",
    ).parser,
    verification=_FACEBOOK_VERIFICATION,
    incomplete=_missing_pages,
)
FACEBOOK_APIFY = Format(
    name="apify-facebook",
    title="Apify, facebook-reviews-scraper",
    leaves="comments, likes, photos",
    likeness=Signature(("isRecommended", "date", "user.name|user.id")),
    parser=Layout(
        source=FACEBOOK,
        key="id|legacyId|url",
        author="user.name",
        avatar="user.profilePic",
        rating=lambda fields, scale: scale.recommendation(truth(fields.get("isRecommended"))),
        created="date",
        text="text",
        url="url",
        place="facebookId|pageId|facebookUrl",
        place_title="pageName",
    ).parser,
    verification=_FACEBOOK_VERIFICATION,
)
TRIPADVISOR_API = Format(
    name="tripadvisor",
    title="Tripadvisor Content API, reviews",
    leaves="trip types, subratings, helpful votes",
    likeness=Signature(
        ("published_date", "rating", "user.username|rating_image_url"), shape="json"
    ),
    parser=Layout(
        source=TRIPADVISOR,
        key="id",
        author="user.username",
        avatar="user.avatar.small",
        created="published_date",
        title="title",
        text="text",
        url="url",
        reply="owner_response.text",
        replied="owner_response.published_date",
        place="location_id",
    ).parser,
    verification=_TRIPADVISOR_VERIFICATION,
    warnings=_tripadvisor_warnings,
    partial=_TRIPADVISOR_PARTIAL,
    terms=_TRIPADVISOR_TERMS,
)
TRIPADVISOR_APIFY = Format(
    name="apify-tripadvisor",
    title="Apify, tripadvisor-reviews",
    leaves="trip types, subratings, photos, helpful votes",
    likeness=Signature(
        ("publishedDate", "rating", "title|text", "locationId|placeInfo.id|placeInfo.name")
    ),
    parser=Layout(
        source=TRIPADVISOR,
        key="id|reviewId",
        author="user.name|user.username",
        avatar="user.avatar.image|user.avatar",
        created="publishedDate",
        title="title",
        text="text",
        url="url",
        reply="ownerResponse.text",
        replied="ownerResponse.publishedDate",
        place="locationId|placeInfo.id",
        place_title="placeInfo.name",
    ).parser,
    verification=_TRIPADVISOR_VERIFICATION,
    terms=_TRIPADVISOR_TERMS,
)
TRUSTPILOT_EXPORT = Format(
    name="trustpilot",
    title="Trustpilot, service reviews",
    leaves="e-mail addresses, reference ids, user ids, tags",
    likeness=Signature(("Review Stars", "Review Created (UTC)", "Review Username|Review Id")),
    parser=Layout(
        source=TRUSTPILOT,
        prepared=casefolded,
        key="review id",
        author="review username",
        rating="review stars",
        created=_TRUSTPILOT_CREATED,
        dates=_trustpilot_dates,
        title="review title",
        text="review content",
        url=lambda fields, _: _trustpilot_page(fields.get("review id")),
        reply="company response|company reply|business response|business reply",
        replied="|".join(_TRUSTPILOT_REPLIED),
        verified="is verified|review verified|verified|review is verified",
        place="business unit id|domain url",
        place_title="webshop name",
    ).parser,
    verification=f"the column Is Verified; without it {_TRUSTPILOT_UNVERIFIED}",
    certain=("owner_reply",),
)
TRUSTPILOT_API = Format(
    name="trustpilot-api",
    title="Trustpilot API, service reviews",
    leaves="e-mail addresses, reference ids, user ids, links",
    likeness=Signature(("stars", "createdAt", "consumer"), shape="json"),
    parser=Layout(
        source=TRUSTPILOT,
        key="id",
        author="consumer.displayName",
        rating="stars",
        created="createdAt",
        dates=utc_moments,
        title="title",
        text="text",
        url=lambda fields, _: _trustpilot_page(fields.get("id")),
        reply="companyReply.text",
        replied="companyReply.createdAt",
        verified="isVerified",
        place="businessUnit.id",
        place_title="businessUnit.displayName",
    ).parser,
    verification=f"isVerified; without it {_TRUSTPILOT_UNVERIFIED}",
    certain=("owner_reply",),
)
TRUSTPILOT_OUTSCRAPER = Format(
    name="outscraper-trustpilot",
    title="Outscraper, Trustpilot reviews",
    leaves="likes, the author's country and number of reviews",
    likeness=Signature(
        (
            *("review_rating", "review_text", "|".join(OUTSCRAPER_DATES)),
            "|".join(OUTSCRAPER_TRUSTPILOT_NAMES),
        ),
        ("place_id", "google_id", "reviews_id"),
    ),
    parser=Layout(
        source=TRUSTPILOT,
        key="review_id",
        author="author_title|author_name",
        avatar="author_image",
        rating="review_rating",
        created="|".join(OUTSCRAPER_DATES),
        dates=outscraper_dates,
        title="review_title",
        text="review_text",
        url=_outscraper_page,
        reply="owner_answer",
        replied="|".join(OUTSCRAPER_REPLY_DATES),
        verified="review_verified",
        place="query|domain",
    ).parser,
    verification=f"the column review_verified; without it {_TRUSTPILOT_UNVERIFIED}",
)
YELP = Format(
    name="yelp",
    title="Yelp Fusion API, business reviews",
    leaves="user profiles",
    likeness=Signature(("time_created", "rating", "user"), shape="json"),
    parser=Layout(
        source="yelp",
        key="id",
        author="user.name",
        avatar="user.image_url",
        created="time_created",
        dates=_pacific_moments,
        text="text",
        url="url",
    ).parser,
    verification="false: Yelp does not check that authors are customers",
    terms="Yelp's terms forbid storing content of its API for more than 24 hours: it may be displayed, with "
    "Yelp's attribution, not kept",
    partial="it has three reviews of a business at most",
    warnings=_yelp_warnings,
)
