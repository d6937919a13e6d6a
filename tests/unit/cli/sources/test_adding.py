"""``reviewsctl sources add`` changes nothing else in the configuration, and writes none that is faulty."""

from pathlib import Path

import msgspec
import pytest
import yaml

from reviewsctl.sources.adding import add, remove, with_source, without_source
from reviewsctl.terminal.errors import CommandError
from reviewsd.config.errors import ConfigError
from reviewsd.config.load import load

BASE = "# ours\nbase_url: https://reviews.example.com\ndata_dir: data # here\n"
SHOP = {"name": "shop", "type": "file", "path": "in/*.csv", "import": {"source": "shop"}}
OLD = {"name": "old", "type": "file", "path": "x"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "reviewsd.yaml"
    file.write_text(BASE)
    return file


@pytest.mark.parametrize(
    ("section", "others"),
    [
        ("", []),
        ("sources: []\n", []),
        ("sources: [ ]  # none yet\n", []),
        ("sources:\n  - {name: old, type: file, path: x}\n", [OLD]),
        (
            "sources:\n# words\n- name: old\n  type: file\n  path: x\nhub: {min_interval: 1}\n",
            [OLD],
        ),
    ],
    ids=["no section", "empty", "comment", "indented", "not indented"],
)
def test_source_is_added_to_the_list(section: str, others: list[object]) -> None:
    text = with_source(BASE + section, SHOP)
    assert [SHOP, *others] == yaml.safe_load(text)["sources"]
    assert set(BASE.splitlines()) <= set(text.splitlines())


@pytest.mark.parametrize(
    "section", ["sources: [{name: old, type: file, path: x}]\n", "sources:\n", "sources: null\n"]
)
def test_list_on_one_line_is_left_to_a_person(section: str) -> None:
    with pytest.raises(CommandError) as caught:
        with_source(BASE + section, SHOP)
    assert "- name: shop\n" in caught.value.remedy


SECTION = """\
sources:
  # of the shop
  - name: old
    type: file  # ours
    path: x

  # of the portal
  - {name: portal, type: url, url: "https://x.example/a.csv"}
hub: {min_interval: 1}  # slow
"""


@pytest.mark.parametrize(
    ("name", "remaining"),
    [
        ("old", ["# of the shop", "# of the portal", "name: portal", "min_interval: 1}  # slow"]),
        ("portal", ["# of the shop", "type: file  # ours", "# of the portal", "min_interval: 1}"]),
    ],
)
def test_source_is_removed_and_all_else_stays(name: str, remaining: list[str]) -> None:
    text = without_source(BASE + SECTION, name)
    document = yaml.safe_load(text)
    assert [{"old": "portal", "portal": "old"}[name]] == [it["name"] for it in document["sources"]]
    assert {"min_interval": 1} == document["hub"]
    assert not [words for words in (*BASE.splitlines(), *remaining) if words not in text]


@pytest.mark.parametrize("end", ["", "\n", "\n# the end\n", "\nhub: {min_interval: 1}\n"])
def test_last_source_leaves_an_empty_list(end: str) -> None:
    section = f"sources:  # none yet\n- name: old\n  type: file\n  path: x{end}"
    text = without_source(BASE + section, "old")
    assert [] == yaml.safe_load(text)["sources"]
    assert text.endswith(end.lstrip("\n"))
    assert [SHOP] == yaml.safe_load(with_source(text, SHOP))["sources"]


@pytest.mark.parametrize("section", ["sources: [{name: old, type: file, path: x}]\n", ""])
def test_source_that_is_in_no_list_of_lines_is_left_to_a_person(section: str) -> None:
    """The environment may have the list, too."""
    with pytest.raises(CommandError, match="not a list of lines"):
        without_source(BASE + section, "old")


def test_added_source_is_removed_again(file: Path) -> None:
    add(file, {}, "file", "shop", [("path", "x"), ("import.map.date", "Day")])
    remove(file, {}, "shop")
    assert () == load(file, {}).config.sources
    assert file.read_text().startswith(BASE)


def test_faulty_source_is_not_written(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    with pytest.raises(CommandError) as caught:
        add(file, {}, "file", "shop", [("pth", "x"), ("secret", "hush"), ("import.map", "id=Nr")])
    assert "nothing was written" == caught.value.title
    message = f"{caught.value.detail}\n{caught.value.remedy}"
    assert 'pth: unknown key "pth"' in message
    assert 'import.map: expected object, got string "id=Nr"; ' in message
    assert message.endswith("columns by --set import.map.KEY=VALUE.")
    assert "hush" not in message
    # its line would be in no file
    assert str(file) not in message
    assert BASE == file.read_text()

    add(file, {}, "file", "shop", [("path", "x"), ("import.verified", "true")])
    (source,) = load(file, {}).config.sources
    assert (str(tmp_path / "x"), True) == (source.path, source.import_.verified)
    assert 0o640 == file.stat().st_mode & 0o777
    assert [file] == list(tmp_path.iterdir())


def test_configuration_that_is_faulty_already_is_named_with_its_line(file: Path) -> None:
    file.write_text(f"{BASE}lsten: []\n")
    with pytest.raises(ConfigError) as caught:
        add(file, {}, "file", "shop", [("path", "x")])
    assert f"{file}:4:1: lsten" in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("import.verified=yes", True),
        ("import.verified=NO", False),
        ("import.verified=true", True),
        ("import.recommended=yes", True),
        ("enabled=no", False),
        ("import.location=22", "22"),
        ("import.source=2026", "2026"),
        ("import.name=Yes", "Yes"),
        ("import.map.id=1", "1"),
        ("import.public.Shown=true", "true"),
        ("import.scale=10", 10),
        ("import.scale=6-1", "6-1"),
        ("gone=1", 1),
        ("gone=keep", "keep"),
        ("requests_per_day=10", 10),
    ],
)
def test_value_is_taken_as_import_takes_it(file: Path, setting: str, expected: object) -> None:
    """A "yes" was refused as no boolean, and the number of a place as no text."""
    key, _, text = setting.partition("=")
    add(file, {}, "file", "shop", [("path", "x"), (key, text)])
    value: object = msgspec.to_builtins(load(file, {}).config.sources[0])
    for name in key.split("."):
        assert isinstance(value, dict)
        value = value[name]
    assert expected == value
