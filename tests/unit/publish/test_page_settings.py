"""Warnings and faults of the pages' configuration."""

import datetime
import json
from pathlib import Path

import pytest

from reviewsd.config.schema import Config, Pages, Security
from reviewsd.domain.dataset import load
from reviewsd.publish.page_settings import warnings
from reviewsd.publish.site import template_fault

NOW = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)
DATASET = load(json.dumps({"business": {"name": "Acme"}, "reviews": []}).encode(), None)


def config(folder: Path | None = None, **pages: str) -> Config:
    templates = None if folder is None else str(folder)
    return Config(
        base_url="https://a.example",
        data_dir=Path("/nowhere"),
        pages=Pages(templates_dir=templates, **pages),  # type: ignore[arg-type]  # all are texts
    )


def test_default_settings_have_no_warning() -> None:
    assert [] == list(warnings(config(), NOW))


def test_unreadable_accent_is_warned_of() -> None:
    text = (
        "words in #ffcc00 would be hard to read (contrast 1.4, wanted 4.5); "
        "the pages have #846a00 in its place"
    )
    assert [("pages.accent", text)] == list(warnings(config(accent="#FFCC00"), NOW))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "home.html",
            "{{ a",
            "home.html:1: unexpected end of template, expected 'end of print statement'.",
        ),
        (
            "home.html",
            "{% if aspects %}\n{{ nobody }}{% endif %}",
            "home.html:2: UndefinedError: 'nobody' is undefined",
        ),
        ("field.html", "{{ 1/0 }}", "field.html:1: ZeroDivisionError: division by zero"),
        ("words.json", '{"skip": 1}', "words.json: Expected `str`, got `int` - at `$[...]`"),
    ],
)
def test_fault_names_the_template(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text)
    assert f"{tmp_path}/{expected}" == template_fault(config(tmp_path), DATASET)


def test_other_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / ".home.html.swp").write_text("{{ a")
    (tmp_path / "README").write_text("{{ a")
    assert None is template_fault(config(tmp_path), DATASET)


def test_missing_folder_is_a_fault(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert f"pages.templates_dir: cannot read {missing}: no such folder" == template_fault(
        config(missing), DATASET
    )


def security(expires: datetime.datetime) -> Config:
    section = Security(contact=("mailto:a@b.example",), expires=expires)
    return Config(base_url="https://a.example", data_dir=Path("/data"), security=section)


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (-1, ["security.txt expired on 2026-11-21; look its contacts over and set a later time"]),
        (29, ["security.txt expires on 2026-12-21; look its contacts over and set a later time"]),
        (30, []),
        (300, []),
    ],
)
def test_security_txt_is_warned_of_a_month_before_it_expires(days: int, texts: list[str]) -> None:
    expiring = security(NOW + datetime.timedelta(days=days))
    assert [("security.expires", text) for text in texts] == list(warnings(expiring, NOW))
