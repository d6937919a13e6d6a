"""Services by trade, used if the owner configures none (insights.md 3)."""

import functools

from reviewsd.analysis.settings import ServiceSetting
from reviewsd.analysis.wordlists import data_lines


def preset(category: str | None) -> tuple[ServiceSetting, ...]:
    """Return the services of a schema.org category; none without a preset."""
    return _presets().get((category or "").casefold(), ())


@functools.cache
def _presets() -> dict[str, tuple[ServiceSetting, ...]]:
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
