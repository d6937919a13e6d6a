"""A business gets insights from nothing but the reviews of a platform (insights.md 1)."""

import csv
import json
from pathlib import Path
from typing import Any

from tests.support.commands import ctl
from tests.support.daemon import Daemon, until
from tests.support.mcp import MODERN, modern

ROWS = [
    ("2026-01-05", 5, "Priya fixed the leak, was on time and very friendly."),
    ("2026-02-11", 1, "Nobody showed up, and they charged more than quoted."),
    ("2026-03-02", 4, "Quick repair and a fair price. Great work by Priya."),
    ("2026-04-09", 2, "Rude on the phone, and it cost more than the estimate."),
    ("2026-05-30", 5, ""),
]


def called(daemon: Daemon, tool: str, **arguments: object) -> Any:  # noqa: ANN401  JSON
    """Call a tool, and return its structured result."""
    message = modern("tools/call", name=tool, arguments=arguments)
    fields = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    answer = daemon.request("POST", "/mcp", fields, json.dumps(message).encode())
    return answer.json()["result"]["structuredContent"]


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
        assert ("lexicon-11", 5) == (insights["model"], insights["review_count"])
        assert daemon.get("/reviews.json").json()["updated_at"] == insights["generated_at"]
        assert "insights   made from 5 reviews by rules\n" in daemon.ctl("status").stdout
        summary = called(daemon, "get_summary")
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
