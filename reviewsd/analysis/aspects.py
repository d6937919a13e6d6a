"""Aspects, problems, and what a pattern can say of them (insights.md 4, rules 3 and 7)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

STRONG: Final = 0.5
WEAK: Final = 0.25

ASPECT_LABELS: Final = {
    "punctuality": "Punctuality",
    "pricing": "Pricing",
    "technical_knowledge": "Technical knowledge",
    "communication": "Communication",
    "friendliness": "Friendliness",
    "work_quality": "Quality of work",
    "response_time": "Response time",
    "cleanliness": "Cleanliness",
    "scheduling": "Scheduling",
}
"""Labels of the nine aspects by id."""

PROBLEM_LABELS: Final = {
    "late-arrival": "Late arrival",
    "late-finish": "Late finish",
    "no-show": "No-show",
    "cancelled-appointment": "Cancelled appointment",
    "long-wait": "Long wait",
    "price-above-quote": "Price above the quote",
    "billing-mistake": "Billing mistake",
    "no-callback": "No call back",
    "repeat-visit": "Repeat visit",
    "mess-left-behind": "Mess left behind",
    "property-damage": "Property damage",
    "missing-items": "Missing items",
    "rude-staff": "Rude staff",
    "pressure-to-buy": "Pressure to buy",
    "wrong-diagnosis": "Wrong diagnosis",
}
"""Labels of the problems by id."""


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
    """Return the sense of the patterns of an aspect, from what stands before their colon.

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
    if problem not in PROBLEM_LABELS:
        raise ValueError(f"no kind of patterns: {kind!r}")
    return Sense(aspect=aspect, strength=-STRONG, problem=problem)
