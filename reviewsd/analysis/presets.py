"""Services by trade, for businesses whose owner names none (insights.md 3)."""

import functools

from reviewsd.analysis.settings import ServiceSetting
from reviewsd.analysis.wordlists import data_lines


def preset(category: str | None) -> tuple[ServiceSetting, ...]:
    """The services of a schema.org category; none where there is no preset for it."""
    return _presets().get((category or "").casefold(), ())


@functools.cache
def _presets() -> dict[str, tuple[ServiceSetting, ...]]:
    found: dict[str, tuple[ServiceSetting, ...]] = {}
    category = ""
    for line in data_lines("services.txt"):
        if line.startswith("["):
            category, _, same = line.strip("[]").partition(" = ")
            found[category.casefold()] = found[same.casefold()] if same else ()
            continue
        name, label, topic, words, *second = line.split(": ")
        service = ServiceSetting(
            id=name,
            label=label,
            topic=topic,
            words=tuple(words.split(", ")),
            with_=tuple(second[0].split(", ")) if second else (),
        )
        found[category.casefold()] += (service,)
    return found
