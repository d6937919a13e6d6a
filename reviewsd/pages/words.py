"""Words, dates and numbers of the pages, in the language of the business (pages.md 2).

The English words are in ``templates/words.json`` by key; a plural has two keys, ``KEY_one`` and ``KEY``. Each other
language has a catalog of gettext in ``translations``, with the key as the context of a message. To add a word, write it
into ``words.json``, run ``python -m tests.support.words``, and translate what that adds to the catalogs.

The formats of dates and numbers are in the snapshot. ``locales`` takes them from CLDR at publication, so requests need no
locale data.
"""

import datetime
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from gettext import c2py
from io import BytesIO
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from reviewsd.domain.reviews import Business, primary_language
from reviewsd.pages.customers import for_trade
from reviewsd.pages.environment import TEMPLATES, Bytecode, TemplateError
from reviewsd.pages.naming import is_own_website, source_name

WORDS: Final = "words.json"
"""File of the English words; the operator's file of this name comes before every catalog."""

CATALOGS: Final = Path(__file__).parent / "translations"
"""Folder of the catalogs, one for each language."""


_FORMS: Final = ("_one", "")
"""Endings of the keys of a plural, in the order of its forms in a catalog."""

_PLURAL: Final = ""
"""Key of the number of the form for ``n``, as an expression of C; no words have this key, as in catalogs."""

_ENGLISH_PLURAL: Final = "n != 1"


class Language(Struct, frozen=True, kw_only=True):
    """The formats of one language."""

    tag: str
    """Language tag (BCP 47) of the operator."""
    months: tuple[str, ...] = ()
    """Twelve names as they stand in a date; none for dates in ISO 8601."""
    day_pattern: str = ""
    """Format of a date, with ``day``, ``month`` and ``year``."""
    comma: str = ","
    """Separator of groups of three digits."""
    point: str = "."
    direction: str = "ltr"
    """``ltr`` or ``rtl``."""

    def isolated(self, text: str) -> str:
        """Isolate words that may have another direction than the page (UAX 9)."""
        if self.direction == "ltr":
            return text
        return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"

    def date(self, day: datetime.date) -> str:
        """Format a day, as in ``November 10, 2026``."""
        if not self.months:
            return day.isoformat()
        is_first = day.day == 1 and primary_language(self.tag) == "fr"
        number = "1er" if is_first else day.day  # which CLDR's patterns do not say
        return self.day_pattern.format(day=number, month=self.months[day.month - 1], year=day.year)

    def number(self, value: float, digits: int = 0) -> str:
        """Format a number, as in ``1,234.5``; a half is rounded up, as in the average rating."""
        rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        text = f"{rounded:,f}"
        return text.translate({ord(","): self.comma, ord("."): self.point})


class Words:
    """The words in one language.

    Args:
        texts: The words by key, with the names of values in braces.
        language: Their language.
    """

    def __init__(self, texts: Mapping[str, str], language: Language) -> None:
        self.texts = {**english(), **texts}  # a snapshot of an earlier version lacks new words
        self.language = language
        self._form = c2py(texts[_PLURAL])

    def __call__(self, key: str, **values: object) -> str:
        """Return the words of a key, with values in place of their braces.

        Raises:
            TemplateError: The key or a value is missing.
        """
        try:
            text = self.texts[key]
            text = text.format_map(values) if "{" in text else text
        except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
            raise TemplateError(WORDS, None, f'"{key}": {error!r}') from error
        return self.language.isolated(text)

    def plural(self, key: str, count: int, **values: object) -> str:
        """Return the words of a key for a count.

        Raises:
            TemplateError: The key or a value is missing.
        """
        form = _FORMS[self._form(count)]
        return self(f"{key}{form}", count=self.language.number(count), **values)

    def source(self, source: str) -> str:
        """Return the label of a source: words for the owner's website, or the name of a platform."""
        return self("own_website") if is_own_website(source) else source_name(source)


def english() -> dict[str, str]:
    """Load the English words by key."""
    return _decode((TEMPLATES / WORDS).read_bytes())


def has_catalog(tag: str) -> bool:
    """Return whether there are words in a language (BCP 47)."""
    return primary_language(tag) == "en" or _file(tag).is_file()


def load(business: Business, own: Mapping[str, str], bytecode: Bytecode) -> dict[str, str]:
    """Load the words of a business by key, in its language; English ones without a catalog.

    Args:
        business: Its language (BCP 47), and its category, which says what customers are called.
        own: The operator's templates, by name.
        bytecode: Results of the publication before; reading a catalog takes longer than to render a page.

    Raises:
        TemplateError: The operator's file is not a JSON object of strings.
    """
    language = primary_language(business.language) if has_catalog(business.language) else "en"
    texts = english()
    texts[_PLURAL] = _ENGLISH_PLURAL
    if language != "en":
        source = _file(language).read_bytes()
        texts.update(_decode(bytecode.result("words", source, lambda: _translated(source))))
    texts = for_trade(texts, business.category, language)
    if WORDS not in own:
        return texts
    try:
        return {**texts, **_decode(own[WORDS]), _PLURAL: texts[_PLURAL]}
    except msgspec.MsgspecError as error:
        raise TemplateError(WORDS, None, str(error)) from error


def _translated(source: bytes) -> bytes:
    """Return the words of a catalog by key, as JSON."""
    from babel.messages.pofile import read_po  # noqa: PLC0415  only for a catalog that has changed

    catalog = read_po(BytesIO(source))
    texts = {_PLURAL: catalog.plural_expr}
    for message in catalog:
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        endings = _FORMS if message.pluralizable else _FORMS[-1:]
        if message.context is not None:
            keys = (f"{message.context}{ending}" for ending in endings)
            texts.update(zip(keys, map(str, forms), strict=True))
    return msgspec.json.encode(texts)


def _file(tag: str) -> Path:
    primary = primary_language(tag)
    return CATALOGS / f"{primary}.po" if primary.isalpha() else CATALOGS


_decode = msgspec.json.Decoder(dict[str, str]).decode
