"""The locations that reviews.json declares, and those that an import adds to them (pages.md 8).

Reviews keep the name that their export has for a location. Where any location is declared the daemon refuses
reviews of others, so a new one is declared with its reviews: as another name of the location that is called so,
else as a location of its own.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Raw

from reviewsctl.files.folders import Folder
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.values import members

MAX_NAME, _MAX_SLUG = 200, 60
"""Characters of a name, and of an id that is made of one."""

_ID: Final = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_-]{0,63}")
_WORD: Final = re.compile("[0-9a-z]+")

Listed = Sequence[Mapping[str, object]]
"""``business.locations``, as it is written."""


def key_of(name: str) -> str:
    """Return the key by which names are compared, as the daemon compares them."""
    return name.strip().casefold()


class Declared:
    """The declared locations by their names."""

    def __init__(self, locations: object = ()) -> None:
        listed = [*map(members, locations)] if isinstance(locations, list) else []
        self.listed: Listed = listed
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for location in listed:
            location_id, aliases = location.get("id"), location.get("aliases")
            if isinstance(location_id, str):
                names = [location_id, *(aliases if isinstance(aliases, list) else ())]
                self._ids |= {key_of(name): location_id for name in names if isinstance(name, str)}
                self._names.setdefault(key_of(str(location.get("name"))), location_id)

    def __contains__(self, name: str) -> bool:
        """Return whether a name is an id or alias."""
        return key_of(name) in self._ids

    def find(self, name: str) -> str | None:
        """Return the id of the location with an id, alias or name."""
        return self._ids.get(key_of(name)) or self._names.get(key_of(name))

    def keys(self, location_id: str) -> set[str]:
        """Return the keys of the ids and aliases of a location."""
        return {key for key, known in self._ids.items() if known == location_id}

    def described(self) -> list[str]:
        """Return ids and names, for a message."""
        return [f"{location.get('id')} ({location.get('name')})" for location in self.listed]

    def with_new(self, titles: Mapping[str, str]) -> Listed:
        """Return the declared locations with those of an export.

        Args:
            titles: The titles of the export's locations by their names there; empty where it has none.
        """
        listed = [dict(location) for location in self.listed]
        by_id = {location.get("id"): location for location in listed}
        ids = {*self._ids}
        for name, title in titles.items():
            if name in self:
                continue
            known = self.find(title) if title else self.find(name)
            if known is not None:
                aliases = by_id[known].get("aliases")
                by_id[known]["aliases"] = [*(aliases if isinstance(aliases, list) else ()), name]
                continue
            new = _id(title or name, name, ids)
            ids.add(key_of(new))
            aliases = [] if key_of(new) == key_of(name) else [name]
            listed.append({"id": new, "name": (title or name)[:MAX_NAME], "aliases": aliases})
        return listed


def declared_in(folder: Folder, name: str, remedy: str) -> Declared:
    """Return the locations that a reviews.json declares; none if it is not there.

    Raises:
        ImportRefusedError: It is no JSON object.
    """
    if folder.look(name) is None:
        return Declared()
    with folder.open(name) as file:
        document = Document(file.read(), name, remedy)
    business = document.members().get("business", Raw(b"null"))
    return Declared(members(document.value(business)).get("locations"))


def _id(title: str, name: str, taken: Collection[str]) -> str:
    """Return an id for a location: its title in lower case with hyphens, else its name, if that may be an id."""
    words = _WORD.findall(title.casefold())
    slug = "-".join(words)[:_MAX_SLUG].rstrip("-")
    if not slug and _ID.fullmatch(name):
        slug = name
    first = slug = slug or "location"
    number = 1
    while key_of(slug) in taken:
        number += 1
        slug = f"{first}-{number}"
    return slug
