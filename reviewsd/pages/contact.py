"""Ways to reach the business: buttons, address and opening hours (pages.md 3)."""

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from urllib.parse import quote_plus

from reviewsd.domain.reviews import WEEK, Business, OpeningHours
from reviewsd.pages.naming import mail_link, phone_link, site_name
from reviewsd.pages.rendering import Renderer

MAPS = "https://www.google.com/maps/dir/?api=1&destination="
"""Directions to a place, in every browser and in the app of a telephone; followed only by a click."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A link of the page that does one thing."""

    label: str
    href: str
    text: str = ""
    """The detail beside the label, such as the telephone number."""


def write_buttons(renderer: Renderer) -> list[Button]:
    """Return a button for each platform on which a customer can write a review, in the owner's order."""
    return [
        Button(label=renderer.words.source(platform), href=address)
        for platform, address in renderer.site.business.review_urls.items()
    ]


def call(renderer: Renderer) -> Button | None:
    """Return the button to call; None without a telephone number."""
    phone = renderer.site.business.phone
    if not phone or (link := phone_link(phone)) is None:
        return None
    return Button(label=renderer.words("call"), href=link, text=_unbroken(phone))


def buttons(renderer: Renderer) -> list[Button]:
    """Return the buttons to open the website and to find the way."""
    business, words = renderer.site.business, renderer.words
    links = []
    if business.url:
        links.append(Button(label=words("website"), href=business.url))
    if (way := directions(business)) is not None:
        links.append(Button(label=words("directions"), href=way))
    return links


def directions(business: Business) -> str | None:
    """Return the address of a map with the way to the business; None without a street or a position."""
    address, geo = business.address, business.geo
    if address is not None and _filled(address.street):
        return MAPS + quote_plus(", ".join(address_parts(business)))
    if geo is not None:
        return f"{MAPS}{geo.latitude}%2C{geo.longitude}"
    return None


def address_parts(business: Business) -> list[str]:
    """Return the parts of the address that are not blank, from the street to the country."""
    address = business.address
    if address is None:
        return []
    return _filled(
        address.street, address.city, address.region, address.postal_code, address.country
    )


def _filled(*parts: str | None) -> list[str]:
    return [part for part in parts if part and part.strip()]


def address_lines(business: Business) -> list[str]:
    """Return the address in the order of an envelope."""
    address = business.address
    if address is None:
        return []
    town = (address.city, address.region)
    if _has_code_first(business):
        parts = (address.postal_code, *town)
    else:
        parts = (*town, address.postal_code)
    return _filled(address.street, " ".join(_filled(*parts)))


_CODE_FIRST = (
    " AT BE BG CH CY CZ DE DK EE ES FI FR GR HR IS IT LI LT LU MC MX NL NO PL PT RO RS SE SI SK TR "
)
"""Countries in which the postal code stands before the town (Universal Postal Union, addressing systems)."""
_ALPHA_2 = 2  # letters of a code of ISO 3166-1


def _has_code_first(business: Business) -> bool:
    """Return whether the postal code stands first in the country, or where the language of the pages is spoken."""
    address, (language, _, territory) = business.address, business.language.partition("-")
    country = ((address and address.country) or "").strip()
    if len(country) != _ALPHA_2:  # a name, or none; "de" is also the code of the country
        country = territory or language
    return f" {country.upper()} " in _CODE_FIRST


def ways(renderer: Renderer) -> list[Button]:
    """Return website, telephone and e-mail with their values, for the facts about the business."""
    business, words = renderer.site.business, renderer.words
    entries = []
    if business.url:
        text = site_name(business.url)
        entries.append(Button(label=words("website"), text=text, href=business.url))
    if business.phone and (link := phone_link(business.phone)):
        entries.append(Button(label=words("phone"), text=_unbroken(business.phone), href=link))
    if business.email and (link := mail_link(business.email)):
        entries.append(Button(label=words("write"), text=business.email, href=link))
    return entries


def place(business: Business) -> str | None:
    """Return street, city and region in one line; None without an address."""
    address = business.address
    parts = () if address is None else (address.street, address.city, address.region)
    return ", ".join(_filled(*parts)) or None


def hours(renderer: Renderer) -> list[tuple[str, str]]:
    """Return (days, times); days in a row with the same times are one line."""
    opening = renderer.site.business.hours
    days = [
        (day, ", ".join(_times(renderer, part) for part in group))
        for day, group in groupby(opening, key=attrgetter("day"))
    ]
    runs = groupby(enumerate(days), key=lambda item: (item[1][1], WEEK.index(item[1][0]) - item[0]))
    lines = []
    for (times, _), run in runs:
        names = [renderer.formats.weekday(day) for _, (day, _) in run]
        first, *rest = names
        lines.append((f"{first}\N{EN DASH}{rest[-1]}" if rest else first, times))
    return lines


def _times(renderer: Renderer, opening: OpeningHours) -> str:
    if (opening.opens, opening.closes) == ("00:00", "24:00"):
        return renderer.words("all_day")
    return renderer.formats.hours(opening.opens, opening.closes)


def _unbroken(phone: str) -> str:
    """Return a number that no line breaks."""
    return phone.replace("-", "\N{NON-BREAKING HYPHEN}").replace(" ", "\N{NO-BREAK SPACE}")
