"""What ``reviewsctl insights`` prints, as lines (insights.md 8).

Texts of others pass ``printable`` where lines are printed.
"""

from collections.abc import Iterator
from typing import Final

from reviewsctl.daemon.reports import Entity, Explanation, Insights

_BAR: Final = 20  # characters of all mentions being positive
_SHOWN: Final = 10  # entries of each list


def overview(found: Insights) -> Iterator[str]:
    """The table of what the insights say."""
    told, origin = found.insights, found.origin
    yield f"{'data':<15}{found.data_dir}"
    yield f"{'insights':<15}{'none' if origin is None else origin.line()}"
    if told.summary is not None:
        yield f"{'summary':<15}{told.summary}"
    if told.temporal.trend is not None:
        yield f"{'trend':<15}{told.temporal.trend}"
    for heading, entities, barred in (
        ("aspects", told.aspects, True),
        ("people", told.entities.technicians, True),
        ("services", told.entities.services, True),
        ("problems", told.entities.problems, False),
    ):
        if entities:
            yield ""
            yield heading
            for each in entities[:_SHOWN]:
                yield f"  {each}" if isinstance(each, str) else _row(each, barred=barred)
            if (more := len(entities) - _SHOWN) > 0:
                yield f"  and {more:,} more"


def _row(entity: Entity, *, barred: bool) -> str:
    count, share = entity.mention_count, entity.positive_pct
    row = f"  {entity.called[:28]:<28}  {'' if count is None else f'{count:,}':>7}"
    if not barred or share is None or not count:
        return row.rstrip()
    filled = round(_BAR * share / 100)
    return f"{row}  {'█' * filled}{'░' * (_BAR - filled)}  {share:3.0f} % positive"


def explained(found: Explanation) -> Iterator[str]:
    """A review clause by clause."""
    yield f"{found.id}, {found.rating} stars" + (
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
