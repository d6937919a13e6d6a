"""A command that is killed leaves whole files, and shows nothing that was to go (corrections.md)."""

import json
from pathlib import Path

from typer.testing import CliRunner

from reviewsctl.commands.root import app
from reviewsd.offline.corrections import read
from tests.support.columns import review
from tests.support.killing import killed_before

SECRET, ERASED = "They broke the blue vase", "01J9ZK3V5Q8R2N7M4T6W1X0YAB"


def test_killed_erasure_leaves_whole_files_and_shows_nothing_that_was_to_go(tmp_path: Path) -> None:
    """Either nothing has happened yet, or the review is not shown; killed before each change of a directory."""
    reviews = [review(ERASED, text=SECRET), review("r1"), review("r2")]
    change, was_killed = 0, True
    while was_killed:
        folder = tmp_path / f"{change}"
        folder.mkdir()
        (folder / "reviews.json").write_text(
            json.dumps({"business": {"name": "Acme"}, "reviews": reviews})
        )
        words = ("reviews", "erase", ERASED, "--reason", "request", "--yes", "--data", str(folder))

        def erase(words: tuple[str, ...] = words) -> None:
            runner = CliRunner(env={"REVIEWSD_ADMIN_SOCKET": str(tmp_path / "none.sock")})
            done = runner.invoke(app, words)
            assert 0 == done.exit_code, done.output

        was_killed = killed_before(change, erase)
        result = {item.review.id: item for item in read(folder).reviews}
        if (folder / "corrections.json").exists() and ERASED in result:
            correction = result[ERASED].correction
            assert correction is not None, change
            assert "erase" == correction.action, change
        assert {"r1", "r2"} <= result.keys(), change
        assert was_killed or SECRET not in (folder / "reviews.json").read_text()
        change += 1
    assert change > 5  # it has been killed at all
