"""The files of an installation, and values set in a configuration that is text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
"""What an installation comes with: the configuration, sample data, and the units of systemd."""

_KEY: Final = re.compile(r"(?P<indent> *)(?P<name>[a-z_0-9]+):(?P<value>.*)")


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return a configuration with other values for the keys that it has.

    Args:
        text: Block YAML: two spaces a level, every value on the line of its key.
        values: YAML by dotted key.
    """
    lines: list[str] = []
    outer: list[str] = []
    for line in text.splitlines():
        key = None if line.lstrip().startswith("#") else _KEY.fullmatch(line)
        if key is None:
            lines.append(line)
            continue
        outer[len(key["indent"]) // 2 :] = [key["name"]]
        value = values.get(".".join(outer))
        lines.append(line if value is None else f"{key['indent']}{key['name']}: {value}")
    return "\n".join(lines) + "\n"
