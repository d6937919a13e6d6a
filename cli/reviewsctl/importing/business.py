"""The business in reviews.json, and what an export says of it (data-model.md 1.1).

What is empty there is filled, nothing is replaced. Before reviews are merged, names and locations are
compared: the export of another business is a question.
"""

import itertools
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final

from reviewsctl.importing.examples import NO_NAME
from reviewsctl.importing.format import Fields
from reviewsctl.importing.values import address, first, members, word

Facts = Mapping[str, object]
"""Members of the business, as reviews.json spells them."""

_DAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_HANDLE: Final = 4  # letters of a name that is one word
_FORMS: Final = frozenset(
    (
        *("inc", "llc", "ltd", "limited", "co", "corp", "corporation", "company", "plc", "llp"),
        *("gmbh", "ag", "kg", "ohg", "ug", "sarl", "sas", "sa", "sl", "srl", "bv", "ab", "the"),
    )
)
"""Words that a name has or has not."""


_CONJUNCTIONS: Final = frozenset(("and", "und", "et", "y", "e", "en", "og", "och"))


def empty(name: str, value: object) -> bool:
    """Whether a member of the business says nothing yet."""
    return value in (None, "", [], {}) or (name == "name" and value == NO_NAME)


def filled(there: Facts, facts: Facts) -> dict[str, object]:
    """What an export says that the business does not."""
    return {
        name: value
        for name, value in facts.items()
        if not empty(name, value) and empty(name, there.get(name))
    }


class Likeness(Enum):
    """What two names say of the businesses that have them."""

    SAME = 1
    RELATED = 2
    """One has more to it than the other: another location, or the same one by its longer name."""
    OTHER = 3


def likeness(one: str, other: str) -> Likeness:
    """Compare two names, without their legal forms.

    Handles of social networks are written together: ``harborlaw`` is Harbor Law Group.
    """
    if _is_extended(*sorted((_parts(one), _parts(other)), key=len)):
        return Likeness.SAME
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    begins, whole = "".join(shorter), "".join(longer)
    if sorted(shorter) == sorted(longer) or begins == whole or not shorter:
        return Likeness.SAME
    ends = set(itertools.accumulate(map(len, longer))) - {len(longer[0])}
    if whole.startswith(begins):
        is_handle = len(shorter) == 1 and len(begins) >= _HANDLE and len(begins) in ends
        return Likeness.SAME if is_handle else Likeness.RELATED
    return Likeness.RELATED if set(shorter) <= set(longer) else Likeness.OTHER


def _is_extended(shorter: list[str], longer: list[str]) -> bool:
    """Return whether one name is the other and a word more, as in "& Sons": that is no location."""
    end = len(shorter)
    return longer[:end] == shorter and longer[end : end + 1] == ["&"] and len(longer) == end + 2


def _words(name: str) -> list[str]:
    words = [word for word in _parts(name) if word != "&"]
    return [word for word in words if word not in _FORMS] or words


def _parts(name: str) -> list[str]:
    """Return the words of a name without case and accents, and "&" for each "and"."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(
        letter if letter.isalnum() else " & " if letter in "&+" else " "
        for letter in bare
        if not unicodedata.combining(letter)
    )
    return ["&" if word in _CONJUNCTIONS else word for word in letters.split()]


def listing(found: Fields) -> Facts:
    """Of a location as Google Business Profile has it: Takeout's data.json, and its API."""
    category = members(members(found.get("categories")).get("primaryCategory")) or members(
        found.get("primaryCategory")
    )
    phone = members(found.get("phoneNumbers")).get("primaryPhone") or found.get("primaryPhone")
    hours = members(found.get("regularHours")).get("periods")
    place = members(found.get("storefrontAddress")) or members(found.get("address"))
    return {
        "name": word(found.get("title")) or word(found.get("locationName")),
        "category": word(category.get("displayName")),
        "url": address(first(found, "websiteUri", "websiteUrl")),
        "phone": word(phone),
        "address": _postal(place),
        "hours": _hours(hours, "openDay", "openTime", "closeTime"),
    }


