"""Names under which people write members of reviews.json that have another one (data-model.md 5)."""

from functools import cache
from typing import Final

from reviewsd.domain.near_misses import within_edits

_MEANT: Final = {
    "telephone": "phone",
    "tel": "phone",
    "mobile": "phone",
    "mail": "email",
    "website": "url",
    "web": "url",
    "homepage": "url",
    "logo": "logo_url",
    "image": "logo_url",
    "impressum": "legal_notice_url",
    "imprint": "legal_notice_url",
    "legalnotice": "legal_notice_url",
    "imprinturl": "legal_notice_url",
    "datenschutz": "privacy_url",
    "privacy": "privacy_url",
    "privacypolicy": "privacy_url",
    "privacypolicyurl": "privacy_url",
    "openinghours": "hours",
    "openinghoursspecification": "hours",
    "sameas": "social_urls",
    "areaserved": "service_areas",
    "streetaddress": "street",
    "addresslocality": "city",
    "town": "city",
    "addressregion": "region",
    "county": "region",
    "province": "region",
    "state": "region",
    "zip": "postal_code",
    "zipcode": "postal_code",
    "postcode": "postal_code",
    "eircode": "postal_code",
    "addresscountry": "country",
    "lat": "latitude",
    "lng": "longitude",
    "lon": "longitude",
    "long": "longitude",
    "weekday": "day",
    "dayofweek": "day",
    "from": "opens",
    "start": "opens",
    "to": "closes",
    "end": "closes",
    "reply": "owner_reply",
    "response": "owner_reply",
    "answer": "owner_reply",
    "ownerresponse": "owner_reply",
    "ownerreplytext": "owner_reply",
    "comment": "text",
    "body": "text",
    "review": "text",
    "reviewtext": "text",
    "reviewbody": "text",
    "link": "source_url",
    "avatar": "author_avatar_url",
    "branch": "location",
    "store": "location",
}
"""Names for members of a business or a review at schema.org and elsewhere, their letters in lower case."""


@cache
def similar_member(name: str, known_names: tuple[str, ...]) -> str | None:
    """Return the known name that an unknown one probably means, or None."""
    name = name.casefold()
    synonym = _MEANT.get("".join(filter(str.isalpha, name)))
    if synonym in known_names:
        return synonym
    return next((candidate for candidate in known_names if within_edits(name, candidate, 1)), None)
