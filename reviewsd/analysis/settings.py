"""The owner's settings for the analysis (insights.md 3)."""

import hashlib
from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.text import words_of
from reviewsd.domain.data_errors import member
from reviewsd.domain.insights import slug
from reviewsd.domain.reviews import Text


class NamedTechnician(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person whose name may be published, with aliases for look-ups in reviews."""

    name: Text
    aliases: Annotated[tuple[Text, ...], Meta(extra={"example": "[Priya]"})] = ()

    @property
    def id(self) -> str:
        """The slug of the name."""
        return slug(self.name)


class ServiceSetting(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"with_": "with"}
):
    """A service; a mention has one of ``words`` and, unless it is empty, one of ``with``."""

    id: Text
    label: Text
    words: Annotated[tuple[Text, ...], Meta(extra={"example": "[air conditioner, ac unit]"})]
    with_: Annotated[tuple[Text, ...], Meta(extra={"example": "[repair, fix, broke]"})] = ()
    topic: Text | None = None
    """The label of its topic."""


class AspectSetting(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An aspect of the owner or of the trade."""

    label: Text
    words: Annotated[tuple[Text, ...], Meta(extra={"example": "[parking]"})]
    praise: Annotated[tuple[Text, ...], Meta(extra={"example": "[easy parking]"})] = ()
    complaint: Annotated[tuple[Text, ...], Meta(extra={"example": "[nowhere to park]"})] = ()


PROBLEMS: Final = "problems"
"""A kind of results that is only public if the owner publishes it (insights.md 3)."""


class InsightSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of insights.yaml; ``extra["example"]`` is shown where a value has another type."""

    technicians: Annotated[
        tuple[NamedTechnician, ...], Meta(extra={"example": "[{name: Priya Raman}]"})
    ] = ()
    services: Annotated[
        tuple[ServiceSetting, ...] | None,
        Meta(
            extra={
                "example": "[{id: ac-repair, label: AC repair, words: [air conditioner, ac unit]}]"
            }
        ),
    ] = None
    """None uses the preset for ``business.category``."""
    aspects: Annotated[
        dict[Text, AspectSetting],
        Meta(extra={"example": "{parking: {label: Parking, words: [parking]}}"}),
    ] = {}
    language: Text | None = None
    """The language of all reviews; None detects it for each review."""
    publish: Annotated[tuple[Literal["problems"], ...], Meta(extra={"example": "[problems]"})] = ()
    """Additional public results: problems, and the sentence about criticism."""

    def for_owner(self) -> Self:
        """Return the settings with all results published."""
        return replace(self, publish=(PROBLEMS,))

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield faults beyond the types, as (path such as ``technicians[1].name``, reason)."""
        yield from self._name_faults()
        yield from self._service_faults()
        for name, aspect in self.aspects.items():
            path = member("aspects", name)
            if name in ASPECTS:
                yield path, "is an aspect of every trade; choose another name"
            for kind in ("words", "praise", "complaint"):
                yield from _word_faults(getattr(aspect, kind), f"{path}.{kind}")
            if not aspect.words:
                yield f"{path}.words", "must not be empty"

    def digest(self) -> bytes:
        """Return a digest of eight bytes."""
        encoded = msgspec.json.encode(self, order="sorted")
        return hashlib.blake2b(encoded, digest_size=8).digest()

    def _name_faults(self) -> Iterator[tuple[str, str]]:
        places: dict[tuple[str, ...], str] = {}
        people: dict[str, str] = {}
        for index, person in enumerate(self.technicians):
            path = f"technicians[{index}]"
            earlier = people.setdefault(person.id, f"{path}.name")
            if earlier != f"{path}.name":
                yield f"{path}.name", f"duplicate of {earlier}"
                continue
            names = [(f"{path}.name", person.name)]
            names += [(f"{path}.aliases[{i}]", alias) for i, alias in enumerate(person.aliases)]
            for where, name in names:
                words = tuple(words_of(name))
                if not words:
                    yield where, "has no letters"
                elif (place := places.setdefault(words, where)) != where:
                    yield where, f"duplicate of {place}"

    def _service_faults(self) -> Iterator[tuple[str, str]]:
        places: dict[str, str] = {}
        for index, service in enumerate(self.services or ()):
            path = f"services[{index}]"
            place = places.setdefault(service.id.casefold(), f"{path}.id")
            if place != f"{path}.id":
                yield f"{path}.id", f"duplicate of {place}"
            if not service.words:
                yield f"{path}.words", "must not be empty"
            yield from _word_faults(service.words, f"{path}.words")
            yield from _word_faults(service.with_, f"{path}.with")


def _word_faults(texts: tuple[str, ...], path: str) -> Iterator[tuple[str, str]]:
    for index, text in enumerate(texts):
        words = words_of(text)
        if not words:
            yield f"{path}[{index}]", "has no letters"
        elif len(words) == len(words[0]) == 1 < len(text.strip()):  # "C++"
            yield f"{path}[{index}]", f'would match every "{words[0]}", since symbols do not count'
