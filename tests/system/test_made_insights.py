"""A business gets insights from nothing but the reviews of a platform (insights.md 1)."""

import csv
from pathlib import Path

from tests.support.agents import call, opened
from tests.support.commands import ctl
from tests.support.daemon import Daemon, until

ROWS = [
    ("2026-01-05", 5, "Priya fixed the leak, was on time and very friendly."),
    ("2026-02-11", 1, "Nobody showed up, and they charged more than quoted."),
    ("2026-03-02", 4, "Quick repair and a fair price. Great work by Priya."),
    ("2026-04-09", 2, "Rude on the phone, and it cost more than the estimate."),
    ("2026-05-30", 5, ""),
]


def test_an_imported_folder_is_served_with_insights(tmp_path: Path) -> None:
    """Import, start and search; then name a technician, break the settings, and fix them."""
    data = tmp_path / "data"
    data.mkdir()
    with (tmp_path / "export.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("author", "date", "rating", "text"))
        rows.writerows(("A", *row) for row in ROWS)
    imported = ctl(
        "import",
        str(tmp_path / "export.csv"),
        "--source=google",
        "--set=verified=yes",
        "--set=name=Acme",
        "--data",
        str(data),
    )
    assert 0 == imported.returncode, imported.stderr
    assert [".reviewsctl", "reviews.json"] == sorted(path.name for path in data.iterdir())
    with Daemon(tmp_path) as daemon:
        insights = daemon.get("/insights.json").json()
        assert ("lexicon-12", 5) == (insights["model"], insights["review_count"])
        assert daemon.get("/reviews.json").json()["updated_at"] == insights["generated_at"]
        assert "insights   made from 5 reviews by rules\n" in daemon.ctl("status").stdout
        answer = call(daemon, opened(daemon), "get_summary")
        summary = answer.json()["result"]["structuredContent"]
        assert "5 reviews" in summary["summary"]
        pricing = next(aspect for aspect in summary["aspects"] if aspect["id"] == "pricing")
        assert 3 == pricing["mention_count"]
        assert [] == insights["entities"]["technicians"]

        settings = daemon.data / "insights.yaml"
        settings.write_text("technicians: [{name: Priya Raman, aliases: [Priya]}]\n")
        search = "/api/reviews/search?mentions_technician=priya-raman"
        until(lambda: daemon.get(search).json()["matched"] == 2, "the technician")
        settings.write_text("technicans: []\n")
        until(lambda: daemon.status()["data"]["state"] == "degraded", "the refusal")
        (problem,) = daemon.status()["data"]["problems"]
        assert 'insights.yaml:1:1: technicans: unknown key "technicans"' in problem
        assert 2 == daemon.get(search).json()["matched"]
        settings.unlink()
        until(lambda: daemon.get(search).json()["matched"] == 0, "no technician")
