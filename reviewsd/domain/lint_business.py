"""Warnings about the members of reviews.json beside the reviews (data-model.md 5, second table)."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from reviewsd.api.spelling import nearest
from reviewsd.domain.data_errors import explain, member, show
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.local_business import local_business_types
from reviewsd.domain.member_names import similar_member
from reviewsd.domain.near_misses import words_of
from reviewsd.domain.reviews import (
    Address,
    AggregateRating,
    Business,
    Distribution,
    LanguageTag,
    Location,
    mean,
)

NO_NAME: Final = "REPLACE ME with the name of your business"
"""The name of the business in the sample of ``reviewsctl init``."""

_TOP: Final = ("business", "aggregate_rating", "updated_at", "removed")
"""The top-level members of reviews.json but ``reviews``, which is required."""


_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_OBJECT_OR_NULL: Final = msgspec.json.Decoder(dict[str, Raw] | None)
_ENTRIES: Final = msgspec.json.Decoder(list[dict[str, Raw]])
_UNNAMED: Final = (
    "still to be replaced by the name of your business; "
    "write it here, or: reviewsctl import EXPORT --set name=NAME"
)

_NO_TYPE: Final = (
    "no type below https://schema.org/LocalBusiness, so search engines are told LocalBusiness"
)
_GENERAL: Final = (
    "; more general ones are AutomotiveBusiness, FinancialService, FoodEstablishment, "
    "HealthAndBeautyBusiness, HomeAndConstructionBusiness, LegalService, LodgingBusiness, "
    "MedicalBusiness, ProfessionalService, SportsActivityLocation, Store"
)
_GENERAL_WORDS: Final = frozenset(
    (
        *("and", "business", "company", "office", "service", "services", "shop", "store"),
        *("agency", "care", "day", "home", "night", "organization", "school"),
        *("house", "park", "public", "self"),
    )
)
_OTHER_NAMES: Final = {
    "BedAndBreakfast": ("guest house", "guesthouse", "boarding house", "b b", "bnb"),
    "VacationRental": ("holiday cottage", "holiday home", "holiday let"),
    "Campground": ("campsite", "caravan park", "holiday park"),
    "BarOrPub": ("public house",),
    "HairSalon": ("hairdresser", "barber", "barber shop"),
    "LegalService": ("law firm", "lawyer", "solicitor"),
    "AccountingService": ("accountant",),
    "AutoRepair": ("garage",),
    "Pharmacy": ("chemist",),
}
"""Types by other names of their trades, of which they have no word; "b b" are the words of B&B."""
_TYPE_OF: Final = {name: type_ for type_, names in _OTHER_NAMES.items() for name in names}
_VERY_CLOSE: Final = 0.8  # decision 556
_MIN_WORD: Final = 3  # letters of a word that names a trade
_MIN_BEGINNING: Final = 5  # letters of a word that is the beginning of a type
_PRIVATE: Final = frozenset(
    (
        *("note", "notes", "private", "internal", "confidential", "todo"),
        *("mail", "email", "phone", "telephone", "mobile", "customer", "order"),
        *("notiz", "notizen", "privat", "intern", "telefon", "kunde"),
    )
)
"""Words in the names of members that are hardly meant for readers."""
_MIDNIGHT: Final = "00:00"
_ALL_DAY: Final = (
    "the same as opens, which is open for 24 hours; "
    "write when it closes, or leave out a day that is closed"
)


def business_warnings(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield warnings about the members beside ``reviews``."""
    yield from misnamed(dataset.members, _TOP, "$")
    business = _MEMBERS.decode(dataset.members["business"])
    yield from misnamed(business, Business.__struct_fields__, "$.business")
    if dataset.business.name == NO_NAME:
        yield "$.business.name", _UNNAMED
    yield from _category(dataset.business.category)
    yield from explain(dataset.business.language, LanguageTag, "$.business.language")
    yield from _place(dataset.business, business, "$.business")
    locations = _ENTRIES.decode(business.get("locations", b"[]"))
    for index, location in enumerate(dataset.business.locations or ()):
        path = f"$.business.locations[{index}]"
        yield from misnamed(locations[index], Location.__struct_fields__, path)
        yield from _place(location, locations[index], path)
    yield from _aggregate(dataset)


def _place(
    place: Business | Location, members: Mapping[str, Raw], path: str
) -> Iterator[tuple[str, str]]:
    """Yield warnings about address, contacts and hours of the business, or of one of its locations."""
    address = _OBJECT_OR_NULL.decode(members.get("address", b"null")) or {}
    yield from misnamed(address, Address.__struct_fields__, f"{path}.address")
    if place.phone and not any(map(str.isdigit, place.phone)):
        yield f"{path}.phone", f"no digit in a phone number, got {show(place.phone)}"
    if place.email and "@" not in place.email:
        yield f"{path}.email", f'no "@" in an e-mail address, got {show(place.email)}'
    for index, opening in enumerate(place.hours):
        if opening.opens == opening.closes != _MIDNIGHT:
            yield f"{path}.hours[{index}].closes", _ALL_DAY


def _category(category: str | None) -> Iterator[tuple[str, str]]:
    types = local_business_types()
    if category and category not in types:
        category_type = _TYPE_OF.get(" ".join(words_of(category)))
        similar = [category_type] if category_type else _with_word(category)
        hint = nearest(category, types, _VERY_CLOSE) or nearest(category, similar, 0)
        yield "$.business.category", f"{_NO_TYPE}, got {show(category)}{hint or _GENERAL}"


def _with_word(category: str) -> list[str]:
    """Return the types that begin with a word of the category, or else those that have one."""
    words = [
        word for word in words_of(category) if len(word) >= _MIN_WORD and word not in _GENERAL_WORDS
    ]
    beginnings = tuple(word for word in words if len(word) >= _MIN_BEGINNING)
    types = {name: words_of(name) for name in local_business_types()}
    return [
        name
        for name, parts in types.items()
        if parts[0] in words or name.casefold().startswith(beginnings)
    ] or [name for name, parts in types.items() if not set(parts).isdisjoint(words)]


def _aggregate(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the figures of the file's aggregate that differ from its reviews."""
    raw = dataset.members.get("aggregate_rating")
    if raw is None:
        return
    aggregate = msgspec.json.decode(raw, type=AggregateRating)
    path = "$.aggregate_rating"
    figures: list[tuple[str, float | None, float | None]] = [
        (f"{path}.rating_value", aggregate.rating_value, mean(dataset.stars)),
        (f"{path}.review_count", aggregate.review_count, len(dataset.records)),
    ]
    distribution = aggregate.distribution or Distribution()
    for stars, field in enumerate(Distribution.__struct_fields__, 1):
        where = member(f"{path}.distribution", str(stars))
        figures.append((where, getattr(distribution, field), dataset.stars.get(stars, 0)))
    for where, figure, expected in figures:
        if figure is not None and figure != expected:
            yield where, f"the reviews give {show(expected)}, got {show(figure)}"


def misnamed(
    members: Mapping[str, Raw], known_names: tuple[str, ...], path: str
) -> Iterator[tuple[str, str]]:
    """Yield the unknown members that are probably known ones under another name, or meant for the owner alone."""
    for name in members:
        if name in known_names:
            continue
        similar = similar_member(name, known_names)
        if similar is not None and similar not in members:
            yield member(path, name), f"unknown member; did you mean {show(similar)}?"
        elif similar is None and not _PRIVATE.isdisjoint(words_of(name)):
            yield member(path, name), "everybody can read it; keep it in another file"
