"""The aspects, problems and clause markers of ``data/aspects.txt`` (insights.md 4, rules 3 and 7).

The file has sections in brackets. ``[classes]`` and ``[macros]`` name groups of words and phrases;
``[aspect ID LABEL]`` and ``[problem ID LABEL]`` declare; other lines are lists of patterns with what
they stand for before the colon:

- ``=`` names the aspect, ``?`` does so only where an opinion stands in the same clause;
- ``+`` praises, ``-`` complains, ``+?`` and ``-?`` do so weakly;
- ``-ID`` complains, and is a mention of the problem with that id.

Patterns of ``[none]`` hide whatever else is found within them; those of ``[others]`` and
``[conditional]`` mark a clause that is not about what this business did, those of ``[wished]`` one
that names what was missed.
"""

import functools
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from reviewsd.analysis.wordlists import data_lines

STRONG: Final = 0.5
WEAK: Final = 0.25


class ClauseMark(Enum):
    """What a pattern says about its clause rather than about an aspect."""

    HIDES = "none"
    OTHERS = "others"
    CONDITIONAL = "conditional"
    WISHED = "wished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What a pattern says about an aspect."""

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
    """The parsed file, read once."""
    found = Knowledge()
    macros: dict[str, str] = {}
    section, _, rest = "", "", ""
    for line in data_lines("aspects.txt"):
        if line.startswith("["):
            section, _, rest = line.strip("[]").partition(" ")
            name, _, label = rest.partition(" ")
            if section == "aspect":
                found.aspects[name] = label
            elif section == "problem":
                found.problems[name] = label
        elif section == "classes":
            key, _, words = line.partition(":")
            found.classes[key] = tuple(dict.fromkeys(words.split()))
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
            found.patterns.extend((each.strip(), sense) for each in patterns.split(","))
    return found


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
