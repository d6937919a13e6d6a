"""Every requirement that is cited has its place in docs/contributing/spec.

A citation names a file and sections (``mcp.md 2a-13 to 2a-15, 2c``; ``contract`` and ``seed`` need no
``.md``), or an id alone (``H2 to H4, D7``). Of a range both ends are looked up.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTRIBUTING = ROOT / "docs/contributing"
SPEC = {path.stem: path.read_text() for path in sorted((CONTRIBUTING / "spec").glob("*.md"))}
MODULES = sorted(
    path for top in ("reviewsd", "cli", "tests") for path in (ROOT / top).rglob("*.py")
)
PAGES = sorted(
    {*(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md"), *ROOT.glob("*.md")}
)

LETTERS = "ADEFHIORSTW"
POSTCODE = "H91"
"""Of Galway, in tests of addresses: nothing else in the code looks like a citation."""
SECTION = r"\d+(?:[a-c](?:-\d+)?|(?:\.\d+)*)(?![\w.]*\w)"
FILE = re.compile(
    rf"(?<![\w/.-])(?:(?P<file>[a-z-]+)\.md`?|(?P<bare>[Cc]ontract|[Ss]eed)) ?\s?"
    rf"(?P<sections>{SECTION}(?:(?:,? and | to (?=\d+[.a-c])|[,;] |-){SECTION})*)"
)
ID = re.compile(rf"(?<![\w%/.#&+-])([{LETTERS}][1-9]\d?)(?:-([{LETTERS}][1-9]\d?))?(?![\w%-]|:\d)")
HEADING = re.compile(r"^#{2,3} (\d[\w.]*) ", re.MULTILINE)
ROW = re.compile(rf"^\| ([{LETTERS}]\d+|\d[abc]-\d+) \||\*\*(T\d)\*\*", re.MULTILINE)


def defined() -> Counter[str]:
    """Count the ids of rows and the sections (``file section``) of docs/contributing/spec."""
    definitions = Counter[str]()
    for file, text in SPEC.items():
        definitions.update(f"{file} {number}" for number in HEADING.findall(text))
        for row, threat in ROW.findall(text):
            definitions[f"{file} {row}" if row[:1].isdigit() else row or threat] += 1
    return definitions


DEFINED = defined()


def cited(text: str) -> Iterator[str]:
    """Yield the citations of a text, in the form of ``defined``."""
    text = re.sub(r"\s+(?:# )?", " ", text)
    for match in FILE.finditer(text):
        file = (match["file"] or match["bare"]).lower()
        yield from (f"{file} {section}" for section in re.findall(SECTION, match["sections"]))
    yield from filter(None, chain(*ID.findall(text)))


def test_each_id_is_defined_once() -> None:
    assert [] == [name for name, times in DEFINED.items() if times > 1]
    assert {"H2", "S17", "O9", "D7", "R3", "W13", "F18", "E4", "T8", "I10"} <= set(DEFINED)
    assert {"contract 3", "mcp 5.4", "mcp 2a-15", "seed 4.7", "performance 2.9"} <= set(DEFINED)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(H2 to H4, D7; O1-O4)", ["H2", "H4", "D7", "O1", "O4"]),
        ("mcp.md 2a-13 to 2a-15, 2c; S17", ["mcp 2a-13", "mcp 2a-15", "mcp 2c", "S17"]),
        ("seed 2 and 4,\n    contract 2-3", ["seed 2", "seed 4", "contract 2", "contract 3"]),
        ("T12:00, 2025-W01-1, %F0, RFC 9110 13.1", []),
    ],
)
def test_citation_names_each_of_its_sections(text: str, names: list[str]) -> None:
    assert names == list(cited(text))


@pytest.mark.parametrize("files", [MODULES, PAGES], ids=["modules", "pages"])
def test_citation_has_a_definition(files: list[Path]) -> None:
    assert files
    assert [] == [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in cited(file.read_text())
        if name not in {*DEFINED, POSTCODE}
    ]


def test_decisions_are_numbered_and_listed() -> None:
    """Each number once, in its row of the index; what the documents cite is among them."""
    folder = CONTRIBUTING / "decisions"
    index = (folder / "README.md").read_text()
    headings = [
        (int(number), title, page.name)
        for page in folder.glob("*.md")
        for number, title in re.findall(r"^## (\d+)\. (.+)$", page.read_text(), re.MULTILINE)
    ]
    rows = re.findall(r"^\| (\d+) \| \[(.+)\]\((\w+\.md)#", index, re.MULTILINE)
    named = {
        int(number_) for text in SPEC.values() for number_ in re.findall(r"\bdecision (\d+)", text)
    }

    assert headings
    assert sorted(headings) == [(int(number), title, name) for number, title, name in rows]
    numbers = [int(number) for number, _, _ in rows]
    assert numbers == sorted(set(numbers))
    assert named <= {number for number, _, _ in headings}
