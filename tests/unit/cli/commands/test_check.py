"""``reviewsctl check`` and what it shares with ``config``: real files, no daemon (R8)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from reviewsctl.importing.errors import ImportRefusedError
from reviewsd.offline.check import inspect_data
from tests.support.columns import review
from tests.support.commands import Ctl, on_a_terminal
from tests.support.shop import Shop

pytestmark = pytest.mark.processes

REVIEW = review("01JGFJJZ00EXAMP1E000000001", date="2025-03-01", rating=4)


@pytest.fixture
def folder(tmp_path: Path, ctl: Ctl) -> Path:
    folder = tmp_path / "shop"
    (folder / "data").mkdir(parents=True)
    write(folder, [REVIEW])
    config = folder / "reviewsd.yaml"
    config.write_text("base_url: https://r.example.com\ndata_dir: data\nstate_dir: state\n")
    config.chmod(0o644)
    ctl.environment["REVIEWSD_CONFIG"] = str(config)
    return folder


def write(folder: Path, reviews: Sequence[object]) -> None:
    document = {"business": {"name": "B\u001b[1m"}, "reviews": reviews}
    (folder / "data/reviews.json").write_text(json.dumps(document, indent=1))


def test_good_files_are_summed_up(ctl: Ctl, folder: Path) -> None:
    done = ctl("check")
    assert (0, "") == (done.returncode, done.stderr)
    assert [
        f"configuration  {folder}/reviewsd.yaml",
        f"data           {folder}/data",
        r"business       B\u001b[1m",
        "reviews        1, 2025-03-01 to 2025-03-01, 4.00 stars on average",
        "stars          0 x 5, 1 x 4, 0 x 3, 0 x 2, 0 x 1",
        "insights       made from the reviews; see: reviewsctl insights",
        "result         all is well",
    ] == done.stdout.splitlines()
    assert "" == ctl("check", "--quiet").stdout


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_addresses_that_only_the_daemon_can_read_are_named(ctl: Ctl, folder: Path) -> None:
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write("notify: [{name: owner, stars: 2}]\n")
    unread = "the addresses of owner are not checked, as only the daemon can read them"
    assert f"notices        {unread}\n" in ctl("check").stdout


def test_one_hidden_review_is_information_two_are_a_warning(ctl: Ctl, folder: Path) -> None:
    """A warning that never ends about one piece of spam teaches to ignore warnings."""
    reviews = [
        {
            **REVIEW,
            "id": f"01JGFJJZ00EXAMP1E0000000{n:02}",
            "author": f"A{n}",
            "rating": 1 if n < 2 else 5,
        }
        for n in range(50)
    ]
    write(folder, reviews)
    ctl("reviews", "hide", "E000000000", "--reason", "spam", "--yes")
    done, doctor = ctl("check", "--strict"), ctl("doctor", "--offline").stdout
    assert 0 == done.returncode
    note = "1 of 50 reviews is not shown by the owner (1 spam)"
    assert f"corrections    {note}\n" in done.stdout
    assert "result         all is well\n" in done.stdout
    assert "ok    data            49 reviews, valid\n" in doctor
    ctl("reviews", "hide", "E000000001", "--reason", "spam", "--yes")
    done, doctor = ctl("check", "--strict"), ctl("doctor", "--offline").stdout
    assert 5 == done.returncode
    assert "those hidden have over a star less than those shown" in done.stdout
    assert "warn  data            48 reviews, valid, with 1 warning\n" in doctor


def test_no_reviews_are_good_too(ctl: Ctl, folder: Path) -> None:
    write(folder, [])
    done = ctl("check")
    assert 0 == done.returncode
    assert "reviews        none yet; to import them: reviewsctl import FILE\n" in done.stdout


def test_problems_are_shown_at_their_place(ctl: Ctl, folder: Path) -> None:
    write(folder, [{**REVIEW, "rating": 7, "id": f"r{n}"} for n in range(25)])
    done = ctl("check", "--quiet")
    lines = done.stdout.splitlines()
    assert (5, "") == (done.returncode, done.stderr)
    assert [
        f"{folder}/data/reviews.json:9:14: $.reviews[0].rating (id r0): expected 1..5, got 7",
        '    9 |    "rating": 7,',
        "      |              ^",
    ] == lines[:3]
    assert "... and at least 5 more" in lines
    assert "result         25 problems" == lines[-1]


def test_warnings_are_problems_only_when_strict(ctl: Ctl, folder: Path) -> None:
    write(folder, [{**REVIEW, "id": f"r{n}"} for n in range(21)])
    done = ctl("check")
    assert 0 == done.returncode
    assert done.stdout.startswith(f"warning: {folder}/data/reviews.json:7:10: $.reviews[0].id")
    assert "... and 1 more warning\n" in done.stdout
    assert "result         21 warnings\n" in done.stdout
    strict = ctl("check", "--strict")
    assert 5 == strict.returncode
    assert strict.stdout.startswith(f"{folder}/data/reviews.json:7:10:")


def test_a_wrong_configuration_leaves_the_data_unchecked(ctl: Ctl, folder: Path) -> None:
    (folder / "reviewsd.yaml").write_text("base_url: https://r.example.com\ndata: 1\n")
    done = ctl("check")
    assert 5 == done.returncode
    assert "data           not checked" in done.stdout
    assert "result         2 problems" in done.stdout


def test_data_alone_needs_no_configuration(ctl: Ctl, folder: Path, tmp_path: Path) -> None:
    del ctl.environment["REVIEWSD_CONFIG"]
    done = ctl("check", "--data", str(folder / "data"), folder=tmp_path)
    assert (0, f"data           {folder}/data") == (done.returncode, done.stdout.splitlines()[0])


def test_programs_get_the_report(ctl: Ctl, folder: Path) -> None:
    write(folder, [{**REVIEW, "rating": 7}])
    done = ctl("check", "--json")
    report = json.loads(done.stdout)
    assert (5, "", 1) == (done.returncode, done.stderr, report["problem_count"])
    assert "$.reviews[0].rating" == report["problems"][0]["path"]


def test_large_data_shows_how_far_it_is(ctl: Ctl, folder: Path) -> None:
    write(folder, [{**REVIEW, "id": f"r{n}"} for n in range(20_000)])
    assert "20000/20000" in on_a_terminal(ctl.environment, "check")
    screen = on_a_terminal(ctl.environment, "check", "--quiet")
    assert "" == screen


# --- config


def test_value_is_shown_with_its_origin(ctl: Ctl, folder: Path) -> None:
    ctl.environment["REVIEWSD_CACHE__MAX_AGE"] = "9"
    ctl.environment["REVIEWSD_HUB__STORE"] = "postgresql://u:geheim@h/db"
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    lines = ctl("config", "show", "--origin").stdout.splitlines()
    assert [
        ["base_url: https://r.example.com", f"{folder}/reviewsd.yaml:1"],
        [f"data_dir: {folder}/data", f"{folder}/reviewsd.yaml:2"],
        [f"state_dir: {folder}/state", f"{folder}/reviewsd.yaml:3"],
        ["cache.max_age: 9", "$REVIEWSD_CACHE__MAX_AGE"],
        ["hub.store: postgresql://u:***@h/db", "$REVIEWSD_HUB__STORE"],
    ] == [[part.strip() for part in line.split("  # ")] for line in lines]


def test_defaults_are_shown_when_asked_for(ctl: Ctl, folder: Path) -> None:
    lines = ctl("config", "show", "--defaults").stdout.splitlines()
    assert "hub.delivery.retry_delays: [60.0, 1800.0]" in lines
    assert "data.max_shrink: null" in lines
    origin = ctl("config", "show", "--defaults", "--origin").stdout
    assert "# default\n" in origin
    complete = json.loads(ctl("config", "show", "--json").stdout)
    assert len(lines) == len(complete["settings"])


@pytest.mark.parametrize("option", ["--defaults", "--origin"])
def test_option_that_json_would_ignore_is_refused(ctl: Ctl, folder: Path, option: str) -> None:
    done = ctl("config", "show", "--json", option)
    assert 2 == done.returncode
    assert "--json has all keys and origins" in done.stderr.replace("\n", " ")


def test_shown_configuration_is_yaml_of_the_same_values(folder: Path, ctl: Ctl) -> None:
    """A color without quotes is a remark, and so on."""
    with (folder / "reviewsd.yaml").open("a") as file:
        file.write('pages: {accent: "#225588"}\nserver: {allowed_hosts: [a.example, "10.0"]}\n')
    text = ctl("config", "show", "--defaults").stdout
    complete = json.loads(ctl("config", "show", "--json").stdout)
    assert {entry["key"]: entry["value"] for entry in complete["settings"]} == yaml.safe_load(text)


def test_wrong_configuration_is_reported_with_the_remedy(ctl: Ctl, folder: Path) -> None:
    (folder / "reviewsd.yaml").write_text("base_url: x\ndata_dir: data\n")
    done = ctl("config", "show")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(
        f"Error: the configuration cannot be used: {folder}/reviewsd.yaml:1:11: base_url"
    )
    assert done.stderr.endswith("See all: reviewsctl check\n")


def test_schema_describes_every_key(ctl: Ctl, folder: Path) -> None:
    schema = json.loads(ctl("config", "schema").stdout)
    assert [] == [
        f"{name}.{key}"
        for name, section in schema["$defs"].items()
        for key, member in section["properties"].items()
        if not member.get("description") and "$ref" not in member  # a section
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"reviews": [{"id": "a\n"}]}',
        '{"reviews": [',
        '{"reviews": [1 2]}',
        "{'a': 1}",
        "{} x",
        "{\n]",
    ],
)
def test_import_says_of_broken_json_what_check_says(tmp_path: Path, text: str) -> None:
    """Two decoders named other places and other reasons."""
    (tmp_path / "reviews.json").write_text(text)
    problem, *_ = inspect_data(tmp_path, None, lambda _: None).problems
    (tmp_path / "data").mkdir()
    with pytest.raises(ImportRefusedError) as refused:
        Shop(tmp_path / "data").imported(tmp_path / "reviews.json")
    place = f"reviews.json:{problem.line}:{problem.column}"
    assert f"{place}: {problem.reason}" in str(refused.value)
    assert problem.reason.startswith("invalid JSON: ")
