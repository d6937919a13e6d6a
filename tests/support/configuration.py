"""Configurations as text, and their faults."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from reviewsd.config.errors import ConfigError
from reviewsd.config.load import load

BASE = "base_url: https://reviews.example.com\ndata_dir: data\n"
"""The two required keys, so that a test's own keys begin in line 3."""

Write = Callable[[str | bytes], Path]


def refused(file: Path, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the lines of the refusal, with FILE for the file."""
    with pytest.raises(ConfigError) as caught:
        load(file, environ or {})
    assert str(caught.value) == "\n".join(caught.value.lines)
    return [line.replace(str(file), "FILE") for line in caught.value.lines]


def heads(lines: list[str]) -> list[str]:
    """Return the faults without the lines that they quote."""
    return [line for line in lines if not re.match(r" {2,}[0-9]* *\|", line)]
