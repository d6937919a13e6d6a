"""Configuration and data are checked, and the configuration is shown, without a daemon."""

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from reviewsd.config import load, show
from reviewsd.config.schema import Config, keys
from reviewsd.offline.check import inspect, inspect_data
from reviewsd.offline.needed_files import files_fault
from tests.support.columns import review

ROOT = Path(__file__).parents[3]
REVIEW = review("01JGFJJZ00EXAMP1E000000001", date="2025-03-01", rating=4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    write(tmp_path, [REVIEW])
    (tmp_path / "reviewsd.yaml").write_text("base_url: https://r.example.com\ndata_dir: data\n")
    (tmp_path / "reviewsd.yaml").chmod(0o644)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, reviews: Sequence[object]) -> None:
    document = {"business": {"name": "B"}, "reviews": reviews}
    (folder / "data/reviews.json").write_text(json.dumps(document, indent=1))


def report(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the report of the configured folder, where the process is."""
    checked = inspect(None, None, environ or {}, lambda _: None)
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(checked))
    return document


def test_report_of_valid_files_has_their_facts(folder: Path) -> None:
    document = report()
    assert {
        "type": "result",
        "config": "reviewsd.yaml",
        "data_dir": str(folder / "data"),
        "problems": [],
        "problem_count": 0,
        "warnings": [],
        "warning_count": 0,
        "facts": {
            "business": "B",
            "reviews": 1,
            "first": "2025-03-01",
            "last": "2025-03-01",
            "average": 4.0,
            "stars": {"1": 0, "2": 0, "3": 0, "4": 1, "5": 0},
            "withheld": "",
            "insights": False,
            "analysed": 0,
            "uncovered": 0,
            "made": True,
        },
        "unread_addresses": [],
    } == document


def test_configuration_fault_has_its_place(folder: Path) -> None:
    (folder / "reviewsd.yaml").write_text("base_url: https://r.example.com\ndata_dirs: data\n")
    document = report()
    assert (2, None) == (document["problem_count"], document["data_dir"])
    assert {
        "file": "reviewsd.yaml",
        "line": 2,
        "column": 1,
        "path": "data_dirs",
        "reason": 'unknown key "data_dirs"; did you mean "data_dir"?',
        "lines": [
            'reviewsd.yaml:2:1: data_dirs: unknown key "data_dirs"; did you mean "data_dir"?',
            "    2 | data_dirs: data",
            "      | ^",
        ],
    } in document["problems"]


def test_faults_of_configuration_and_data_are_reported_together(folder: Path) -> None:
    """A missing ca_file, and a rating that is out of range."""
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write("hub: {callbacks: {ca_file: none.pem}}\n")
    write(folder, [{**REVIEW, "rating": 7}])
    document = report()
    assert [True, True] == [
        "ca_file" in document["problems"][0]["reason"],
        document["problem_count"] == 2,
    ]


def test_unreadable_data_is_a_problem(folder: Path) -> None:
    (folder / "data/reviews.json").unlink()
    (problem,) = report()["problems"]
    (line,) = problem["lines"]
    assert line.startswith(f"{folder}/data/reviews.json: there is none yet; to make it: reviewsctl")


def test_only_the_first_warnings_of_a_file_are_listed(folder: Path) -> None:
    write(folder, [{**REVIEW, "id": f"r{n}"} for n in range(25)])
    (folder / "reviewsd.yaml").chmod(0o664)
    document = report()
    assert (0, 26, 21) == (
        document["problem_count"],
        document["warning_count"],
        len(document["warnings"]),
    )
    assert document["warnings"][0]["lines"] == [
        "reviewsd.yaml: its group may write it; run: chmod g-w reviewsd.yaml"
    ]


def test_unusable_logo_is_a_warning(folder: Path) -> None:
    """It is left out, and everything else is published."""
    (folder / "data" / "logo.svg").write_text("<!DOCTYPE svg><svg/>")
    checked = report()
    (warning,) = [result for result in checked["warnings"] if "logo.svg" in result["file"]]
    assert "has a document type (<!DOCTYPE>) (line 1)" in warning["reason"]
    assert not checked.get("problems")


def test_expiring_security_txt_is_a_warning_with_its_place(folder: Path) -> None:
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write("security:\n  contact: [tel:+1]\n  expires: 2020-01-01T00:00:00Z\n")
    document = report()
    (warning,) = document["warnings"]
    assert (0, 1) == (document["problem_count"], document["warning_count"])
    assert ("security.expires", 5, 12) == (warning["path"], warning["line"], warning["column"])
    assert warning["lines"][0].startswith(
        "reviewsd.yaml:5:12: security.expires: security.txt expired on 2020-01-01; "
    )


# --- settings


def shown(folder: Path, environ: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the settings in effect by their keys."""
    settings = show.shown(load.load(folder / "reviewsd.yaml", environ or {})).settings
    return {setting.key: msgspec.to_builtins(setting) for setting in settings}


def test_all_keys_are_shown(folder: Path) -> None:
    settings = shown(folder)
    sections = {key.rpartition(".")[0] for key in keys(Config)}
    assert [key for key in keys(Config) if key not in sections] == list(settings)


@pytest.mark.parametrize(
    ("store", "safe"),
    [
        ("postgresql://u:geheim@h/db", "postgresql://u:***@h/db"),
        ("postgresql://h/db?password=geheim&x=1", "postgresql://h/db?password=***&x=1"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
    ],
)
def test_password_of_the_store_is_masked(folder: Path, store: str, safe: str) -> None:
    assert safe == shown(folder, {"REVIEWSD_HUB__STORE": store})["hub.store"]["value"]


def test_schema_accepts_the_shipped_file_only_with_valid_keys() -> None:
    schema = show.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    shipped = yaml.safe_load((ROOT / "config/reviewsd.yaml").read_text())
    jsonschema.validate(shipped, schema)
    for faulty in ({"prot": 1}, {"feeds": {"year": 0}}, {"hub": {"lease": {"default": "x"}}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**shipped, **faulty}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"base_url": "https://x"}, schema)


def test_faults_of_insights_yaml_have_their_place(folder: Path) -> None:
    (folder / "data" / "insights.yaml").write_text("technicians:\n- {name: Sam, alias: [S]}\n")
    document = report()
    (problem,) = document["problems"]
    assert (2, 15, "technicians[0].alias") == (problem["line"], problem["column"], problem["path"])
    assert 'did you mean "aliases"' in problem["reason"]
    assert problem["lines"][-1].endswith("^")


def test_reviews_without_insights_are_counted(folder: Path) -> None:
    (folder / "data" / "insights.json").write_text('{"per_review": {"gone": {}}}')
    document = report()
    facts = document["facts"]
    assert (1, 1, False) == (facts["analysed"], facts["uncovered"], facts["made"])


def test_places_of_withheld_words_in_given_insights_are_counted_and_named(folder: Path) -> None:
    """Nothing of them is served, but the file and its copies still have them."""
    hidden = {**REVIEW, "text": "Bob stole my ring and laughed about it", "author": "Jane Doe"}
    second = {**REVIEW, "id": "01JGFJJZ00EXAMP1E000000002", "text": "Fine."}
    write(folder, [hidden, second])
    entry = {"action": "hide", "reason": "defamation", "at": "2026-11-24T09:12:00Z"}
    corrections = {"version": 1, "reviews": {REVIEW["id"]: entry}}
    (folder / "data/corrections.json").write_text(json.dumps(corrections))
    insights = {"summary": "One says: Bob stole my ring.", "per_review": {REVIEW["id"]: {}}}
    (folder / "data/insights.json").write_text(json.dumps(insights, indent=1))

    document = report()
    warnings = {
        warning.get("path", ""): warning
        for warning in document["warnings"]
        if warning["file"].endswith("insights.json")
    }
    assert warnings[""]["reason"].startswith("2 places have words, names or ids of withheld")
    assert (2, "of a withheld review") == (
        warnings["$.summary"]["line"],
        warnings["$.summary"]["reason"],
    )
    assert any(path.startswith("$.per_review") for path in warnings)

    (folder / "data/insights.json").write_text(json.dumps({"summary": "Fine work."}))
    document = report()
    assert [] == [entry for entry in document["warnings"] if "withheld" in entry["reason"]]


def test_unreadable_file_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "data/insights.json"
    path.write_text("{}")
    real_open = os.open

    def open_(file: Path, flags: int) -> int:
        if file == path:
            raise OSError(errno.EIO, "Input/output error", str(file))
        return real_open(file, flags)

    monkeypatch.setattr(os, "open", open_)
    checked = inspect_data(folder / "data", None, lambda _: None)
    reasons = [(problem.file, problem.reason) for problem in checked.problems]
    assert [(str(path), "cannot read now: Input/output error")] == reasons


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("mode", "content", "reason"),
    [
        (None, "", "there is no {file}"),
        (0o644, "json://localhost\n", "{file} is open to all users; run: chmod o= {file}"),
        (0o600, "nothing\n", "no address that apprise knows; see https://appriseit.com/services/"),
        (0o600, "json://localhost\n", None),
    ],
)
def test_address_of_notices_with_which_no_daemon_starts_is_an_error(
    folder: Path, mode: int | None, content: str, reason: str | None
) -> None:
    """``check`` said that all was well, and the next restart failed."""
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write("notify: [{name: owner, url_file: owner.url, stars: 2}]\n")
    if mode is not None:
        (folder / "owner.url").write_text(content)
        (folder / "owner.url").chmod(mode)
    document = report()
    expected = (
        [] if reason is None else [f"notify: owner: {reason.format(file=folder / 'owner.url')}"]
    )
    assert expected == [problem["reason"] for problem in document["problems"]]


