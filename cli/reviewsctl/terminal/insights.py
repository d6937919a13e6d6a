"""The lines that ``reviewsctl insights`` prints (insights.md 8).

The caller passes them through ``printable``.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from reviewsd.api.jobs import InsightsOrigin
from reviewsd.api.texts import counted, printable

if TYPE_CHECKING:
    from reviewsd.analysis.comparing import Figures
    from reviewsd.analysis.explaining import ClauseExplanation, Explanation
    from reviewsd.domain.insights import Entity
    from reviewsd.offline.insights import Compared, ServedInsights

_RULES: Final = "lexicon-"  # begins the version of the rules
_BAR: Final = 20  # characters of a bar for 100 % positive
_SHOWN: Final = 10  # entries of each list
_PRIVATE: Final = "(only you see them; `publish: [problems]` in insights.yaml publishes them)"
_COMPARED: Final = 20  # of each list of a comparison


def origin_line(origin: InsightsOrigin) -> str:
    """Return the origin of insights."""
    if origin.fault is not None:
        return printable(f"none, they could not be made: {origin.fault}")
    models = [name for name in (origin.model or "").split(", ") if not name.startswith(_RULES)]
    model = f" by {printable(', '.join(models))}" if any(models) else ""
    if origin.made:
        return f"made from {counted(origin.reviews, 'review')}{model or ' by rules'}"
    of = "" if origin.generated_at is None else f" of {printable(origin.generated_at[:10])}"
    return f"insights.json{of}{model}"


def overview(served: "ServedInsights") -> Iterator[str]:
    """Yield the lines of a table of insights."""
    from reviewsd.domain.insights import named  # loaded with the insights themselves

    insights, origin = served.typed(), served.origin
    aspects = {aspect.id: aspect.label for aspect in map(named, insights.aspects)}
    yield f"{'data':<15}{served.data_dir}"
    yield f"{'insights':<15}{'none' if origin is None else origin_line(origin)}"
    if insights.summary is not None:
        yield f"{'summary':<15}{insights.summary}"
    if insights.temporal.trend:
        yield f"{'trend':<15}{insights.temporal.trend}"
    for heading, entities, has_share in (
        ("aspects", insights.aspects, True),
        ("people", insights.entities.technicians, True),
        ("services", insights.entities.services, True),
        ("problems", insights.entities.problems, False),
    ):
        if entities:
            yield ""
            yield f"{heading} {_PRIVATE}" if heading in served.unpublished else heading
            for entity in entities[:_SHOWN]:
                if isinstance(entity, str):
                    yield f"  {entity}"
                    continue
                is_aspect = heading == "aspects"
                reason = served.missing_share(entity, is_aspect=is_aspect) if has_share else ""
                praised = ", ".join(filter(None, map(aspects.get, entity.praised_for or ())))
                yield _row(entity, reason) + (f"; praised for: {praised}" if praised else "")
            if (more := len(entities) - _SHOWN) > 0:
                yield f"  and {more:,} more"


def _row(entity: "Entity", missing_share: str) -> str:
    """Return the row of an aspect, a person, a service or a problem.

    Args:
        entity: What is mentioned.
        missing_share: Why it has no share of praise, if it has none; empty for problems.
    """
    name = entity.label or entity.name or entity.id or ""
    count, share = entity.mention_count, entity.positive_pct
    row = f"  {name[:28]:<28}  {f'{count:,}' if isinstance(count, int) else '':>7}"
    if not missing_share or not count:
        return row.rstrip()
    if not isinstance(share, float):
        return f"{row}  {missing_share}"
    filled = round(_BAR * share / 100)
    return f"{row}  {'█' * filled}{'░' * (_BAR - filled)}  {share:3.0f}% positive"


def explanation_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines of a review, clause by clause."""
    is_read = explanation.is_read or not explanation.clauses
    note = "" if is_read else f", in a language ({explanation.language}) without rules"
    yield f"{explanation.id}, {counted(explanation.rating, 'star')}{note}"
    if not explanation.clauses:
        yield "it has no text: only its stars count"
    labels = explanation.labels
    aspects = explanation.names.get("aspects", {})
    if labels.model:
        yield f"{labels.model} read it, whose labels count:"
        for label in labels.aspects:
            name = aspects.get(label.id, label.id)
            yield f'  {name}: {label.sentiment}, by "{label.phrase}"'
        yield "the rules alone:"
    for clause in explanation.clauses:
        yield ""
        yield from _clause_lines(clause, aspects)
    mentions = list(_mentions(explanation))
    if mentions:
        yield ""
        yield "also mentioned:"
        yield from mentions


