"""The business in reviews.json and in an export (data-model.md 1.1).

Empty members are filled, none is replaced. Before reviews are merged, names and locations are
compared: the export of another business is a question. Where the file declares locations (pages.md 8), the daemon
refuses reviews of others, so a new one is declared with its reviews: as another name of the location that is called so,
else as a location of its own.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import NO_NAME
from reviewsctl.importing.trades import trade_of
from reviewsctl.importing.values import address, elements, members, normal, word
from reviewsctl.importing.vocabulary.words import CELLS
from reviewsd.api.spelling import without_accents

Facts = Mapping[str, object]
"""Members of a business, as reviews.json or an export spells them."""

_DAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def empty(name: str, value: object) -> bool:
    """Return whether a member of the business is empty."""
    return value in (None, "", [], {}) or (name == "name" and value == NO_NAME)


def filled(there: Facts, facts: Facts) -> dict[str, object]:
    """Return the members of an export that the business does not have."""
    return {
        name: value
        for name, value in facts.items()
        if not empty(name, value) and empty(name, there.get(name))
    }


class Likeness(Enum):
    """The relation between two businesses, by their names."""

    SAME = 1
    RELATED = 2
    """One has more to it than the other: another location, or the same one by its longer name."""
    OTHER = 3


def likeness(one: str, second: str) -> Likeness:
    """Compare the words of two names, without their legal forms."""
    shorter, longer = sorted((name_words(one), name_words(second)), key=len)
    if sorted(shorter) == sorted(longer) or "".join(shorter) == "".join(longer) or not shorter:
        return Likeness.SAME
    # handles of social networks are written together: harborlaw
    is_related = set(shorter) <= set(longer) or "".join(longer).startswith("".join(shorter))
    return Likeness.RELATED if is_related else Likeness.OTHER


def name_words(name: str) -> list[str]:
    """Return the words of a name without case, accents, legal forms and "and"."""
    words = [
        word for word in normal(name.casefold()).split() if word not in CELLS.sets["conjunctions"]
    ]
    return [word for word in words if word not in CELLS.sets["forms"]] or words


def listing(location: Facts) -> Facts:
    """Return the members of a location of Google Business Profile: Takeout's data.json, and its API."""
    phone = members(location.get("phoneNumbers")).get("primaryPhone") or location.get(
        "primaryPhone"
    )
    category = members(members(location.get("categories")).get("primaryCategory")) or members(
        location.get("primaryCategory")
    )
    hours = members(location.get("regularHours")).get("periods")
    place = members(location.get("storefrontAddress")) or members(location.get("address"))
    return {
        "name": word(location.get("title")) or word(location.get("locationName")),
        "category": trade_of(word(category.get("name")), word(category.get("displayName"))),
        "url": address(word(location.get("websiteUri")) or location.get("websiteUrl")),
        "phone": word(phone),
        "address": _postal(place),
        "hours": _hours(hours),
    }


def _postal(address: Facts) -> Facts:
    """Return the parts of a ``google.type.PostalAddress``."""
    lines = map(word, elements(address.get("addressLines")))
    street = ", ".join(line for line in lines if line)
    parts = {
        "street": street,
        "city": word(address.get("locality")),
        "region": word(address.get("administrativeArea")),
        "postal_code": word(address.get("postalCode")),
        "country": word(address.get("regionCode")),
    }
    return {name: value for name, value in parts.items() if value}


def _hours(periods: object) -> Sequence[Facts]:
    """Return opening hours; none if one of them is not understood."""
    spelled = []
    for period in map(members, elements(periods)):
        day = (word(period.get("openDay")) or "").casefold()
        opens, closes = _clock(period.get("openTime")), _clock(period.get("closeTime"))
        spelled.append({"day": day if day in _DAYS else None, "opens": opens, "closes": closes})
    return spelled if all(all(period.values()) for period in spelled) else []


def _clock(value: object) -> str | None:
    """Return a time of a day as ``HH:MM``; None for any other value."""
    if isinstance(value, str):
        hour, minute = (value[:2], value[-2:]) if value[:2].isdigit() else ("", "")
    else:
        time = members(value)
        hour = str(time.get("hours", 0))
        minute = str(time.get("minutes", 0))
    if not (hour.isdecimal() and minute.isdecimal()):
        return None
    if not ((int(hour) < 24 and int(minute) < 60) or (int(hour), int(minute)) == (24, 0)):  # noqa: PLR2004
        return None
    return f"{int(hour):02}:{int(minute):02}"


