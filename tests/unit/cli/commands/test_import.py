"""``reviewsctl import`` as a process: merging, replacing, what is said and what is left alone."""

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reviewsctl.commands import import_
from reviewsctl.importing.platforms.tables import FORMATS
from reviewsctl.importing.settings import SETTINGS
from tests.support.admin_fake import STATUS, admin_fake, document, events
from tests.support.commands import CLI, Ctl, at_a_terminal, on_a_terminal, reviewsctl, started
from tests.support.daemon import until
from tests.support.programs import run_program
from tests.support.shop import SAMPLES, google

pytestmark = pytest.mark.processes

TAKEOUT = str(SAMPLES / "takeout")
# As an operator may have it: known and unknown members, odd spacing, numbers spelled in their way
THERE = """{ "x_before": 1.50,
  "business": {"name": "Acmé Plumbing", "hours": [],   "x_vat": 12345678901234567890 },
  "aggregate_rating": {"review_count": 2},
  "updated_at": "2025-01-01T00:00:00Z",
  "reviews": [
    {"id": "mine-1", "author":"Own", "rating": 5, "date": "2020-01-01", "source": "website",
     "verified": false, "x_note": 1.10},
    {"id": "01JP97SC5V6MJSHKWYR9YF10G7", "x_tags": ["boiler", 1e2], "author": "Jane Doe",
     "author_avatar_url": "https://example.com/jane.png", "rating": 4, "date": "2025-03-14",
     "text": "Old text", "source": "google", "source_url": "https://example.com/r/1",
     "owner_reply": null, "verified": true}
  ],
  "x_after": [1, 2]
}
"""


PUBLISHED = {
    "type": "result",
    "outcome": "published",
    "revision": "3f2b",
    "review_count": 8,
    "seconds": 0.1,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "reviews.json").write_text(THERE)
    return folder


