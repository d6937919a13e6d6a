"""Services and aspects by trade, used beside what the owner configures (insights.md 3)."""

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from reviewsd.analysis.language_data import Endings
from reviewsd.analysis.patterns import parse
from reviewsd.analysis.settings import AspectSetting, InsightSettings, ServiceSetting
from reviewsd.analysis.wordlists import data_lines
from reviewsd.domain.reviews import Business, primary_language

NOT_COUNTED: Final = "-"
"""The label of an aspect of every trade that says nothing in this one: what is the quality of a hotel?"""

_ENGLISH = "en"
"""The language of whose words every business has reviews, and of labels where its own has none."""

_LISTS: Final = 3
"""Lists of a line of ``aspects.txt``: words, praise and complaints; those at the end may be missing."""

_Aspects = dict[str, dict[str, AspectSetting]]
"""Aspects by language, then by id."""


def preset(category: str | None) -> tuple[ServiceSetting, ...]:
    """Return the services of a schema.org category; none without a preset."""
    return _services().get((category or "").casefold(), ())


def with_aspects(settings: InsightSettings, business: Business) -> InsightSettings:
    """Return the settings with the aspects of the trade, and its labels of those of every trade; those of the owner come first."""
    by_language = _aspects().get((business.category or "").casefold(), {})
    aspects = dict(by_language.get(_ENGLISH, {}))
    for name, own in by_language.get(primary_language(business.language), {}).items():
        english = aspects[name]
        lists = (
            dict.fromkeys((*own.words, *english.words)),
            dict.fromkeys((*own.praise, *english.praise)),
            dict.fromkeys((*own.complaint, *english.complaint)),
        )
        words, praise, complaint = map(tuple, lists)
        aspects[name] = replace(own, words=words, praise=praise, complaint=complaint)
    return replace(settings, aspects={**aspects, **settings.aspects})


@functools.cache
def aspect_labels() -> frozenset[str]:
    """Return the labels of all aspects by the trade, in all languages."""
    return frozenset(
        aspect.label
        for by_language in _aspects().values()
        for aspects in by_language.values()
        for aspect in aspects.values()
    )


@functools.cache
def _services() -> dict[str, tuple[ServiceSetting, ...]]:
    presets: dict[str, tuple[ServiceSetting, ...]] = {}
    category = ""
    for line in data_lines("services.txt"):
        if line.startswith("["):
            category, _, original = line.strip("[]").partition(" = ")
            presets[category.casefold()] = presets[original.casefold()] if original else ()
            continue
        name, label, topic, words, *second = line.split(": ")
        service = ServiceSetting(
            id=name,
            label=label,
            topic=topic,
            words=tuple(words.split(", ")),
            with_=tuple(second[0].split(", ")) if second else (),
        )
        presets[category.casefold()] += (service,)
    return presets


@functools.cache
def _aspects() -> dict[str, _Aspects]:
    presets: defaultdict[str, _Aspects] = defaultdict(lambda: defaultdict(dict))
    current: list[_Aspects] = []
    for line in data_lines("aspects.txt"):
        if line.startswith("["):
            current = [presets[name] for name in line.strip("[]").casefold().split(", ")]
            continue
        name, label, *lists = line.split(": ")
        language, _, aspect = name.partition(" ")
        texts = [*lists, *[""] * (_LISTS - len(lists))]
        words, praise, complaint = (tuple(dict.fromkeys(_phrases(text))) for text in texts)
        setting = AspectSetting(label=label, words=words, praise=praise, complaint=complaint)
        for aspects in current:
            aspects[language][aspect] = setting
    return presets


def _phrases(text: str) -> Iterator[str]:
    """Yield the phrases of a list, with all alternatives in brackets (``patterns.parse``)."""
    for pattern in filter(None, text.split(", ")):
        for parts in itertools.product(*parse(pattern, Endings())):
            yield " ".join(itertools.chain.from_iterable(parts))
