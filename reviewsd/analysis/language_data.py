"""Parses the data file of a language, ``data/LANGUAGE.txt`` (insights.md 11).

Its sections, in brackets, are the same in every language:

- ``[words]`` are lists of words by name, such as ``negations``; ``features`` are ``accents`` (words are found
  without them) and ``elisions`` (an apostrophe ends a word);
- ``[endings]`` are the forms of words by kind: ``v e: e es ed ing`` gives ``arrive/v`` the forms of
  ``arrive``. The longest ending of a word counts, ``-`` is no ending, and in ``ge~t`` the stem stands
  for ``~``;
- ``[valences]`` are opinion words by their valence, -4 to 4; 0 takes a word out;
- ``[classes]`` and ``[macros]`` name words for ``{NAME}``, and phrases for ``<NAME>``, in patterns; lines of
  one name are one;
- ``[aspect ID]`` are patterns (``analysis/patterns.py``), with their meaning before the colon: ``=``
  names the aspect, ``?`` names it only with an opinion in the same clause; ``+`` is praise, ``-`` a
  complaint, ``+?`` and ``-?`` are weak forms; ``-ID`` is a complaint and a mention of that problem;
- patterns of ``[none]`` hide all matches inside them; ``[others]`` and ``[conditional]`` mark a clause
  that is not about the work of this business, ``[wished]`` one about something that was missing.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reviewsd.analysis.aspects import ASPECTS, ClauseMark, Sense, sense_of
from reviewsd.analysis.wordlists import data_lines, is_data

_NOTHING = "-"  # no ending, for readers
_STEM = "~"


@dataclass(frozen=True, slots=True)
class Endings:
    """The regular forms of words.

    Args:
        lines: The endings of the forms by kind and by the ending of the word.
    """

    lines: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def forms(self, word: str, kind: str) -> tuple[str, ...]:
        """Return the forms of a word.

        Raises:
            ValueError: The kind has no forms for words like this.
        """
        endings = self.lines.get(kind, {})
        for at in range(len(word) + 1):  # the longest ending first
            forms = endings.get(word[at:])
            if forms is not None:
                return tuple(dict.fromkeys(_form(word[:at], form) for form in forms))
        raise ValueError(f"no forms: {word}/{kind}")

    def expand(self, words: str) -> Iterator[str]:
        """Yield the words of a list, ``WORD/KIND`` in all its forms."""
        for item in words.split():
            word, _, kind = item.partition("/")
            yield from self.forms(word, kind) if kind else (word,)


def _form(stem: str, form: str) -> str:
    if form == _NOTHING:
        return stem
    return form.replace(_STEM, stem) if _STEM in form else stem + form


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageData:
    """The content of a file; empty for a language without one."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    endings: Endings = field(default_factory=Endings)
    valences: dict[str, float] = field(default_factory=dict)
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: list[tuple[str, Sense | ClauseMark]] = field(default_factory=list)


@functools.cache
def has_data(language: str) -> bool:
    """Return whether there is a file for a language (ISO 639)."""
    return language.isalpha() and is_data(f"{language}.txt")


def load(language: str) -> LanguageData:
    """Parse the file of a language.

    Raises:
        ValueError: A line is malformed.
    """
    if not has_data(language):
        return LanguageData()
    sections: dict[str, list[tuple[str, str]]] = {}
    lines: list[tuple[str, str]] = []
    for line in data_lines(f"{language}.txt"):
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        else:
            name, colon, rest = line.partition(": ")
            lines.append((name, rest) if colon else ("", line))
    endings = Endings(_endings(sections.get("endings", [])))
    macros = {
        f"<{name}>": f"({'|'.join(phrases)})"
        for name, phrases in _joined(sections.get("macros", [])).items()
    }
    return LanguageData(
        words={name: tuple(endings.expand(rest)) for name, rest in sections["words"]},
        endings=endings,
        valences=_valences(sections["valences"], endings),
        classes={
            name: tuple(dict.fromkeys(endings.expand(" ".join(words))))
            for name, words in _joined(sections.get("classes", [])).items()
        },
        patterns=list(_patterns(sections, macros)),
    )


def _joined(lines: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the texts of each name, in the order of the lines."""
    joined: dict[str, list[str]] = {}
    for name, text in lines:
        joined.setdefault(name, []).append(text.strip())
    return joined


def _endings(lines: list[tuple[str, str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    endings: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, forms in lines:
        kind, _, ending = name.partition(" ")
        endings.setdefault(kind, {})[ending] = tuple(forms.split())
    return endings


def _valences(lines: list[tuple[str, str]], endings: Endings) -> dict[str, float]:
    """Return the opinion words; a line without a valence is the name of a file of them."""
    valences: dict[str, float] = {}
    for number, words in lines:
        if number:
            valences.update(dict.fromkeys(endings.expand(words), float(number)))
            continue
        for line in data_lines(words):
            word, _, valence = line.partition(" ")
            valences[word] = float(valence)
    return {word: valence for word, valence in valences.items() if valence}


def _patterns(
    sections: Mapping[str, list[tuple[str, str]]], macros: Mapping[str, str]
) -> Iterator[tuple[str, Sense | ClauseMark]]:
    for section, lines in sections.items():
        kind, _, aspect = section.partition(" ")
        marks = {mark.value for mark in ClauseMark}
        if kind != "aspect" and section not in marks:
            continue
        if aspect and aspect not in ASPECTS:
            raise ValueError(f"no aspect: {aspect!r}")
        for name, patterns in lines:
            text = patterns
            for macro, phrases in macros.items():
                text = text.replace(macro, phrases)
            sense = sense_of(aspect, name) if aspect else ClauseMark(section)
            yield from ((pattern.strip(), sense) for pattern in text.split(","))