def test_library_that_no_address_can_do_without_is_missed_without_an_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that only the daemon can read was no reason to look for apprise."""
    monkeypatch.setitem(sys.modules, "apprise", None)
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write("notify: [{name: owner, stars: 2}]\n")
    document = report()
    [problem] = document["problems"]
    assert problem["reason"].startswith("notify: needs apprise, which cannot be used")


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_address_out_of_reach_is_a_fault_where_the_daemon_asks(folder: Path) -> None:
    """A reload accepted it, and the next start failed."""
    target = f"{{name: owner, url_file: {'x' * 300}/owner.url, stars: 2}}"
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write(f"notify: [{target}]\n")
    config = load.load(folder / "reviewsd.yaml", {}).config
    assert None is files_fault(config, {})
    fault = files_fault(config, {}, by_daemon=True) or ""
    assert fault.endswith("owner.url cannot be read: File name too long")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Logo.PNG", "not read; rename it to logo.png"),
        ("insights.yml", "not read; rename it to insights.yaml"),
        ("logo.jpg", "not read; save it as logo.svg, logo.png or logo.webp"),
        ("LOGO.jpeg", "not read; save it as logo.svg, logo.png or logo.webp"),
    ],
)
def test_file_not_read_for_its_name_is_reported(folder: Path, name: str, reason: str) -> None:
    (folder / "data" / name).write_bytes(b"x")
    (warning,) = report()["warnings"]
    assert (str(folder / "data" / name), reason) == (warning["file"], warning["reason"])


def test_file_beside_the_one_that_is_read_has_no_warning(folder: Path) -> None:
    """The original of a logo may stay there."""
    (folder / "data/logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (folder / "data/insights.yaml").write_text("")
    for name in ("logo.jpg", "Logo.svg", "insights.yml", "notes.txt", "logotype.png"):
        (folder / "data" / name).write_bytes(b"x")
    assert [] == report()["warnings"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root lists all folders")
def test_folder_that_cannot_be_listed_has_no_warning_of_names(folder: Path) -> None:
    (folder / "data").chmod(0o311)
    try:
        assert [] == report()["warnings"]
    finally:
        (folder / "data").chmod(0o755)