def imported(
    ctl: Ctl, data: Path, *arguments: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    run = ctl("import", *arguments, "--data", str(data))
    assert code == run.returncode, run.stderr
    return run


def undone(
    ctl: Ctl, data: Path, *arguments: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    run = ctl("reviews", "undo", *arguments, "--data", str(data))
    assert code == run.returncode, run.stderr
    return run


def kept_versions(data: Path) -> list[str]:
    """The versions of reviews.json that are kept, the oldest first."""
    paths = sorted((data / ".reviewsctl/history").glob("reviews-*.json.gz"))
    return [gzip.decompress(path.read_bytes()).decode() for path in paths]


def test_import_adds_new_reviews_and_leaves_all_others(ctl: Ctl, data: Path) -> None:
    run = imported(ctl, data, TAKEOUT)
    text = (data / "reviews.json").read_text()
    file = json.loads(text)

    assert run.stdout.splitlines() == [
        "imported 6 new, 1 changed, 0 unchanged, 1 refused (details with --verbose)",
        (
            f"wrote {data}/reviews.json with 8 reviews; to take it back: reviewsctl reviews undo "
            f"--data {data}"
        ),
        "  Takeout/Google Business Profile/account-101/location-2001/reviews_001.json: reviews[1]: no date",
        "takeout: Google Takeout, Google Business Profile (4 files)",
        "note: 1 skipped: without a star rating",
        "note: your business got from the export: phone, address",
        f"next: reviewsctl check --data {data}",
    ]
    assert list(file) == [
        "x_before",
        "business",
        "aggregate_rating",
        "updated_at",
        "reviews",
        "x_after",
    ]
    assert '"x_vat": 12345678901234567890' in text
    assert ("Acmé Plumbing", "+1 555-0100") == tuple(
        file["business"][name] for name in ("name", "phone")
    )
    assert '"verified": false, "x_note": 1.10}' in text  # byte for byte
    assert "2025-01-01T00:00:00Z" < file["updated_at"]
    assert [THERE, (data / "reviews.json").read_text()] == kept_versions(data)


def reviews_of(data: Path) -> list[dict[str, object]]:
    reviews: list[dict[str, object]] = json.loads((data / "reviews.json").read_bytes())["reviews"]
    return reviews


def test_printed_commands_can_be_typed(ctl: Ctl, tmp_path: Path) -> None:
    """A folder with a blank."""
    shop = tmp_path / "my shop"
    init = ctl("init", str(shop))
    run = imported(ctl, shop / "data", TAKEOUT, "--verbose")
    assert f"cd '{shop}'" in init.stdout
    assert f"next: reviewsctl check --data '{shop}/data'" in run.stdout
    assert ": skipped, without a star rating" in run.stdout


def test_removal_needs_a_yes_on_a_terminal(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    rows = [{"author": author, "at": f"2025-01-0{day}"} for day, author in enumerate("ABC", 1)]
    imported(ctl, data, str(google(tmp_path / "all.json", *rows)))
    fewer = google(tmp_path / "fewer.json", rows[0], rows[2])
    words = ("import", str(fewer), "--replace", "--data", str(data))
    no, output = at_a_terminal(ctl.environment, b"n\n", *words)
    count = len(reviews_of(data))
    yes, _ = at_a_terminal(ctl.environment, b"y\n", *words)

    assert (1, 0) == (no, yes)
    assert "  B, 2025-01-02, google" in output
    assert "would be removed: is this export all" in output
    assert (5, 4) == (count, len(reviews_of(data)))


def test_the_examples_of_init_never_stay_among_reviews(ctl: Ctl, tmp_path: Path) -> None:
    """Without ``--replace`` too; and the name that init leaves open is the export's."""
    run = ctl("init", str(tmp_path / "shop"))
    assert 0 == run.returncode, run.stderr
    data = tmp_path / "shop" / "data"
    done = imported(ctl, data, TAKEOUT, "--verbose")
    file = json.loads((data / "reviews.json").read_bytes())

    assert "note: examples of reviewsctl init left out: 2" in done.stdout
    assert {"google"} == {review["source"] for review in file["reviews"]}
    assert 7 == len(file["reviews"])
    assert "Acme Plumbing" == file["business"]["name"]


def test_several_files_are_one_import(ctl: Ctl, data: Path) -> None:
    """Pages of one platform, and several platforms, at once: nothing is written before all is read."""
    names = ("takeout", "trustpilot.csv", "google_batch.json", "plain.json")
    options = ["rating=points", "date=when", "author=who.name", "text=words"]
    files = [
        *(str(SAMPLES / name) for name in names),
        *(part for option in options for part in ("--map", option)),
        *("--set", "scale=10", "--source", "shop"),
    ]
    run = imported(ctl, data, *files)
    broken = imported(ctl, data, *files, str(SAMPLES / "no_rating.csv"), code=2)

    assert "imported 12 new, 1 changed, 0 unchanged, 1 refused" in run.stdout
    assert {"website", "google", "trustpilot", "shop"} == {
        review["source"] for review in reviews_of(data)
    }
    assert 'there is no column "points"' in broken.stderr
    assert "0 new" in imported(ctl, data, *files).stdout


def test_mode_and_owner_stay_and_a_link_is_followed(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    real = tmp_path / "real.json"
    (data / "reviews.json").rename(real)
    (data / "reviews.json").symlink_to(real)
    real.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(real, 1234, 4321)
    owner = (real.stat().st_uid, real.stat().st_gid)
    imported(ctl, data, TAKEOUT)

    assert (data / "reviews.json").is_symlink()
    assert 0o640 == stat.S_IMODE(real.stat().st_mode)
    assert owner == (real.stat().st_uid, real.stat().st_gid)
    assert 8 == len(json.loads(real.read_bytes())["reviews"])


def test_a_new_file_can_be_read_by_the_daemon(ctl: Ctl, tmp_path: Path) -> None:
    imported(ctl, tmp_path, TAKEOUT)
    assert 0o644 == stat.S_IMODE((tmp_path / "reviews.json").stat().st_mode)


def test_data_directory_is_that_of_configuration(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    config = tmp_path / "reviewsd.yaml"
    config.write_text("data_dir: data\n")
    named = ctl("import", TAKEOUT, "--config", str(config), "--json")
    default = reviewsctl(
        {**ctl.environment, "REVIEWSD_CONFIG": str(config)}, "import", TAKEOUT, "--json"
    )
    config.write_text("base_url: x\n")
    none = ctl("import", TAKEOUT, "--config", str(config))

    assert (6, 0) == tuple(json.loads(run.stdout)["new"] for run in (named, default))
    assert str(data / "reviews.json") == json.loads(named.stdout)["target"]
    assert 1 == none.returncode
    assert f"{config} has no data_dir\nSee what is wrong: reviewsd --check" in none.stderr


def test_missing_data_directory_is_reported_with_a_remedy(ctl: Ctl, tmp_path: Path) -> None:
    run = ctl("import", TAKEOUT, folder=tmp_path)
    missing = imported(ctl, tmp_path / "none", TAKEOUT, code=1)
    assert 2 == run.returncode
    assert "--data DIR" in run.stderr
    assert "mkdir -p" in missing.stderr


def test_json_is_one_result_and_errors_are_json_too(ctl: Ctl, data: Path) -> None:
    done = json.loads(imported(ctl, data, TAKEOUT, "--json").stdout)
    wrong = imported(ctl, data, str(SAMPLES / "unknown.json"), "--json", code=1)

    expected = {
        "type": "result",
        "format": "takeout",
        "new": 6,
        "changed": 1,
        "refused": 1,
        "total": 8,
        "written": True,
        "backup": str(min((data / ".reviewsctl/history").glob("reviews-*.json.gz"))),
    }
    assert expected == {name: value for name, value in done.items() if name in expected}
    assert {
        "what": "changed",
        "review": "Jane Doe, 2025-03-14, google",
        "members": ["rating", "text", "owner_reply", "location"],
    } in done["changes"]
    assert {"title", "detail", "remedy"} == json.loads(wrong.stderr)["error"].keys()
    assert "" == wrong.stdout


@pytest.mark.parametrize(
    ("rows", "errors"),
    [
        ("2026-03-14,5\n", ""),
        (
            "2026-03-14,5\nsoon,4\n",
            '1 row refused\n  row 3: date "soon" is not understood: write the day, as 2026-03-14\n',
        ),
    ],
    ids=["all", "refused"],
)
def test_quiet_names_only_refused_rows_on_stderr(
    ctl: Ctl, tmp_path: Path, data: Path, rows: str, errors: str
) -> None:
    """Cron mails what stands there, and nothing else tells of them."""
    table = tmp_path / "x.csv"
    table.write_text(f"Date,Stars\n{rows}")
    run = imported(ctl, data, str(table), "--source", "website", "--quiet")
    assert ("", errors) == (run.stdout, run.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "timezone=Mars/Base"],
        ["--map", "date"],
        ["--from", "word"],
        ["--set", "location=9"],
        ["--set", "scale=10"],
        ["--source", "shop"],
    ],
)
def test_wrong_usage_is_exit_2_and_no_write(ctl: Ctl, data: Path, arguments: list[str]) -> None:
    imported(ctl, data, TAKEOUT, *arguments, code=2)
    assert THERE == (data / "reviews.json").read_text()
    assert ["reviews.json"] == [file.name for file in data.iterdir()]


@pytest.mark.parametrize(
    ("table", "typed", "question", "source"),
    [
        (
            "Date,Stars,Review\n2025-01-01,5,Nice\n",
            b"google\nn\n",
            "website, or a platform such as google [website]: ",
            "google",
        ),
        (
            "Guest name,Review date,Positive review,Review score\nJo,2026-03-14,Nice,8\n",
            b"\nn\n",
            "booking, or another name [booking]: ",
            "booking",
        ),
    ],
    ids=["own", "booking"],
)
def test_terminal_is_asked_for_the_source_of_a_first_table(
    ctl: Ctl, tmp_path: Path, data: Path, table: str, typed: bytes, question: str, source: str
) -> None:
    export = tmp_path / "x.csv"
    export.write_text(table)
    words = ("import", str(export), "--data", str(data))
    code, output = at_a_terminal(ctl.environment, typed, *words)
    assert 0 == code
    described, _, asked = output.partition("Where were these reviews written? ")
    assert "x.csv: a table with columns of its own" in described
    assert asked.startswith(question)
    sources = [review["source"] for review in reviews_of(data) if "Nice" in str(review.get("text"))]
    assert [source] == sources


def test_help_names_every_format_and_setting() -> None:
    names = {line.strip().partition("  ")[0] for line in import_.EPILOG.splitlines()}
    words = {word for name in names for word in name.rstrip(",").split(", ")}
    settings = {name.partition("=")[0] for name in names}
    assert {format_.name for format_ in FORMATS if format_.name != "maps"} <= words
    assert {"public", *SETTINGS} <= settings


def big(path: Path, rows: int, words: int) -> Path:
    with path.open("w") as file:
        file.write("date,rating,author,text,id\n")
        for number in range(rows):
            file.write(f"2025-01-01,5,A{number},{'long text ' * words},{number}\n")
    return path


def test_a_large_import_shows_how_far_it_is(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    export = str(big(tmp_path / "big.csv", 1_500, 600))
    words = ("import", export, "--source", "web", "--data", str(data))
    screen = on_a_terminal(ctl.environment, *words)
    assert "reading (MB) " in screen
    assert "━" in screen
    assert "100%" in screen
    assert "imported 1,500 new" in screen


def test_a_stopped_import_leaves_the_file_as_it_was(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    """``importing/test_killed`` has what SIGKILL leaves."""
    export = big(tmp_path / "big.csv", 10_000, 30)
    words = ("import", str(export), "--source", "web", "--data", str(data))
    with started(ctl.environment, *words) as run:
        until(lambda: [*data.glob(".reviews.json*")], "the file that it writes")
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)

    assert 130 == run.returncode
    assert "interrupted: nothing was written" in errors
    assert THERE == (data / "reviews.json").read_text()
    assert ["reviews.json"] == [file.name for file in data.iterdir()]


def test_on_a_terminal_it_asks_for_the_location(ctl: Ctl, tmp_path: Path) -> None:
    code, output = at_a_terminal(
        ctl.environment, b"2\n", "import", str(SAMPLES / "two"), "--data", str(tmp_path)
    )

    assert 0 == code
    assert "  2  Acme Plumbing 2 (2002, 1 review)" in output
    assert "  3  all of them" in output
    assert (
        "Acme Plumbing 2"
        == json.loads((tmp_path / "reviews.json").read_bytes())["business"]["name"]
    )


def test_terminal_offers_reload_of_the_served_file(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    status = {**STATUS, "data": {**STATUS["data"], "dir": str(data)}}
    script = {"GET /v1/status": document(status), "POST /v1/reload": events(PUBLISHED)}
    with admin_fake(tmp_path / "admin.sock", script) as fake:
        code, output = at_a_terminal(
            ctl.environment, b"y\n", "import", TAKEOUT, "--data", str(data)
        )

    assert 0 == code
    assert "Load it into the running daemon now?" in output
    assert "published" in output
    assert ["/v1/status", "/v1/reload"] == [request.target for request in fake.asked]


def test_undo_goes_back_by_a_number_of_changes(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    for number, author in enumerate("AB", 1):
        imported(ctl, data, str(google(tmp_path / f"{number}.json", {"author": author})))
    back = json.loads(undone(ctl, data, "2", "--json").stdout)
    assert (2, 2) == (back["total"], back["gone"])
    assert json.loads(THERE)["reviews"] == reviews_of(data)
    for argument, code in (("9", 1), ("x", 2), ("0", 2)):
        assert undone(ctl, data, argument, code=code).stderr


def test_export_is_read_from_standard_input(data: Path, ctl: Ctl, tmp_path: Path) -> None:
    """A script pipes it; nothing of it is left behind."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "reviewsctl.main", "import", "-", "--data", str(data)]
    with (SAMPLES / "google_api.json").open("rb") as export:
        run = run_program(
            [*command, "--set", "location=all"],
            stdin=export,
            env={**ctl.environment, "PYTHONPATH": str(CLI), "TMPDIR": str(temporary)},
        )

    assert (0, "") == (run.returncode, run.stderr)
    assert "\nstandard input: Google Business Profile API" in run.stdout
    assert [] == list(temporary.iterdir())


def test_terminal_is_no_export(data: Path, ctl: Ctl) -> None:
    code, output = at_a_terminal(ctl.environment, b"", "import", "-", "--data", str(data))
    assert 1 == code
    assert "standard input is a terminal" in output
