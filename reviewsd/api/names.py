"""Shortens the names of people: "Jane Doe" becomes "Jane D.", as names are personal data.

The first name is what stays. A surname may stand first, before a comma; two people may share one; and titles,
generations and degrees are no names. A particle with a capital is the begin of a surname, as in Belgium: "Jan De Smet"
is "Jan D.", and "Jan de Vries" is "Jan V.". In doubt initials stay alone.
"""

import itertools
from collections.abc import Sequence
from typing import Final

_TITLES: Final = frozenset(
    (
        *("dr", "prof", "professor", "mr", "mrs", "ms", "miss", "mx", "sir", "madam"),
        *("herr", "hr", "frau", "fr", "fräulein", "ing", "dipl-ing", "mag", "dipl"),
        *("m", "mm", "mme", "mlle", "monsieur", "madame", "mademoiselle"),
        *("sr", "sra", "srta", "señor", "señora", "señorita", "dra", "senhor", "senhora"),
        *("sig", "sigra", "signor", "signora", "signorina", "dott", "dottssa", "dottor"),
        *("dhr", "mevr", "mw", "heer", "mevrouw", "drs", "ir"),
    )
)
"""Titles before a name, in seven languages, without stops."""

_SUFFIXES: Final = frozenset(
    (
        *("jr", "jun", "junior", "júnior", "sr", "sen", "senior", "ii", "iii", "iv"),
        *("filho", "neto", "phd", "md", "dds", "dvm", "esq", "msc", "bsc", "mba"),
    )
)
"""Generations and degrees behind a name, without stops."""

_AND: Final = frozenset(("and", "und", "et", "&", "+"))
_SHORT_AND: Final = frozenset(("e", "ed", "en", "y", "u", "u."))
"""These may be initials or names, if they have capitals or what follows them has none."""

_PARTICLES: Final = frozenset(
    (
        *("van", "von", "vom", "zu", "zum", "zur", "v", "der", "den", "de", "het", "ten", "ter"),
        *("du", "des", "del", "della", "di", "da", "do", "dos", "das", "la", "le", "el", "al"),
    )
)
"""Words of a surname before its own, without stops."""

_LONG_PARTICLES: Final = _PARTICLES - {"v"}  # with a capital it is the initial of a second name


def short_name(name: str) -> str:
    """Return the first name and the initial of the surname, of each person that the name has."""
    match name.split():
        case [first, last] if _are_usual(first, last):  # most names; a merge asks for each review
            return f"{first} {_initial(last)}"
    pieces = (piece.split() for piece in (name.partition("(")[0].strip() or name).split(","))
    parts = _people(", ".join(" ".join(piece) for piece in pieces if piece).split())
    has_surname = False
    shortened: list[str] = []
    for position, words in enumerate(parts):
        if position % 2:  # the word between two people
            shortened += words
            continue
        shortened.append(_short(_in_order(words), has_surname=has_surname))
        has_surname = has_surname or len(words) > 1
    return " ".join(shortened) or name.strip()


def surname_in(text: str, author: str) -> str:
    """Return the word of a text that may be the surname of an author whose name is short; empty if there is none.

    It follows a title or the first name, and begins as the surname does: "Dear Mrs Doe" to "Jane D.".
    """
    match author.split():
        case [first, last] if last.endswith(".") and len(last) == len("D."):
            words = [word.strip("(),.;:!?\"'") for word in text.split()]
            before = {*_TITLES, first.casefold()}
            names = [word for word in words if word not in _PARTICLES]  # De Smet is D. or S.
            bare = [word for word in words if word.casefold() not in _PARTICLES]
            for earlier, word in itertools.chain(
                itertools.pairwise(names), itertools.pairwise(bare)
            ):
                if earlier.casefold() in before and word[:1] == last[0] and len(word) > 1:
                    return word
    return ""


def _are_usual(first: str, last: str) -> bool:
    """Return whether two words are nothing but names."""
    is_plain = first.isalpha() and last.isalpha()
    return is_plain and first.casefold() not in _TITLES and last.casefold() not in _SUFFIXES


def first_and_initial(name: str) -> str:
    """Return the first word of a name and the initial of the last one, whatever they are."""
    first, *rest = name.split() or [name]
    return f"{first} {rest[-1][0].upper()}." if rest else first


def _people(words: Sequence[str]) -> list[list[str]]:
    """Return the words of each person, with the words between them."""
    parts: list[list[str]] = [[]]
    for position, word in enumerate(words):
        following = words[position + 1 : position + 2]
        if parts[-1] and following and _is_and(word, following[0]):
            parts += [[word], []]
        else:
            parts[-1].append(word)
    return parts


def _is_and(word: str, following: str) -> bool:
    return word.casefold() in _AND or (word in _SHORT_AND and following[:1].isupper())


def _in_order(words: Sequence[str]) -> list[str]:
    """Return the words of a person, the first name first; initials where it is open which of them that is."""
    head = [*itertools.takewhile(lambda word: not word.endswith(","), words)]
    if len(head) == len(words):
        return list(words)
    head.append(words[len(head)].removesuffix(","))
    tail = [word.removesuffix(",") for word in words[len(head) :]]
    if all(_plain(word) in _SUFFIXES for word in tail):
        return head
    surname = [word for word in _without_titles(head) if _plain(word) not in _PARTICLES]
    if len(surname) == 1:
        return [*tail, *head]
    return [_initial(word) for word in surname if _initial(word)]


def _short(words: Sequence[str], *, has_surname: bool) -> str:
    """Return the short form of a person.

    Args:
        words: Their names in order.
        has_surname: Whether a person before has one, so that a single word may be a surname too.
    """
    names = _without_titles(words)
    while names and _plain(names[-1]) in _SUFFIXES:
        names = names[:-1]
    names = [name for name in names if _initial(name)]
    has_title = len(words) > 1 and _plain(words[0]) in _TITLES
    if has_title and names and _plain(names[0]) in _PARTICLES:
        names = [_surname(names)]
    match names:
        case []:
            return " ".join(words)
        case [only] if has_title:
            return f"{words[0]} {_initial(only)}"
        case [only]:
            return _initial(only) if has_surname else only
        case [first, *rest]:
            return f"{first} {_initial(_surname(rest))}"
    raise AssertionError(names)


def _surname(words: Sequence[str]) -> str:
    """Return the first particle with a capital, else the last word; in a name of capitals none says anything."""
    if all(word.isupper() for word in words):
        return words[-1]
    particles = (word for word in words[:-1] if word.istitle())
    return next((word for word in particles if _plain(word) in _LONG_PARTICLES), words[-1])


def _without_titles(words: Sequence[str]) -> list[str]:
    return list(itertools.dropwhile(lambda word: _plain(word) in _TITLES, words))


def _plain(word: str) -> str:
    return word.casefold().replace(".", "").removesuffix(",")


def _initial(word: str) -> str:
    """Return the first letter of a word with a stop; empty if it has none."""
    letter = next(filter(str.isalpha, word), "")
    return f"{letter.upper()[0]}." if letter else ""
