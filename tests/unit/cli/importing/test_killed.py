"""A command that is killed before any change of a directory leaves reviews.json whole.

A child process kills itself before its n-th rename, removal or new folder, for each n there is.
"""

import datetime
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.importing.undo import undo
from tests.support.shop import NOW, Shop, google

CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir"}
ANN = {"author": "Ann", "text": "Fine"}
WORSE = {**ANN, "text": "Bad", "edited": "2026-02-01T10:00:00Z"}


def killed_before(change: int, command: Callable[[], object]) -> bool:
    """Run a command in a child that is killed before one of its changes; False if it has fewer."""
    child = os.fork()
    if not child:
        count = 0

        def audit(event: str, _: object) -> None:
            nonlocal count
            count += event in CHANGES
            if event in CHANGES and count > change:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        code = 1
        try:
            command()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in {0, -signal.SIGKILL}
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("what", ["import", "undo"])
def test_killed_command_leaves_one_of_the_two_versions(tmp_path: Path, what: str) -> None:
    change, was_killed = 0, True
    while was_killed:
        folder = tmp_path / f"{change}"
        folder.mkdir()
        shop = Shop(folder)
        shop.imported(google(tmp_path / "a.json", ANN))
        worse = google(tmp_path / "b.json", WORSE, {"author": "Bo"})
        if what == "undo":
            shop.imported(worse)
        before = (folder / "reviews.json").read_bytes()

        def command(shop: Shop = shop, worse: Path = worse) -> object:
            if what == "import":
                return shop.imported(worse)
            return undo(shop.folder / "reviews.json", 1, NOW + datetime.timedelta(days=9))

        was_killed = killed_before(change, command)
        after = (folder / "reviews.json").read_bytes()
        expected = {"Ann": "Bad", "Bo": None} if what == "import" else {"Ann": "Fine"}
        texts = {author: review["text"] for author, review in shop.reviews.items()}
        assert before == after or expected == texts, change

        shop.imported(google(tmp_path / "c.json", {**WORSE, "text": "Good"}, {"author": "Cy"}))
        assert "Good" == shop.reviews["Ann"]["text"], change
        undo(folder / "reviews.json", 1, NOW + datetime.timedelta(days=10))
        assert after == (folder / "reviews.json").read_bytes() or "Cy" not in shop.reviews, change
        change += 1
    assert change > 5  # it has been killed at all
