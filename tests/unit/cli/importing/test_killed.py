"""A command that is killed before any change of a directory leaves reviews.json whole.

A child process kills itself before its n-th rename, removal or new folder, for each n there is.
"""

import datetime
from pathlib import Path

import pytest

from reviewsctl.importing.undo import undo
from tests.support.killing import killed_before
from tests.support.shop import NOW, Shop, google

ANN = {"author": "Ann", "text": "Fine"}
WORSE = {**ANN, "text": "Bad", "edited": "2026-02-01T10:00:00Z"}


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
        assert [] == list(folder.rglob(".*.new")), change
        undo(folder / "reviews.json", 1, NOW + datetime.timedelta(days=10))
        assert after == (folder / "reviews.json").read_bytes() or "Cy" not in shop.reviews, change
        change += 1
    assert change > 5  # it has been killed at all
