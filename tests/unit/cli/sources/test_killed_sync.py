"""A sync that is killed before any change of a directory leaves one of the two versions, whole."""

import json
from pathlib import Path

from tests.support.killing import killed_before
from tests.support.sources import Business, table

SOURCE = "  - {name: shop, type: file, path: in/*.csv, gone: 1, import: {verified: true, source: shop, name: Harbor}}\n"


def test_killed_sync_leaves_one_of_the_two_versions(tmp_path: Path) -> None:
    change, was_killed = 0, True
    while was_killed:
        folder = tmp_path / f"{change}"
        folder.mkdir()
        business = Business(folder, SOURCE)
        export = folder / "in" / "shop.csv"
        export.write_text(table("abc"))
        business.sync()
        before = business.reviews_file.read_bytes()
        export.write_text(table("ac") + "\n")

        was_killed = killed_before(change, business.sync)

        after = business.reviews_file.read_bytes()
        assert before == after or ["Ann a", "Ann c"] == business.authors, change
        assert json.loads((folder / "data/.reviewsctl/sources.json").read_text())["sources"]
        (outcome,) = business.sync(["shop"])
        assert "ok" == outcome.state.state, change
        assert ["Ann a", "Ann c"] == business.authors, change
        assert [] == list((folder / "state/spool").iterdir()), change
        change += 1
    assert change > 5  # it has been killed at all
