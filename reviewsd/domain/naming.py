"""By which names the entities of the insights are found (contract 3, data-model.md 3).

First by equality, upper and lower case alike: with id, name or label, else with an alias. Where
nothing equals, by the slug of one of these, which has neither accents nor punctuation; of people and
services also by the first word of a name that has more than one. A name may equal several entities
and then means all of them; an alias, a slug or a first word that several have is ambiguous.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from reviewsd.domain.insights import Entity, slug

MAX_CANDIDATES = 10
"""Entities that are told of an ambiguous name."""

_MAX_SHOWN = 60  # characters of each of them

_MAX_NAME = 200  # characters; from here on only equality counts


class Ambiguous(Struct, frozen=True):
    """A name that fits several entities."""

    candidates: tuple[str, ...]
    """Labels, of at most ``MAX_CANDIDATES``."""


Means = tuple[int, ...] | Ambiguous
"""The numbers of the entities that a name means."""


class Names(Struct, frozen=True):
    """The names of a list of entities."""

    exact: dict[str, Means]
    """By casefolded id, name, label or alias."""
    loose: dict[str, Means]
    """By slug, for names that are not among ``exact``."""


def mention_key(name: str) -> str:
    """The key under which a name is looked up first."""
    return name.strip().casefold()


def loose_key(name: str) -> str | None:
    """The key under which it is looked up next; None where it is too long for a name."""
    return slug(name) if len(name) <= _MAX_NAME else None


def names_of(entities: Sequence[Entity], *, first_words: bool) -> Names:
    """Everything by which entities are found.

    Args:
        entities: Those of one list, with id, name and label (``named``).
        first_words: Whether the first word of a name will do.
    """
    numbers: dict[str, list[int]] = {}
    aliases: _Labels = {}
    whole: _Labels = {}
    first: _Labels = {}
    for number, entity in enumerate(entities):
        given = [name for name in (entity.id, entity.name, entity.label) if name]
        for key in set(map(mention_key, given)):
            numbers.setdefault(key, []).append(number)
        label = entity.label or ""
        _add(aliases, map(mention_key, entity.aliases), label)
        _add(whole, map(loose_key, (*given, *entity.aliases)), label)
        if first_words:
            words = (name.split() for name in given)
            _add(first, (loose_key(each[0]) for each in words if len(each) > 1), label)
    exact: dict[str, Means] = {key: tuple(found) for key, found in numbers.items()}
    return Names(_meant(aliases, exact) | exact, _meant(first, exact) | _meant(whole, exact))


_Labels = dict[str, dict[str, str]]
"""By key: the labels of the entities that have it, by their own keys."""


def _add(labels: _Labels, keys: Iterable[str | None], label: str) -> None:
    for key in keys:
        if key is not None:
            labels.setdefault(key, {})[mention_key(label)] = label


def _meant(labels: _Labels, exact: Mapping[str, Means]) -> dict[str, Means]:
    """What each key means: who has its only label, or else nobody knows who of several."""
    meant: dict[str, Means] = {}
    for key, found in labels.items():
        if len(found) == 1:
            meant[key] = exact[next(iter(found))]
        else:
            candidates = [
                each for _, each in zip(range(MAX_CANDIDATES), found.values(), strict=False)
            ]
            meant[key] = Ambiguous(tuple(map(_short, candidates)))
    return meant


def _short(label: str) -> str:
    return label if len(label) <= _MAX_SHOWN else f"{label[:_MAX_SHOWN]}…"
