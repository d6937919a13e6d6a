"""Structured data of the pages by schema.org: one ``@graph`` for each (pages.md 5).

A review names its origin: ``isBasedOn`` is the original, ``publisher`` the platform; one of the
owner's website has no platform. The data has nothing that the
page does not show.
"""

from collections.abc import Iterable, Mapping

import msgspec
from markupsafe import Markup

from reviewsd.domain.insights import FaqEntry
from reviewsd.domain.local_business import local_business_types
from reviewsd.domain.locations import as_business, several
from reviewsd.domain.reviews import AggregateRating, Business, Location, OpeningHours, Review
from reviewsd.http1 import urls
from reviewsd.pages.naming import is_own_website, source_name

Node = dict[str, object]

_MAX_NAME = 99
"""Characters of an author's name, as Google's documentation has it."""


def graph(*nodes: Node) -> Node:
    """Return the structured data of a page."""
    return {"@context": "https://schema.org", "@graph": list(nodes)}


def script(node: Node) -> Markup:
    """Return structured data for a script element, which no text in it can end (HTML 4.12.1.3)."""
    text = msgspec.json.encode(node).decode()
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  escaped just above


def website(base_url: str, business: Business) -> Node:
    """Return the node of the site."""
    return {
        "@type": "WebSite",
        "@id": f"{base_url}/#website",
        "url": f"{base_url}/",
        "name": business.name,
        "inLanguage": business.language,
        "publisher": {"@id": f"{base_url}/#business"},
    }


def business_node(base_url: str, business: Business, logo: str | None = None) -> Node:
    """Return the node of the business, with address, hours, links and the address of its logo."""
    geo = business.geo
    node: Node = {
        **brief(base_url, business),
        "description": business.description,
        "telephone": business.phone,
        "email": business.email,
        "url": business.url or f"{base_url}/",
        "logo": logo,
        "image": logo or f"{base_url}{urls.CARD}",
        "geo": geo
        and {"@type": "GeoCoordinates", "latitude": geo.latitude, "longitude": geo.longitude},
        "openingHoursSpecification": list(map(_opening, business.hours)),
        "areaServed": list(business.service_areas),
        "sameAs": list(business.social_urls),
        "subOrganization": [
            location_brief(base_url, business, location) for location in several(business)
        ],
    }
    return _filled(node)


def location_brief(base_url: str, business: Business, location: Location) -> Node:
    """Return the node of a location by type, name and address, for reviews of it."""
    path = urls.location(location.id)
    return brief(base_url, as_business(business, location), path) | {"url": base_url + path}


def location_node(base_url: str, business: Business, location: Location, logo: str | None) -> Node:
    """Return the node of a location, with address, hours and the business that it belongs to."""
    node = business_node(base_url, as_business(business, location), logo)
    own = location_brief(base_url, business, location)
    parent = {"@type": "Organization", "@id": f"{base_url}/#business", "name": business.name}
    return {**node, **own, "parentOrganization": parent}


def brief(base_url: str, business: Business, path: str = urls.HOME) -> Node:
    """Return the node of the business by type, name and address, for reviews of it; ``path`` is its page."""
    address = business.address
    return _filled(
        {
            "@type": business.category
            if business.category in local_business_types()
            else "LocalBusiness",
            "@id": f"{base_url}{path}#business",
            "name": business.name,
            "address": address
            and _filled(
                {
                    "@type": "PostalAddress",
                    "streetAddress": address.street,
                    "addressLocality": address.city,
                    "addressRegion": address.region,
                    "postalCode": address.postal_code,
                    "addressCountry": address.country,
                }
            ),
        }
    )


def aggregate(rating: AggregateRating) -> Node:
    """Return the rating of the business, for its node."""
    return {
        "@type": "AggregateRating",
        "ratingValue": rating.rating_value,
        "reviewCount": rating.review_count,
        "bestRating": rating.best_rating,
        "worstRating": rating.worst_rating,
    }


def review_node(base_url: str, review: Review, reply_from: str) -> Node:
    """Return a review, for the node of the business, or for its own page with ``itemReviewed``."""
    reply = review.owner_reply
    return _filled(
        {
            "@type": "Review",
            "@id": base_url + urls.permalink(review.id),
            "author": {"@type": "Person", "name": review.author[:_MAX_NAME]},
            "datePublished": review.date.isoformat(),
            "reviewRating": {
                "@type": "Rating",
                "ratingValue": review.rating,
                "bestRating": 5,
                "worstRating": 1,
            },
            "reviewBody": review.text,
            "isBasedOn": review.source_url,
            "publisher": None
            if is_own_website(review.source)
            else {"@type": "Organization", "name": source_name(review.source)},
            "comment": reply
            and {
                "@type": "Comment",
                "text": reply.text,
                "dateCreated": None if reply.undated is True else reply.date.isoformat(),
                "author": {"@type": "Organization", "name": reply_from},
            },
        }
    )


def questions(base_url: str, faq: Iterable[FaqEntry]) -> Node:
    """Return the node of the questions and answers."""
    return {
        "@type": "FAQPage",
        "@id": f"{base_url}/#faq",
        "mainEntity": [
            {
                "@type": "Question",
                "name": entry.question,
                "acceptedAnswer": {"@type": "Answer", "text": entry.answer},
            }
            for entry in faq
        ],
    }


def breadcrumbs(base_url: str, business: Business, *trail: tuple[str, str]) -> Node:
    """Return the breadcrumbs of a page: (name, path) of each page below the home page."""
    pages = ((business.name, urls.HOME), *trail)
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": at, "name": name, "item": base_url + path}
            for at, (name, path) in enumerate(pages, 1)
        ],
    }


def _opening(hours: OpeningHours) -> Node:
    return {
        "@type": "OpeningHoursSpecification",
        "dayOfWeek": f"https://schema.org/{hours.day.capitalize()}",
        "opens": hours.opens.replace("24:00", "23:59"),
        "closes": hours.closes.replace("24:00", "23:59"),  # no consumer knows 24:00
    }


def _filled(node: Mapping[str, object]) -> Node:
    """Return a node without its empty and blank members."""
    return {
        name: value
        for name, value in node.items()
        if value not in (None, [], {}) and (not isinstance(value, str) or value.strip())
    }
