"""The locations of a business, and which of them a review is about (pages.md 8).

An export names a location in a way of its own. ``aliases`` of a location has these names, so reviews of
several platforms count to one location and stay as they were imported.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import msgspec
from msgspec import UNSET, UnsetType

from reviewsd.api.spelling import nearest
from reviewsd.domain.data_errors import show
from reviewsd.domain.naming import mention_key
from reviewsd.domain.reviews import Business, Location

MAX_LOCATIONS = 1_000
"""Locations of a business; each has a page."""

_PATH = "$.business.locations"


def several(business: Business) -> tuple[Location, ...]:
    """Return the declared locations; none of fewer than two, since one has the pages of the business."""
    declared = business.locations or ()
    return declared if len(declared) > 1 else ()


@dataclass(frozen=True, slots=True)
class Locations:
    """The declared locations by their names; keys are casefolded (``naming.mention_key``)."""

    by_id: Mapping[str, Location] = field(default_factory=dict)
    """The locations by the keys of their ids and aliases."""
    by_name: Mapping[str, tuple[Location, ...]] = field(default_factory=dict)
    """The locations by the keys of their names."""

    @classmethod
    def of(cls, business: Business) -> Self:
        """Return the locations of a business."""
        by_id: dict[str, Location] = {}
        by_name: dict[str, tuple[Location, ...]] = {}
        for location in business.locations or ():
            by_id |= dict.fromkeys(map(mention_key, (location.id, *location.aliases)), location)
            name = mention_key(location.name)
            by_name[name] = (*by_name.get(name, ()), location)
        return cls(by_id, by_name)

    @classmethod
    def several(cls, business: Business) -> Self:
        """Return the locations of a business that has more than one; else none."""
        return cls.of(business) if several(business) else cls()

    def declared(self) -> list[Location]:
        """Return the locations, in the order of the file."""
        return [*{location.id: location for location in self.by_id.values()}.values()]

    def ids(self) -> list[str]:
        """Return the ids, in the order of the file."""
        return [location.id for location in self.declared()]

    def key_of(self, name: str) -> str:
        """Return the key of the id of the location that a review names."""
        key = mention_key(name)
        location = self.by_id.get(key)
        return key if location is None else mention_key(location.id)

    def find(self, name: str | UnsetType | None) -> Location | None:
        """Return the location with an id or an alias, as a review names it."""
        return self.by_id.get(mention_key(name)) if name else None

    def search(self, name: str) -> tuple[Location, ...]:
        """Return the locations that a filter finds: by id or alias, else by name."""
        location = self.find(name)
        return self.by_name.get(mention_key(name), ()) if location is None else (location,)

    def explain(self, name: str) -> str:
        """Return why the location of a review is refused."""
        hint = nearest(name, self.ids())
        remedy = hint or "; add it to the aliases of its location, or import again"
        return f"expected an id or alias of business.locations, got {show(name)}{remedy}"


def faults(business: Business) -> Iterator[tuple[str, str]]:
    """Yield the faults of the locations, as (JSON path, reason): each id and alias is that of one location."""
    declared = business.locations or ()
    if len(declared) > MAX_LOCATIONS:
        yield _PATH, f"expected at most {MAX_LOCATIONS:,} items, got {len(declared):,}"
    first: dict[str, str] = {}
    for index, location in enumerate(declared):
        path = f"{_PATH}[{index}]"
        paths = [f"{path}.id", *(f"{path}.aliases[{at}]" for at in range(len(location.aliases)))]
        for where, name in zip(paths, (location.id, *location.aliases), strict=True):
            earlier = first.setdefault(mention_key(name), where)
            if not earlier.startswith(f"{path}."):  # its own name again means the same
                yield where, f"duplicate of {earlier}"


def as_business(business: Business, location: Location) -> Business:
    """Return a location as a business, for its page: the address and hours are its own alone."""
    name = location.name
    if business.name.casefold() not in name.casefold():
        name = f"{business.name}, {name}"
    return msgspec.structs.replace(
        business,
        name=name,
        description=location.description,
        url=location.url or business.url,
        phone=location.phone or business.phone,
        email=location.email or business.email,
        address=location.address,
        geo=location.geo,
        hours=location.hours,
        review_urls=location.review_urls or business.review_urls,
        service_areas=(),
        social_urls=(),
        locations=UNSET,
    )
