"""Aspects, problems, and what a pattern can say of them (insights.md 4, rules 3 and 7)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

STRONG: Final = 0.5
WEAK: Final = 0.25

RECOMMENDATION: Final = "recommendation"
"""Whether customers would come again and recommend the business; no sentence says that they praise it."""

ASPECTS: Final = (
    "punctuality",
    "pricing",
    "technical_knowledge",
    "communication",
    "friendliness",
    "work_quality",
    "response_time",
    "cleanliness",
    "scheduling",
    RECOMMENDATION,
)
"""The ids of the aspects that every trade has; words of the pages have their labels."""

NO_PRAISE_OF_PEOPLE: Final = frozenset(("pricing", RECOMMENDATION))
"""Aspects that praise no person: "Grace was there, fair price" (decision 517)."""

PROBLEMS: Final = (
    "late-arrival",
    "late-finish",
    "no-show",
    "cancelled-appointment",
    "long-wait",
    "price-above-quote",
    "billing-mistake",
    "no-callback",
    "repeat-visit",
    "mess-left-behind",
    "property-damage",
    "missing-items",
    "rude-staff",
    "pressure-to-buy",
    "wrong-diagnosis",
)
"""The ids of the problems."""


class ClauseMark(Enum):
    """The meaning of a pattern for its clause."""

    HIDES = "none"
    OTHERS = "others"
    CONDITIONAL = "conditional"
    WISHED = "wished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """The meaning of a pattern for an aspect."""

    aspect: str
    strength: float = 0.0
    """From -1 (complaint) to 1 (praise); 0 names the aspect only."""
    needs_opinion: bool = False
    problem: str | None = None


def sense_of(aspect: str, kind: str) -> Sense:
    """Return the sense of the patterns of an aspect, from the mark before their colon.

    Raises:
        ValueError: It is none of the forms that ``language_data`` lists.
    """
    match kind:
        case "=":
            return Sense(aspect=aspect)
        case "?":
            return Sense(aspect=aspect, needs_opinion=True)
        case "+":
            return Sense(aspect=aspect, strength=STRONG)
        case "+?":
            return Sense(aspect=aspect, strength=WEAK)
        case "-":
            return Sense(aspect=aspect, strength=-STRONG)
        case "-?":
            return Sense(aspect=aspect, strength=-WEAK)
    problem = kind.removeprefix("-")
    if problem not in PROBLEMS:
        raise ValueError(f"no kind of patterns: {kind!r}")
    return Sense(aspect=aspect, strength=-STRONG, problem=problem)
