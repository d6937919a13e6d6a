"""The guide that the demo prints (interfaces.md 1.1)."""

import shlex
from pathlib import Path

import pytest

from reviewsd.demo.demo import print_guide


def test_lines_of_the_guide_can_be_pasted_into_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    """A ``?`` is a pattern in zsh, and ``&`` ends a command; a folder may have blanks."""
    print_guide(Path("/tmp/Anna's demo"), {}, ["tcp:127.0.0.1:8080"])
    lines = capsys.readouterr().out.splitlines()
    addresses = [line for line in lines if "127.0.0.1:8080/api/reviews/search" in line]
    assert ["    'http://127.0.0.1:8080/api/reviews/search?query=boiler&min_rating=4'"] == addresses
    (command,) = [line.partition("reviewsctl")[2] for line in lines if "--socket" in line]
    assert ["status", "--socket", "/tmp/Anna's demo/admin.sock"] == shlex.split(command)
