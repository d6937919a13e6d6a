"""Look-up keys for the names of insight entities (contract 3, data-model.md 3).

A name is looked up by equality without case: first ids, names and labels, then aliases. Otherwise it
is looked up by its slug, without accents and punctuation, and for people and services by the first
word of a longer name. An id, name or label that several entities have refers to all of them; an alias,
slug or first word that several have is ambiguous.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from reviewsd.domain.insights import Entity, slug

MAX_CANDIDATES = 10
"""Candidates that are listed for an ambiguous name."""

_MAX_SHOWN = 60  # characters of a candidate

_MAX_NAME = 200  # characters; a longer name is only looked up by equality


class Ambiguous(Struct, frozen=True):
    """The result of an ambiguous look-up."""

    candidates: tuple[str, ...]
    """At most ``MAX_CANDIDATES`` labels."""


Means = tuple[int, ...] | Ambiguous
"""The result of a look-up; numbers are indexes of entities."""


class Names(Struct, frozen=True):
    """The names of a list of entities."""

    exact: dict[str, Means]
    """Keys are casefolded ids, names, labels and aliases."""
    loose: dict[str, Means]
    """Keys are slugs; used for names that are not in ``exact``."""


def mention_key(name: str) -> str:
    """Return the key of a name in ``Names.exact``."""
    return name.strip().casefold()


def loose_key(name: str) -> str | None:
    """Return the key of a name in ``Names.loose``, or None if the name is too long."""
    return slug(name) if len(name) <= _MAX_NAME else None


def names_of(entities: Sequence[Entity], *, first_words: bool) -> Names:
    """Return the look-up tables of a list of entities.

    Args:
        entities: Entities with id, name and label (``named``).
        first_words: Whether the first word of a name is a key.
    """
    numbers: dict[str, list[int]] = {}
    aliases: _Labels = {}
    slugs: _Labels = {}
    first_word_slugs: _Labels = {}
    for number, entity in enumerate(entities):
        names = [name for name in (entity.id, entity.name, entity.label) if name]
        for key in set(map(mention_key, names)):
            numbers.setdefault(key, []).append(number)
        label = entity.label or ""
        _add(aliases, map(mention_key, entity.aliases), label)
        _add(slugs, map(loose_key, (*names, *entity.aliases)), label)
        if first_words:
            words = (name.split() for name in names)
            first = (loose_key(parts[0]) for parts in words if len(parts) > 1)
            _add(first_word_slugs, first, label)
    exact: dict[str, Means] = {key: tuple(indexes) for key, indexes in numbers.items()}
    loose = _resolve(first_word_slugs, exact) | _resolve(slugs, exact)
    return Names(_resolve(aliases, exact) | exact, loose)


_Labels = dict[str, dict[str, str]]
"""Maps a look-up key to the labels of its entities, by the mention key of the label."""


def _add(labels: _Labels, keys: Iterable[str | None], label: str) -> None:
    for key in keys:
        if key is not None:
            labels.setdefault(key, {})[mention_key(label)] = label


def _resolve(labels: _Labels, exact: Mapping[str, Means]) -> dict[str, Means]:
    """Return the entities of each key; a key with several labels is ambiguous."""
    results: dict[str, Means] = {}
    for key, by_label in labels.items():
        if len(by_label) == 1:
            results[key] = exact[next(iter(by_label))]
        else:
            candidates = islice(by_label.values(), MAX_CANDIDATES)
            results[key] = Ambiguous(tuple(map(_shorten, candidates)))
    return results


def _shorten(label: str) -> str:
    return label if len(label) <= _MAX_SHOWN else f"{label[:_MAX_SHOWN]}…"
