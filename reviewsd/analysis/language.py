"""Finds the language of a review by Compact Language Detector 2 (insights.md 11).

It has no wheels for Python 3.14 and for Linux on ARM; without it, every review counts as written in the
language of the business.
"""

from collections.abc import Callable
from typing import Final, Protocol, cast

try:
    import pycld2
except ImportError:  # no wheel
    pycld2 = None

from reviewsd.domain.halves import without_headings

ENGLISH: Final = "en"

_SHORT: Final = 60  # characters; the language of the business is a hint for shorter texts
_MOST: Final = 400  # characters that are looked at, which suffice
_CODE: Final = 2
"""Letters of the languages that count; others are of scripts, jokes and rare languages."""

_UNUSED: Final = ("LATIN", "ESPERANTO", "INTERLINGUA", "INTERLINGUE", "VOLAPUK")
"""Languages in which there are no reviews; the detector mistakes short Italian and Spanish texts for them."""


class Library(Protocol):
    """The ``pycld2`` module."""

    LANGUAGES: tuple[tuple[str, str], ...]
    DETECTED_LANGUAGES: tuple[str, ...]
    detect: Callable[..., tuple[bool, int, tuple[tuple[str, str, int, float], ...]]]
    error: type[Exception]


LIBRARY: Final = cast("Library | None", pycld2)


class Detector:
    """Finds the language of texts.

    Args:
        language: The language of the business (ISO 639), for texts in an unrecognized language.
        has_rules: Returns whether there are rules for a language.
        library: The detector; without one all texts are in the language of the business.
    """

    def __init__(
        self, language: str, has_rules: Callable[[str], bool], library: Library | None = LIBRARY
    ) -> None:
        self._language = language
        self._has_rules = has_rules
        self._library = library
        self._codes = frozenset[str]()
        self._hint: str | None = None
        if library is not None:
            codes = {name: code for name, code in library.LANGUAGES if len(code) == _CODE}
            for name in _UNUSED:
                codes.pop(name, None)
            self._hint = language if language in codes.values() else None
            self._codes = frozenset(
                codes[name] for name in library.DETECTED_LANGUAGES if name in codes
            )

    def language_of(self, text: str) -> str:
        """Return the language of a text (ISO 639), whatever that of the headings of its halves."""
        if self._library is None:
            return self._language
        text = without_headings(text)
        code = self._detect(text[:_MOST], self._hint if len(text) < _SHORT else None)
        if code not in self._codes:
            return self._language
        if code == self._language or self._has_rules(code):
            return code
        # Dutch is taken for Afrikaans, and Spanish for Galician.
        return self._language if self._detect(text[:_MOST], self._hint) == self._language else code

    def _detect(self, text: str, hint: str | None) -> str:
        assert self._library is not None  # noqa: S101  its caller has one
        try:
            return _detect(self._library, text, hint)
        except self._library.error:  # refuses control characters and the like
            printable = "".join(c if c.isprintable() else " " for c in text)
            return _detect(self._library, printable, hint)


def _detect(library: Library, text: str, hint: str | None) -> str:
    content = text.encode("utf-8", "replace")
    _, _, details = library.detect(content, isPlainText=True, bestEffort=True, hintLanguage=hint)
    return details[0][1]
