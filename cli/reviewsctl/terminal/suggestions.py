"""The lines of ``reviewsctl insights suggest``, for insights.yaml (insights.md 8).

Each is commented out, so that pasting them publishes nothing: the owner removes the ``# `` of those
that are right.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reviewsctl.terminal.flow import flow
from reviewsd.api.texts import counted

if TYPE_CHECKING:
    from reviewsd.analysis.settings import ServiceSetting
    from reviewsd.analysis.suggesting import Candidate, Suggestions


def suggestion_lines(suggestions: "Suggestions") -> Iterator[str]:
    """Yield the lines."""
    total = counted(suggestions.total, "review")
    yield f"## Reads English alone: candidates for insights.yaml from {suggestions.reviews:,} of {total}."
    yield '## A line counts once you remove its "# "; lines with "##" are remarks.'
    if not (suggestions.technicians or suggestions.services or suggestions.aspects):
        yield "## There are none. Write names and services of other languages yourself."
    if suggestions.technicians:
        yield ""
        yield "## People named in reviews. Customers also name relatives, pets and rivals."
        yield "# technicians:"
    for candidate in suggestions.technicians:
        yield _remark(candidate)
        yield f"#   - {_mapping(('name', candidate.name), ('aliases', candidate.also))}"
    if suggestions.services:
        yield ""
        yield "# services:"
        yield from _preset(suggestions.preset)
    for candidate in suggestions.services:
        yield _remark(candidate)
        service = _mapping(
            ("id", _id(candidate)), ("label", _label(candidate)), ("words", _words(candidate))
        )
        yield f"#   - {service}"
    if suggestions.aspects:
        yield ""
        yield "## Aspects beyond those of every trade: add words of praise and of complaint."
        yield "# aspects:"
    for candidate in suggestions.aspects:
        yield _remark(candidate)
        yield f"#   {_id(candidate)}: {_mapping(('label', _label(candidate)), ('words', _words(candidate)))}"


def _preset(services: "Sequence[ServiceSetting]") -> Iterator[str]:
    if services:
        yield f"## Your list replaces the {counted(len(services), 'service')} of the category:"
    for service in services:
        members = _mapping(
            ("id", service.id),
            ("label", service.label),
            ("topic", service.topic or ""),
            ("words", service.words),
            ("with", service.with_),
        )
        yield f"#   - {members}"


def _remark(candidate: "Candidate") -> str:
    return f"## {counted(candidate.reviews, 'review')}, such as: {candidate.quotation}"


def _mapping(*members: tuple[str, str | Sequence[str]]) -> str:
    return flow({name: value for name, value in members if value})


def _id(candidate: "Candidate") -> str:
    return "-".join(candidate.name.casefold().split())


def _label(candidate: "Candidate") -> str:
    return candidate.name[:1].upper() + candidate.name[1:]


def _words(candidate: "Candidate") -> tuple[str, ...]:
    return (candidate.name, *candidate.also)
