"""``reviewsctl export``, and that what it writes is read back as it was."""

import csv
import io
import json
from pathlib import Path

import pytest

from reviewsctl.importing.platforms.own import COLUMNS
from tests.support.commands import Ctl, on_a_terminal

pytestmark = pytest.mark.processes

REVIEWS: list[dict[str, object]] = [
    {
        "id": "01JP97SC5V86FFBQ4DXQ38HSEK",
        "author": "Jane Doe",
        "author_avatar_url": None,
        "rating": 4,
        "date": "2025-03-14",
        "text": 'Zwei\nZeilen, "zitiert"\r\n=1+1',
        "source": "google",
        "source_url": "https://example.com/r/1",
        "owner_reply": {"text": "Danke;\nJane", "date": "2025-03-15"},
        "verified": True,
        "x_mood": {"a": 1.1},
    },
    {
        "id": "mine",
        "author": "Jörg",
        "rating": 5,
        "date": "2025-01-01",
        "source": "website",
        "owner_reply": {"text": "Danke!", "date": "2025-01-01", "undated": True},
        "verified": False,
    },
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    file = {"business": {"name": "Acme"}, "reviews": REVIEWS, "x": 1}
    (folder / "reviews.json").write_text(json.dumps(file, indent=2, ensure_ascii=False))
    return folder


def exported(ctl: Ctl, data: Path, *options: str) -> bytes:
    run = ctl("export", *options, "--data", str(data))
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout.encode()


def written(ctl: Ctl, data: Path, kind: str, path: Path) -> Path:
    path.write_bytes(exported(ctl, data, kind))
    return path


def correct(ctl: Ctl, data: Path, action: str, *options: str) -> None:
    why = ("--reason", "request", *["--yes"][: action == "hide"])
    run = ctl("reviews", action, str(REVIEWS[0]["id"]), *options, *why, "--data", str(data))
    assert 0 == run.returncode, run.stderr


def test_lines_are_the_reviews_with_all_members(ctl: Ctl, data: Path) -> None:
    lines = exported(ctl, data, "--jsonl").splitlines()
    assert REVIEWS == [json.loads(line) for line in lines]


def test_the_table_has_the_members_of_the_data_model(ctl: Ctl, data: Path) -> None:
    text = exported(ctl, data, "--csv").decode()
    header, jane, second = csv.reader(io.StringIO(text, newline=""))
    assert list(COLUMNS) == header
    assert ["Jane Doe", "4", "true"] == [
        jane[COLUMNS.index(name)] for name in ("author", "rating", "verified")
    ]
    assert ["", "", "false"] == [
        second[COLUMNS.index(name)] for name in ("text", "owner_reply_date", "verified")
    ]


@pytest.mark.parametrize(("kind", "name"), [("--csv", "x.csv"), ("--jsonl", "x.jsonl")])
def test_exported_reviews_are_imported_unchanged(
    ctl: Ctl, tmp_path: Path, data: Path, kind: str, name: str
) -> None:
    path = written(ctl, data, kind, tmp_path / name)
    onto = ctl("import", str(path), "--data", str(data), "--json")
    (tmp_path / "new").mkdir()
    options = ("--data", str(tmp_path / "new"), "--set", "name=Acme", "--json")
    new = ctl("import", str(path), *options)

    assert (0, 0, 2, "reviewsd") == tuple(
        json.loads(onto.stdout)[name] for name in ("new", "changed", "unchanged", "format")
    )
    assert (2, 0) == tuple(json.loads(new.stdout)[name] for name in ("new", "refused"))


@pytest.mark.parametrize(("kind", "name"), [("--csv", "x.csv"), ("--jsonl", "x.jsonl")])
def test_short_names_of_an_export_leave_full_ones(
    ctl: Ctl, tmp_path: Path, data: Path, kind: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(exported(ctl, data, kind, "--names", "short"))
    assert b"Jane Doe" not in path.read_bytes()
    kept = ctl("import", str(path), "--data", str(data))
    assert "names that are full already: 1; they stay so (--set names=short)" in kept.stdout
    assert '"Jane Doe"' in (data / "reviews.json").read_text()
    ctl("import", str(path), "--data", str(data), "--set", "names=short")
    assert '"Jane D."' in (data / "reviews.json").read_text()


@pytest.mark.parametrize("action", ["", "anonymize"])
def test_export_whose_columns_the_owner_has_taken_out_is_of_the_same_reviews(
    ctl: Ctl, tmp_path: Path, data: Path, action: str
) -> None:
    if action:
        correct(ctl, data, action)
    table = tmp_path / "x.csv"
    names = ("id", "author", "rating", "date", "text", "source")
    with written(ctl, data, "--csv", table).open(newline="") as file:
        rows = [{name: row[name] for name in names} for row in csv.DictReader(file)][:1]
    rows[0] |= {"text": "Corrected in many words", "date": "2025-03-15"}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    run = ctl("import", str(table), "--set", "scale=5", "--data", str(data), "--json")
    assert 0 == run.returncode, run.stderr
    result = json.loads(run.stdout.splitlines()[-1])
    reviews = json.loads((data / "reviews.json").read_text())["reviews"]
    assert (1, 0) == (result["changed"], result["new"]), run.stdout
    assert ("Jane Doe", "Corrected in many words") == (reviews[0]["author"], reviews[0]["text"])


def test_export_of_one_review_is_imported(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    """One object in a file of lines is a line, not the document around the reviews."""
    export = tmp_path / "x.JSONL"
    export.write_bytes(exported(ctl, data, "--jsonl").splitlines(keepends=True)[1])
    run = ctl("import", str(export), "--data", str(data), "--json")
    assert 1 == json.loads(run.stdout)["unchanged"], run.stderr


@pytest.mark.parametrize("options", [(), ("--replace",)])
@pytest.mark.parametrize(("kind", "name"), [("--csv", "x.csv"), ("--jsonl", "x.jsonl")])
@pytest.mark.parametrize("action", ["hide", "hide-text", "anonymize"])
def test_import_of_an_export_takes_nothing_of_a_corrected_review(
    ctl: Ctl,
    tmp_path: Path,
    data: Path,
    action: str,
    kind: str,
    name: str,
    options: tuple[str, ...],
) -> None:
    """The export has what readers see."""
    file = json.loads((data / "reviews.json").read_text())
    file["reviews"].append(REVIEWS[1] | {"id": "other", "source": "google"})
    (data / "reviews.json").write_text(json.dumps(file))
    command = [action] if action != "hide-text" else ["hide", "--text"]
    correct(ctl, data, *command)
    path = written(ctl, data, kind, tmp_path / name)
    before = (data / "reviews.json").read_bytes()

    run = ctl("import", str(path), *options, "--data", str(data), "--json", "--verbose")

    assert 0 == run.returncode, run.stderr
    assert before == (data / "reviews.json").read_bytes()
    notes = json.loads(run.stdout.splitlines()[-1])["notes"]
    says = any(
        "1 review not removed, since hidden ones are not in an export" in note for note in notes
    )
    assert says is (action == "hide" and "--replace" in options)


@pytest.mark.parametrize("action", ["hide", "anonymize"])
def test_import_of_a_full_export_corrects_what_the_owner_changed_in_it(
    ctl: Ctl, tmp_path: Path, data: Path, action: str
) -> None:
    correct(ctl, data, action)
    table = exported(ctl, data, "--csv", "--all").replace(b"Jane Doe", b"Jane Dow")
    (tmp_path / "x.csv").write_bytes(table)
    run = ctl("import", str(tmp_path / "x.csv"), "--data", str(data), "--json")
    assert 1 == json.loads(run.stdout)["changed"], run.stderr
    assert "Jane Dow" in (data / "reviews.json").read_text()


def test_missing_format_or_data_is_named(ctl: Ctl, tmp_path: Path, data: Path) -> None:
    neither = ctl("export", "--data", str(data))
    nothing = ctl("export", "--csv", "--data", str(tmp_path))
    assert 2 == neither.returncode
    assert "say either --csv or --jsonl" in neither.stderr
    assert 1 == nothing.returncode
    assert "cannot read" in nothing.stderr
    assert "--data DIR" in nothing.stderr


@pytest.mark.parametrize("option", ["--csv", "--jsonl"])
def test_a_terminal_is_shown_what_would_steer_it(ctl: Ctl, tmp_path: Path, option: str) -> None:
    """A pipe gets the texts as they are."""
    text = "a\x1b]0;owned\x07\x9b2J\u202eb"
    review: dict[str, object] = {"id": "r", "author": "A", "text": text}
    (tmp_path / "reviews.json").write_text(json.dumps({"reviews": [review]}, ensure_ascii=False))
    screen = on_a_terminal(ctl.environment, "export", option, "--data", str(tmp_path))
    assert r"a\u001b]0;owned\u0007\u009b2J\u202eb" in screen
    assert all(line.isprintable() for line in screen.splitlines())
    if option == "--csv":
        assert text in exported(ctl, tmp_path, option).decode()
