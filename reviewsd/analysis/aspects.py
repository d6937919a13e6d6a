"""Parses the aspects, problems and clause marks of ``data/aspects.txt`` (insights.md 4, rules 3 and 7).

The file has sections in brackets. ``[classes]`` and ``[macros]`` name groups of words and phrases;
``[aspect ID LABEL]`` and ``[problem ID LABEL]`` are declarations. Other lines are lists of patterns,
with their meaning before the colon:

- ``=`` names the aspect, ``?`` names it only with an opinion in the same clause;
- ``+`` is praise, ``-`` a complaint, ``+?`` and ``-?`` are weak forms;
- ``-ID`` is a complaint and a mention of the problem with that id.

A pattern of ``[none]`` hides all matches inside it. ``[others]`` and ``[conditional]`` mark a clause
that is not about the work of this business, ``[wished]`` one about something that was missing.
"""

import functools
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from reviewsd.analysis.wordlists import data_lines

STRONG: Final = 0.5
WEAK: Final = 0.25


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The parsed file."""

    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    aspects: dict[str, str] = field(default_factory=dict)
    """Labels by id, in the order of the file."""
    problems: dict[str, str] = field(default_factory=dict)
    patterns: list[tuple[str, Sense | ClauseMark]] = field(default_factory=list)


@functools.cache
def knowledge() -> Knowledge:
    """Return the parsed file."""
    result = Knowledge()
    macros: dict[str, str] = {}
    section, _, rest = "", "", ""
    for line in data_lines("aspects.txt"):
        if line.startswith("["):
            section, _, rest = line.strip("[]").partition(" ")
            name, _, label = rest.partition(" ")
            if section == "aspect":
                result.aspects[name] = label
            elif section == "problem":
                result.problems[name] = label
        elif section == "classes":
            key, _, words = line.partition(":")
            result.classes[key] = tuple(dict.fromkeys(words.split()))
        elif section == "macros":
            key, _, words = line.partition(":")
            macros[f"<{key}>"] = f"({words.strip()})"
        else:
            kind, colon, patterns = line.partition(": ")
            sense: Sense | ClauseMark
            if section == "aspect":
                sense = _sense(rest.partition(" ")[0], kind)
            else:
                sense = ClauseMark(section)
                patterns = patterns if colon and kind == "+" else line
            for macro, words in macros.items():
                patterns = patterns.replace(macro, words)
            result.patterns.extend((pattern.strip(), sense) for pattern in patterns.split(","))
    return result


def _sense(aspect: str, kind: str) -> Sense:
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
        case _:
            return Sense(aspect=aspect, strength=-STRONG, problem=kind.removeprefix("-"))