def _clause_lines(clause: "ClauseExplanation", aspects: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a clause, with the names of aspects by id."""
    yield f'"{clause.text}"'
    for aspect in clause.aspects:
        matches = ", ".join(f'"{word}"' for word in aspect.matched)
        sentiment = aspect.sentiment or "not counted"
        reason = f"; {aspect.reason}" if aspect.sentiment else ""
        name = aspects.get(aspect.aspect, aspect.aspect)
        yield f"  {name}: {sentiment}, found by {matches}{reason}"
    if not clause.aspects:
        yield "  no aspect is named, so nothing is counted"
    if clause.exclusion_reason is not None:
        yield f"  left out, as it {clause.exclusion_reason}"
    if clause.words:
        words = ", ".join(f"{word} {valence:+.1f}" for word, valence in clause.words)
        verdict = _verdict(clause.score)
        yield f"  opinion words: {words}; all together {clause.score:+.2f} ({verdict})"
    if clause.contrasted:
        yield "  a word such as but is in the sentence: less is needed to overrule the stars"


def _mentions(explanation: "Explanation") -> Iterator[str]:
    """Yield the people, services, problems and places that a review mentions."""
    for kind in ("technicians", "services", "problems", "service_areas"):
        names = explanation.names.get(kind, {})
        for label in getattr(explanation.labels, kind):
            sentiment = "" if label.sentiment is None else f": {label.sentiment}"
            where = "" if label.phrase is None else f', in "{label.phrase}"'
            yield f"  {names.get(label.id, label.id)}{sentiment}{where}"


def _verdict(score: float) -> str:
    return "praise" if score > 0 else "criticism" if score < 0 else "neither praise nor criticism"


_KINDS: Final = {
    "aspects": "aspects",
    "people": "technicians",
    "services": "services",
    "problems": "problems",
    "places": "service_areas",
}


def comparison_lines(result: "Compared") -> Iterator[str]:
    """Yield the lines of ``insights compare``."""
    both = result.comparison
    side, source = ("model", "by the model") if result.file.made else ("file", "in the file")
    yield f"the reviews that mention each, and the share that is positive: {source}, and by the rules"
    yield "(too few mentions have no share; reviewsctl insights says how many are needed)"
    yield f"{'data':<15}{result.data_dir}"
    yield f"{side:<15}{origin_line(result.file)}"
    yield f"{'rules':<15}{origin_line(result.rules)}"
    of_file, of_rules = (trend or "none" for trend in both.trend)
    yield f"{'trend':<15}{of_file}; by the rules {of_rules}"
    for heading, kind in _KINDS.items():
        rows = getattr(both, kind)
        if rows:
            yield ""
            yield f"{heading:<36}{side:>7}{'rules':>16}"
        for row in rows[:_COMPARED]:
            share = heading != "problems"  # problems have no share, they are all complaints
            sides = f"{_figures(row.file, share=share)}   {_figures(row.rules, share=share)}"
            yield f"  {row.label[:32]:<32}{sides}".rstrip()
        if (more := len(rows) - _COMPARED) > 0:
            yield f"  and {more:,} more"
    yield ""
    heading = f"mentions in {counted(both.reviews, 'review')}"
    yield f"{heading:<36}{side:>7}{'rules':>8}{'both':>8}"
    for heading, kind in _KINDS.items():
        mentions = both.mentions[kind]
        if mentions.file or mentions.rules:
            agreed = mentions.same_sentiment
            how = "" if agreed is None else f", {agreed:,} of them with the same sentiment"
            numbers = f"{mentions.file:>7,}{mentions.rules:>8,}{mentions.both:>8,}"
            yield f"  {heading:<34}{numbers}{how}"


def _figures(side: "Figures | None", *, share: bool) -> str:
    """Return count and share in 13 columns."""
    if side is None:
        return f"{'-':>7}{'':6}"
    count = "?" if side.mention_count is None else f"{side.mention_count:,}"
    positive = side.positive_pct if share else None
    return f"{count:>7}{'' if positive is None else f'{positive:.0f}%':>6}"