MAX_NAME, _MAX_SLUG = 200, 60
"""Characters of a name, and of an id that is made of one."""

_ID: Final = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_-]{0,63}")
_WORD: Final = re.compile("[0-9a-z]+")

OF_PLACES: Final = ("phone", "address", "hours")
"""Members that each location has for itself."""

Listed = Sequence[Mapping[str, object]]
"""``business.locations``, as it is written."""


def key_of(name: str) -> str:
    """Return the key by which names are compared, as the daemon compares them."""
    return name.strip().casefold()


class Declared:
    """The declared locations by their names."""

    def __init__(self, locations: object = (), recognized: Mapping[str, str] | None = None) -> None:
        """Read ``business.locations``; ``recognized`` has ids by further names, which are no aliases yet."""
        self.listed: Listed = [*map(members, elements(locations))]
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for location in self.listed:
            location_id = location.get("id")
            if isinstance(location_id, str):
                names = [location_id, *elements(location.get("aliases"))]
                self._ids |= {key_of(name): location_id for name in names if isinstance(name, str)}
                self._names.setdefault(key_of(str(location.get("name"))), location_id)
        self._written = {*self._ids}
        self._ids |= {key_of(name): same for name, same in (recognized or {}).items()}

    def __contains__(self, name: str) -> bool:
        """Return whether a name is an id or alias."""
        return key_of(name) in self._ids

    def find(self, name: str) -> str | None:
        """Return the id of the location with an id, alias or name."""
        return self._ids.get(key_of(name)) or self._names.get(key_of(name))

    def key(self, name: str) -> str:
        """Return what all names of one location have in common; that of an undeclared one is its own."""
        return key_of(self.find(name) or name)

    def name_of(self, location_id: str) -> str:
        """Return the name of a location."""
        names = [place.get("name") for place in self.listed if place.get("id") == location_id]
        return f"{names[0]}"

    def names(self) -> Iterator[str]:
        """Yield the ids, names and aliases."""
        for location in self.listed:
            names = (location.get("id"), location.get("name"), *elements(location.get("aliases")))
            yield from (name for name in names if isinstance(name, str))

    def described(self) -> list[str]:
        """Return ids and names, for a message."""
        return [f"{location.get('id')} ({location.get('name')})" for location in self.listed]

    def with_new(self, titles: Mapping[str, str], listings: Mapping[str, Facts]) -> Listed:
        """Return the declared locations with those of an export.

        Args:
            titles: The titles of the export's locations by their names there; empty where it has none.
            listings: The locations as the export describes them, by the same names.
        """
        listed = [dict(location) for location in self.listed]
        by_id = {location.get("id"): location for location in listed}
        counts = Counter(titles.values())
        cities = {
            name: members(listings.get(name, {}).get("address")).get("city") for name in titles
        }
        alike = Counter((titles[name], cities[name]) for name in titles)
        ids, written = {*self._ids}, {*self._written}
        for name, title in titles.items():
            if not name or key_of(name) in written:
                continue
            written.add(key_of(name))
            facts = {member: listings.get(name, {}).get(member) for member in OF_PLACES}
            if name in self:
                declared = by_id[self.find(name)]
                declared["aliases"] = [*elements(declared.get("aliases")), name]
                declared |= filled(declared, facts)
                continue
            new = _id(title or name, name, ids)
            ids.add(key_of(new))
            aliases = [] if key_of(new) == key_of(name) else [name]
            apart = cities[name] if alike[title, cities[name]] == 1 and cities[name] else name
            told_apart = f"{title} ({apart})" if title and counts[title] > 1 else title or name
            own = {"id": new, "name": told_apart[:MAX_NAME], "aliases": aliases}
            listed.append(own | filled({}, facts))
        return listed


def business_in(document: Document | None) -> Facts:
    """Return the business of a reviews.json; empty if it is not there.

    Raises:
        ImportRefusedError: It is no JSON object.
    """
    return {} if document is None else members(document.member("business"))


def _id(title: str, name: str, used_ids: Collection[str]) -> str:
    """Return an id for a location: its title in lower case with hyphens and no accents, else its name, if that may be an id."""
    words = _WORD.findall(without_accents(title.casefold()))
    slug = "-".join(words)[:_MAX_SLUG].rstrip("-")
    if not slug and _ID.fullmatch(name):
        slug = name
    first = slug = slug or "location"
    number = 1
    while key_of(slug) in used_ids:
        number += 1
        slug = f"{first}-{number}"
    return slug
