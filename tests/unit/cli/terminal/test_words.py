"""Words for counts, and lines that end between words."""

import os
import pty
import sys

import pytest

from reviewsctl.terminal import words
from reviewsd.api.texts import counted


def test_one_is_not_many() -> None:
    said = [counted(count, "review") for count in (0, 1, 2, 1204)]
    assert ["0 reviews", "1 review", "2 reviews", "1,204 reviews"] == said


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("short", "short"),
        ("several words that fit not", "several words\n  that fit not"),
        ("https://example.com/a-long-address stays", "https://example.com/a-long-address\n  stays"),
    ],
)
def test_a_terminal_gets_whole_words(
    monkeypatch: pytest.MonkeyPatch, text: str, folded: str
) -> None:
    master, slave = pty.openpty()
    monkeypatch.setenv("COLUMNS", "22")
    with open(slave, "w") as terminal, open(master):  # noqa: PTH123  descriptors
        monkeypatch.setattr(sys, "stdout", terminal)
        assert os.isatty(slave)
        assert folded == words.folded(text, indent=2, begun=6)


def test_a_pipe_gets_it_as_it_is() -> None:
    text = "word " * 100
    assert text == words.folded(text, indent=2)
