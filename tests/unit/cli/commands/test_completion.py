"""Completion by shells, and the manual pages."""

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from reviewsctl.manual import shares as manual
from tests.support.commands import Ctl, reviewsctl
from tests.support.programs import run_program

pytestmark = pytest.mark.processes

# --- completion


def completed(ctl: Ctl, words: str) -> list[str]:
    asked = {
        **ctl.environment,
        "_REVIEWSCTL_COMPLETE": "complete_bash",
        "COMP_WORDS": f"reviewsctl {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    done = reviewsctl(asked)
    assert "" == done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_to_each_shell(ctl: Ctl, shell: str) -> None:
    asked = {**ctl.environment, "_REVIEWSCTL_COMPLETE": f"source_{shell}"}
    assert "reviewsctl" in reviewsctl(asked).stdout


def test_commands_are_completed(ctl: Ctl) -> None:
    assert ["status"] == completed(ctl, "stat")


# --- the manual


pages = functools.cache(manual.pages)
"""The pages by name; to make them starts reviewsd for its help."""


def test_packages_get_manual_pages_and_the_completion_of_each_shell(tmp_path: Path) -> None:
    files = manual.shared_files()
    for page in ("man1/reviewsctl.1", "man5/reviewsd.yaml.5", "man8/reviewsd.8"):
        assert files[f"man/{page}"].startswith(".TH REVIEWS")
    bash = tmp_path / "reviewsctl"
    bash.write_text(files["bash-completion/completions/reviewsctl"])
    assert subprocess.run(["bash", "-n", bash], check=False).returncode == 0
    for shell in ("zsh/site-functions/_reviewsctl", "fish/vendor_completions.d/reviewsctl.fish"):
        assert "_REVIEWSCTL_COMPLETE" in files[shell]


def test_every_command_and_key_has_its_place_in_the_manual() -> None:
    assert ["reviewsctl.1", "reviewsd.8", "reviewsd.yaml.5"] == list(pages())
    for words in (
        '.SS "reviewsctl insights"\n',  # what its commands have in common
        "\\&  Without a command it shows aspects, people",
        '.SS "reviewsctl subs show"\n',
        "\\&Usage: reviewsctl subs show [OPTIONS] {ID}\n",
        "\\-\\-dry\\-run",
        "Exit codes:",
    ):
        assert words in pages()["reviewsctl.1"]
    assert '.B "hub.lease.default"\nSeconds that a subscription' in pages()["reviewsd.yaml.5"]
    assert "5 minutes to 30 days. (default 864000)\n" in pages()["reviewsd.yaml.5"]


def test_page_of_the_configuration_is_plain_text_that_a_terminal_wraps() -> None:
    """It had the comments of the sample as they are, and Markdown of the reference."""
    page = pages()["reviewsd.yaml.5"]
    assert "Only base_url and data_dir are required" in page
    for mark in ("`", ".nf\n", "@KEYS@", "reviewsd.yaml(5)"):
        assert mark not in page, mark


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_wrong_with_the_pages(tmp_path: Path) -> None:
    for name, text in pages().items():
        (tmp_path / name).write_text(text)
        done = run_program(["groff", "-man", "-ww", "-Tutf8", tmp_path / name])
        assert ("", 0) == (done.stderr, done.returncode)
