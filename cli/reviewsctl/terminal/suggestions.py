"""What ``reviewsctl insights suggest`` prints: lines of insights.yaml, each commented out (insights.md 8).

So nothing is published by pasting them: the owner takes away the ``# `` of what is right.
"""

from collections.abc import Iterator, Sequence

from reviewsctl.terminal.flow import flow
from reviewsd.api.insights import Candidate, PresetService, Suggestions


def suggested(found: Suggestions) -> Iterator[str]:
    """The lines."""
    yield f"## Candidates for insights.yaml from {found.reviews:,} reviews. Nothing is published before you take"
    yield '## the "# " of a line away; lines with "##" are remarks.'
    if not (found.technicians or found.services or found.aspects):
        yield "## None are found."
    if found.technicians:
        yield ""
        yield "## People that reviews name. Customers name wives, dogs and rivals too."
        yield "# technicians:"
    for each in found.technicians:
        yield _remark(each)
        yield f"#   - {_mapping(('name', each.name), ('aliases', each.also))}"
    if found.services:
        yield ""
        yield "# services:"
        yield from _preset(found.preset)
    for each in found.services:
        yield _remark(each)
        service = _mapping(("id", _id(each)), ("label", _label(each)), ("words", _words(each)))
        yield f"#   - {service}"
    if found.aspects:
        yield ""
        yield "## Aspects beyond the nine: add what praises and what complains."
        yield "# aspects:"
    for each in found.aspects:
        yield _remark(each)
        yield f"#   {_id(each)}: {_mapping(('label', _label(each)), ('words', _words(each)))}"


def _preset(services: Sequence[PresetService]) -> Iterator[str]:
    if services:
        yield f"## A list stands instead of the {len(services):,} that go with the category, which are:"
    for each in services:
        service = _mapping(
            ("id", each.id),
            ("label", each.label),
            ("topic", each.topic or ""),
            ("words", each.words),
            ("with", each.with_),
        )
        yield f"#   - {service}"


def _remark(each: Candidate) -> str:
    reviews = "1 review" if each.reviews == 1 else f"{each.reviews:,} reviews"
    return f"## {reviews}, such as: {each.quotation}"


def _mapping(*members: tuple[str, str | Sequence[str]]) -> str:
    return flow({name: value for name, value in members if value})


def _id(each: Candidate) -> str:
    return "-".join(each.name.casefold().split())


def _label(each: Candidate) -> str:
    return each.name[:1].upper() + each.name[1:]


def _words(each: Candidate) -> tuple[str, ...]:
    return (each.name, *each.also)