def place(found: Fields) -> Facts:
    """Of a place as the Places API (New) has it."""
    point = members(found.get("location"))
    periods = members(found.get("regularOpeningHours")).get("periods")
    return {
        "name": word(members(found.get("displayName")).get("text")),
        "category": word(members(found.get("primaryTypeDisplayName")).get("text")),
        "url": address(found.get("websiteUri")),
        "phone": word(first(found, "internationalPhoneNumber", "nationalPhoneNumber")),
        "address": _postal(members(found.get("postalAddress")))
        or _components(found.get("addressComponents"), "longText", "shortText"),
        "geo": _geo(point.get("latitude"), point.get("longitude")),
        "hours": _days(periods),
    }


def older_place(found: Fields) -> Facts:
    """Of a place as the Places API had it before."""
    point = members(members(found.get("geometry")).get("location"))
    periods = members(found.get("opening_hours")).get("periods")
    return {
        "name": word(found.get("name")),
        "url": address(found.get("website")),
        "phone": word(first(found, "international_phone_number", "formatted_phone_number")),
        "address": _components(found.get("address_components"), "long_name", "short_name"),
        "geo": _geo(point.get("lat"), point.get("lng")),
        "hours": _days(periods),
    }


def _postal(found: Fields) -> Facts:
    """``google.type.PostalAddress``."""
    lines = found.get("addressLines")
    street = ", ".join(each for each in map(word, _list(lines)) if each)
    return _given(
        {
            "street": street,
            "city": word(found.get("locality")),
            "region": word(found.get("administrativeArea")),
            "postal_code": word(found.get("postalCode")),
            "country": word(found.get("regionCode")),
        }
    )


def _components(found: object, long: str, short: str) -> Facts:
    """The parts of an address, each with its types."""
    parts: dict[str, Fields] = {}
    for each in map(members, _list(found)):
        for kind in filter(None, map(word, _list(each.get("types")))):
            parts.setdefault(kind, each)

    def text(kind: str, form: str = long) -> str | None:
        return word(parts.get(kind, {}).get(form))

    street = " ".join(filter(None, (text("street_number"), text("route"))))
    return _given(
        {
            "street": street,
            "city": text("locality") or text("postal_town"),
            "region": text("administrative_area_level_1", short),
            "postal_code": text("postal_code"),
            "country": text("country", short),
        }
    )


def _geo(latitude: object, longitude: object) -> Facts:
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        return {}
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):  # noqa: PLR2004  # degrees
        return {}
    return {"latitude": latitude, "longitude": longitude}


def _days(periods: object) -> Sequence[Facts]:
    """Opening hours of the Places API, whose days are counted from Sunday, 0."""
    spelled = []
    for period in map(members, _list(periods)):
        opens, closes = members(period.get("open")), members(period.get("close"))
        day = opens.get("day")
        if not isinstance(day, int) or not 0 <= day < len(_DAYS):
            return []
        # a period without an end is always open
        end = closes or {"time": "2400", "hour": 24}
        spelled.append({"day": _DAYS[day], "opens": _clock(opens), "closes": _clock(end)})
    return spelled if all(each["opens"] and each["closes"] for each in spelled) else []


def _hours(periods: object, day: str, opens: str, closes: str) -> Sequence[Facts]:
    """Opening hours of Business Profile."""
    spelled = []
    for period in map(members, _list(periods)):
        name = (word(period.get(day)) or "").casefold()
        if name not in _DAYS:
            return []
        spelled.append(
            {"day": name, "opens": _clock(period.get(opens)), "closes": _clock(period.get(closes))}
        )
    return spelled if all(each["opens"] and each["closes"] for each in spelled) else []


def _clock(value: object) -> str | None:
    """``HH:MM``; None for what is no time of a day."""
    if isinstance(value, str):
        hour, minute = (value[:2], value[-2:]) if value[:2].isdigit() else ("", "")
    elif "time" in members(value):
        return _clock(members(value)["time"])
    else:
        found = members(value)
        hour = str(found.get("hours", found.get("hour", 0)))
        minute = str(found.get("minutes", found.get("minute", 0)))
    if not (hour.isdecimal() and minute.isdecimal()):
        return None
    if not ((int(hour) < 24 and int(minute) < 60) or (int(hour), int(minute)) == (24, 0)):  # noqa: PLR2004
        return None
    return f"{int(hour):02}:{int(minute):02}"


def _list(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else ()


def _given(facts: dict[str, object]) -> Facts:
    return {name: value for name, value in facts.items() if value}
