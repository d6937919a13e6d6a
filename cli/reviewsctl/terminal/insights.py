"""What ``reviewsctl insights`` prints, as lines (insights.md 8).

Texts of others pass ``printable`` where lines are printed.
"""

from collections.abc import Iterator
from typing import Final

from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.words import counted
from reviewsd.api.insights import (
    Compared,
    Explanation,
    Figures,
    ListedEntity,
    Overview,
    ServedInsights,
)
from reviewsd.api.jobs import InsightsOrigin

_BAR: Final = 20  # characters of all mentions being positive
_SHOWN: Final = 10  # entries of each list
_PRIVATE: Final = "(only you see them; `publish: [problems]` in insights.yaml publishes them)"
_COMPARED: Final = 20  # of each list of a comparison


def origin_line(origin: InsightsOrigin) -> str:
    """Where insights are from."""
    if origin.fault is not None:
        return printable(f"none, they could not be made: {origin.fault}")
    model = "" if origin.model is None else f" ({printable(origin.model)})"
    if origin.made:
        return f"made from {counted(origin.reviews, 'review')}{model}"
    of = "" if origin.generated_at is None else f" of {printable(origin.generated_at[:10])}"
    return f"insights.json{of}{model}"


def overview(found: ServedInsights[Overview]) -> Iterator[str]:
    """The table of what the insights say."""
    insights, origin = found.insights, found.origin
    yield f"{'data':<15}{found.data_dir}"
    yield f"{'insights':<15}{'none' if origin is None else origin_line(origin)}"
    if insights.summary is not None:
        yield f"{'summary':<15}{insights.summary}"
    if insights.temporal.trend is not None:
        yield f"{'trend':<15}{insights.temporal.trend}"
    for heading, entities, barred in (
        ("aspects", insights.aspects, True),
        ("people", insights.entities.technicians, True),
        ("services", insights.entities.services, True),
        ("problems", insights.entities.problems, False),
    ):
        if entities:
            yield ""
            yield f"{heading} {_PRIVATE}" if heading in found.unpublished else heading
            for each in entities[:_SHOWN]:
                yield f"  {each}" if isinstance(each, str) else _row(each, barred=barred)
            if (more := len(entities) - _SHOWN) > 0:
                yield f"  and {more:,} more"


def _row(entity: ListedEntity, *, barred: bool) -> str:
    count, share = entity.mention_count, entity.positive_pct
    row = f"  {entity.called[:28]:<28}  {'' if count is None else f'{count:,}':>7}"
    if not barred or share is None or not count:
        return row.rstrip()
    filled = round(_BAR * share / 100)
    return f"{row}  {'█' * filled}{'░' * (_BAR - filled)}  {share:3.0f} % positive"


def explained(found: Explanation) -> Iterator[str]:
    """A review clause by clause."""
    yield f"{found.id}, {counted(found.rating, 'star')}" + (
        "" if found.english or not found.clauses else ", not English: taken by its stars alone"
    )
    for clause in found.clauses:
        yield ""
        yield clause.text
        if clause.words:
            words = ", ".join(f"{word} {valence:+.1f}" for word, valence in clause.words)
            yield f"  words    {words}; together {clause.score:+.2f}"
        if clause.contrasted:
            yield "  contrast its sentence has a contrast word"
        if clause.set_aside is not None:
            yield f"  left out it {clause.set_aside}"
        for aspect in clause.aspects:
            matched = ", ".join(f'"{each}"' for each in aspect.matched)
            decided = aspect.sentiment or "not counted"
            yield f"  {aspect.aspect}: {decided}, by {matched}; {aspect.why}"


_KINDS: Final = {
    "aspects": "aspects",
    "people": "technicians",
    "services": "services",
    "problems": "problems",
    "places": "service_areas",
}


def compared(found: Compared) -> Iterator[str]:
    """Yield the lines of ``insights compare``."""
    both = found.comparison
    yield f"{'data':<15}{found.data_dir}"
    yield f"{'file':<15}{origin_line(found.file)}"
    yield f"{'rules':<15}{origin_line(found.rules)}"
    given, made = (each or "none" for each in both.trend)
    yield f"{'trend':<15}{given}; by the rules {made}"
    for heading, kind in _KINDS.items():
        rows = getattr(both, kind)
        if rows:
            yield ""
            yield f"{heading:<36}{'file':>7}{'rules':>16}"
        for row in rows[:_COMPARED]:
            share = heading != "problems"  # those are always complaints
            sides = f"{_figures(row.file, share=share)}   {_figures(row.rules, share=share)}"
            yield f"  {row.label[:32]:<32}{sides}".rstrip()
        if (more := len(rows) - _COMPARED) > 0:
            yield f"  and {more:,} more"
    yield ""
    yield f"{f'mentions in {both.reviews:,} reviews':<36}{'file':>7}{'rules':>8}{'both':>8}"
    for heading, kind in _KINDS.items():
        counted = both.mentions[kind]
        if counted.file or counted.rules:
            agreed = counted.same_sentiment
            how = "" if agreed is None else f", {agreed:,} with the same sentiment"
            numbers = f"{counted.file:>7,}{counted.rules:>8,}{counted.both:>8,}"
            yield f"  {heading:<34}{numbers}{how}"


def _figures(side: Figures | None, *, share: bool) -> str:
    """13 columns."""
    if side is None:
        return f"{'-':>7}{'':6}"
    count = "?" if side.mention_count is None else f"{side.mention_count:,}"
    positive = side.positive_pct if share else None
    return f"{count:>7}{'' if positive is None else f'{positive:.0f} %':>6}"
