"""Fragments are read as runs and by name."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.naming import mention_key
from reviewsd.snapshot import layout
from reviewsd.snapshot.fragment_store import FragmentStore, FragmentStoreWriter
from reviewsd.snapshot.layout import File
from tests.support.columns import Insights, compiled, review

TEXTS = st.lists(st.binary(max_size=20), max_size=8)


def reopened(place: Path, writer: FragmentStoreWriter) -> tuple[FragmentStore, dict[str, File]]:
    files = writer.close()
    content, begins = (
        memoryview((place / name).read_bytes())
        for name in (layout.FRAGMENTS, layout.FRAGMENT_OFFSETS)
    )
    return FragmentStore(content, begins.cast("Q")), files


@given(first=TEXTS, second=TEXTS)
def test_rows_are_joined_by_commas(first: list[bytes], second: list[bytes]) -> None:
    with TemporaryDirectory() as name:
        writer = FragmentStoreWriter(Path(name), layout.FRAGMENTS, layout.FRAGMENT_OFFSETS)
        writer.put("one", first)
        writer.put("two", second)
        sections, files = reopened(Path(name), writer)
        for file, entry in files.items():
            content = Path(name, file).read_bytes()
            assert File(size=len(content), sha256=hashlib.sha256(content).hexdigest()) == entry
    for section, expected in (("one", first), ("two", second), ("three", [])):
        rows = sections.rows(section)
        assert len(expected) == len(rows)
        assert expected == [bytes(sections.at(row)) for row in rows]
        for start in range(len(rows)):
            for stop in range(start, len(rows) + 1):
                assert b",".join(expected[start:stop]) == bytes(sections.run(rows[start:stop]))


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["a", "A ", "a\x00", "a\x005", "5", "", "ß", "SS"]
)


@given(names=st.lists(NAMES, max_size=12), unused=st.lists(NAMES, max_size=6))
def test_name_finds_its_first_fragment(names: list[str], unused: list[str]) -> None:
    with TemporaryDirectory() as place:
        writer = FragmentStoreWriter(Path(place), layout.FRAGMENTS, layout.FRAGMENT_OFFSETS)
        writer.put("before", [b"x"])
        rows = [writer.put(section, [b"y"] * len(names)) for section in ("s", "ss")][-1]
        for row, name in zip(rows, names, strict=True):
            writer.name("ss", mention_key(name), row)
        sections, _ = reopened(Path(place), writer)
    keys = [mention_key(name) for name in names]
    first = sections.rows("ss").start
    for name in [*names, *unused]:
        key = mention_key(name)
        assert (first + keys.index(key) if key in keys else None) == sections.find("ss", name)
        assert sections.find("s", name) is None


def test_same_data_gives_the_same_files(tmp_path: Path) -> None:
    """The order of lists and members without a meaning does not matter."""
    services = [{"id": "b", "mention_count": 1}, {"mention_count": 2, "id": "a"}]
    changed = [dict(reversed(service.items())) for service in reversed(services)]
    manifests = []
    for number, given_services in enumerate((services, changed)):
        insights = cast("Insights", {"entities": {"services": given_services}})
        manifests.append(compiled(tmp_path / str(number), [review("a"), review("b")], insights))
    first, second = manifests
    for name in (layout.FRAGMENTS, layout.FRAGMENT_OFFSETS, layout.IDS, layout.INSIGHT_SPANS):
        assert first.files[name] == second.files[name]
