"""What the operator should know of an import beside its counts."""

from collections.abc import Sequence

from reviewsctl.importing.order import Order, Outcome, reviews
from reviewsctl.importing.recognize import Recognised

_MENTIONED = {
    "no-id": "without an id of their own: {count}; theirs is made of source, author, date and text, "
    "so one that is edited will come as a new review",
    "no-source": "nothing says where these reviews were written: {count} have the source "
    '"import" (--source NAME says it, or --map source=COLUMN; an empty cell says nothing)',
    "withheld-reply": "owner replies that are not public at the platform: {count}; they were left out",
    "withheld-name": "authors whose names are not public at the platform: {count}; they are not named",
    "undated-reply": "owner replies without a date: {count}; they got that of the review",
    "future": "dated in the future: {count}; a date with day and month the wrong way round, or a clock "
    "that is wrong (reviewsctl check names them)",
    "recommendation": "recommendations (Facebook): {count}; they are 5 stars, or 1 where it is not "
    "recommended",
    "unrated": "recommendations (Facebook) that were refused, since they have no stars: {count} "
    "(--recommended takes them as 5, or as 1 where it is not recommended)",
    "between": "ratings between two stars that were refused: {count} (--scale 5 rounds them, halves "
    "up)",
    "rounded": "ratings between two stars: {count}; they were rounded, halves up",
    "translated": "texts that Google has translated: {count}; the export does not have the originals",
    "unsaid": "not verified, since the export says of nobody that they are a customer: {count} "
    "(--verified if you know that they are)",
}


def read(order: Order, outcome: Outcome, kinds: Sequence[Recognised], count: int) -> None:
    """Notes what became of the rows.

    Args:
        order: What was asked for.
        outcome: Gets the notes.
        kinds: The exports.
        count: Reviews that were taken of them.
    """
    for reason, skipped in outcome.skipped.items():
        outcome.notes.append(f"{skipped:,} skipped: {reason}")
    if outcome.twice:
        outcome.notes.append(f"{outcome.twice:,} were there more than once")
    if outcome.elsewhere:
        outcome.notes.append(f"{outcome.elsewhere:,} left out: of other locations")
    # of a platform's own export the rule was shown when it was recognised
    tabular = any(each.tabular for each in outcome.formats)
    for name, text in _MENTIONED.items():
        if (found := order.rules.counts[name]) and (tabular or name != "unsaid"):
            outcome.notes.append(text.format(count=f"{found:,}"))
    for kind in kinds:
        around = {
            name: value for source in kind.sources for name, value in source.head.around.items()
        }
        warnings = kind.format.warnings(around, count)
        outcome.notes += [each for each in warnings if each not in outcome.notes]
    outcome.notes += missing(outcome, kinds)


def missing(outcome: Outcome, kinds: Sequence[Recognised]) -> list[str]:
    """Why pages are missing, where the pages that are here say so."""
    says = []
    for incomplete in dict.fromkeys(each.format.incomplete for each in kinds):
        own = [each for each in kinds if each.format.incomplete is incomplete]
        heads = [source.head for each in own for source in each.sources]
        count = sum(outcome.rows[name] for name in {each.format.name for each in own})
        says.append(incomplete(heads, count))
    return list(filter(None, says))


def merged(outcome: Outcome) -> None:
    """Notes what became of the reviews that were there."""
    result = outcome.result
    outcome.business = result.filled
    if result.examples:
        outcome.notes.append(f"{result.examples:,} examples of reviewsctl init left out")
    if result.spared:
        outcome.notes.append(
            f"{reviews(result.spared)} not removed: the export has them, in rows that were refused or "
            "skipped"
        )
    if result.alike:
        outcome.notes.append(
            f"there already, and like one of the export in source, author, date and rating, but with "
            f"another id: {result.alike:,}. If another tool exported them, they are there twice now; "
            "reviewsctl check names them"
        )
    if outcome.business:
        outcome.notes.append(f"what the business got: {', '.join(outcome.business)}")
    if result.different and result.given not in (None, result.total):
        outcome.notes.append(
            f"aggregate_rating in the file is kept: it says {reviews(result.given or 0)}, there are "
            f"{result.total:,} now. Leave it out of the file to have it computed"
        )
