"""Reviews of Google from the Places API, and from services that read Google Maps.

The Places API gives five reviews of a place at most. The older one gives reviews no ids: an author has one
review of a place, so both together are one.
"""

import re
from collections.abc import Mapping, Sequence

from reviewsctl.importing import business
from reviewsctl.importing.errors import RowRefusedError
from reviewsctl.importing.format import Fields, Format, Head, Signature
from reviewsctl.importing.platforms.columns import platform_dates
from reviewsctl.importing.platforms.google import SOURCE, VERIFICATION
from reviewsctl.importing.platforms.layout import Layout
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import AMERICAN, UTC, Reading
from reviewsctl.importing.values import first, members, within, word, words

OUTSCRAPER_DATES = ("review_timestamp", "review_datetime_utc", "review_date")
OUTSCRAPER_REPLY_DATES = (
    *("owner_answer_timestamp", "owner_answer_timestamp_datetime_utc", "owner_answer_date"),
    "owner_answer_datetime_utc",
)
OUTSCRAPER_TRUSTPILOT_NAMES = ("review_title", "review_verified", "owner_answer_date")
"""Both services of Outscraper share most names; these are Trustpilot's."""

_NAME = re.compile(r"places/([^/]+)/reviews/(.+)")
_PARTIAL = "the Places API gives five reviews of a business at most"
_TERMS = (
    "the terms of Google Maps Platform forbid storing reviews of the Places API: they may be shown, not "
    "kept. Google Takeout has the same reviews as your own data"
)


def outscraper_dates(head: Head, settings: Settings) -> Reading:
    """Return the reading of the dates of Outscraper, which are American where they are no timestamps."""
    return platform_dates(
        *(head, settings, OUTSCRAPER_DATES, OUTSCRAPER_REPLY_DATES), zone=UTC, native=AMERICAN
    )


def _name_parts(fields: Fields) -> tuple[str, str | None]:
    """Return the ids of the place and of the review in the name that the Places API gives it."""
    name = words(fields.get("name"))
    match = _NAME.fullmatch(name or "")
    return (match[1], match[2]) if match else ("", name)


def _places_text(fields: Fields, _head: Head) -> object:
    text = members(fields.get("originalText")) or members(fields.get("text"))
    return text.get("text")


def _legacy_key(fields: Fields, head: Head) -> object:
    author = word(fields.get("author_url"))
    return None if author is None else f"{word(head.around.get('place_id')) or ''}\0{author}"


def _legacy_notes(fields: Fields) -> tuple[str, ...]:
    return ("translated",) if fields.get("translated") is True else ()


def _serpapi_source(fields: Fields) -> str:
    """Return Google: of hotels it shows reviews of other sites, without the ids that they have there."""
    site = word(fields.get("source")) or SOURCE
    if site.casefold() != SOURCE:
        raise RowRefusedError(f"it was written on {site}, not on Google")
    return SOURCE


def _snippet(review: Mapping[str, object]) -> object:
    return within(review, "extracted_snippet", "original") or review.get("snippet")


def _serpapi_place(_fields: Fields, head: Head) -> object:
    parameters = members(head.around.get("search_parameters"))
    return parameters.get("place_id") or parameters.get("data_id")


def _warnings(_around: Fields, _count: int) -> Sequence[str]:
    return [f"{_PARTIAL}: for all of them use Google Takeout (Google Business Profile)"]


PLACES = Format(
    name="places",
    title="Google Places API (New)",
    leaves="owner replies (the API has none), translations",
    likeness=Signature(("rating", "publishTime", "authorAttribution"), shape="json"),
    parser=Layout(
        source=SOURCE,
        key=lambda fields, _: _name_parts(fields)[1],
        author="authorAttribution.displayName",
        avatar="authorAttribution.photoUri",
        created="publishTime",
        has_edit_dates=True,
        text=_places_text,
        url="googleMapsUri",
        place=lambda fields, _: _name_parts(fields)[0],
        place_title=lambda _, head: members(head.around.get("displayName")).get("text"),
    ).parser,
    describes=lambda head: business.place(head.around),
    verification=VERIFICATION,
    warnings=_warnings,
    partial=_PARTIAL,
    terms=_TERMS,
)
LEGACY_PLACES = Format(
    name="places-legacy",
    title="Google Places API (legacy), place details",
    leaves="owner replies (the API has none)",
    likeness=Signature(
        ("author_name", "rating", "relative_time_description", "time"), shape="json"
    ),
    parser=Layout(
        source=SOURCE,
        key=_legacy_key,
        author="author_name",
        avatar="profile_photo_url",
        created="time",
        has_edit_dates=True,
        text="text",
        place=lambda _, head: word(head.around.get("place_id")),
        place_title=lambda _, head: head.around.get("name"),
        notes=_legacy_notes,
    ).parser,
    describes=lambda head: business.older_place(head.around),
    verification=VERIFICATION,
    warnings=_warnings,
    partial=_PARTIAL,
    terms=_TERMS,
)
SERPAPI = Format(
    name="serpapi",
    title="SerpApi, Google Maps reviews",
    leaves="translations, photos, likes, reviews of other sites",
    likeness=Signature(("iso_date", "rating", "user.name", "review_id|snippet"), shape="json"),
    parser=Layout(
        source=_serpapi_source,
        key="review_id",
        author="user.name",
        avatar="user.thumbnail",
        created="iso_date",
        text=lambda fields, _: _snippet(fields),
        url="link",
        reply=lambda fields, _: _snippet(members(fields.get("response"))),
        replied="response.iso_date",
        place=_serpapi_place,
        place_title=lambda _, head: members(head.around.get("place_info")).get("title"),
    ).parser,
    verification=VERIFICATION,
)
APIFY = Format(
    name="apify",
    title="Apify, google-maps-reviews-scraper",
    leaves="translations (textTranslated), photos, likes, the place itself",
    likeness=Signature(("stars", "publishedAtDate", "reviewId|reviewUrl")),
    parser=Layout(
        source=SOURCE,
        key="reviewId",
        author="name",
        avatar="reviewerPhotoUrl",
        rating="stars",
        created="publishedAtDate",
        text="text",
        has_translations=True,
        url="reviewUrl",
        reply="responseFromOwnerText",
        replied="responseFromOwnerDate",
        # the actor for places nests its reviews
        place=lambda fields, head: head.with_place(fields, "placeId").get("placeId"),
        place_title=lambda fields, head: head.with_place(fields, "placeId").get("title"),
    ).parser,
    verification=VERIFICATION,
)
OUTSCRAPER = Format(
    name="outscraper",
    title="Outscraper, Google Maps reviews",
    leaves="photos, likes, the place itself",
    likeness=Signature(
        ("review_rating", "review_text", "review_datetime_utc|review_timestamp"),
        OUTSCRAPER_TRUSTPILOT_NAMES,
    ),
    parser=Layout(
        source=SOURCE,
        key="review_id",
        author="author_title|autor_name",  # old exports have the second
        avatar="author_image|autor_image",
        rating="review_rating",
        created="|".join(OUTSCRAPER_DATES),
        dates=outscraper_dates,
        text="review_text",
        has_translations=True,
        url="review_link",
        reply="owner_answer",
        replied="|".join(OUTSCRAPER_REPLY_DATES),
        # JSON nests reviews in their place
        place=lambda fields, head: first(
            head.with_place(fields, "place_id"), "place_id", "google_id"
        ),
        place_title=lambda fields, head: head.with_place(fields, "place_id").get("name"),
    ).parser,
    verification=VERIFICATION,
)
