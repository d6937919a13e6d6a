"""What an undo says is what happens, after any imports and undos before it."""

import tempfile
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.undo import listing, undo
from tests.support.shop import Shop, google

Texts = dict[str, str]
"""Texts of reviews, by their authors."""

AUTHORS: Final = ("Ann", "Bo", "Cy")
STEPS: Final = st.one_of(
    st.dictionaries(st.sampled_from(AUTHORS), st.sampled_from(["Fine", "Bad"]), min_size=1),
    st.integers(1, 4),
)


def texts(shop: Shop) -> Texts:
    return {author: review["text"] for author, review in shop.reviews.items()}


def imported(shop: Shop, number: int, rows: Texts) -> str:
    """Import an export, and return its name."""
    export = google(
        shop.folder / f"{number}.json",
        *(
            {
                "author": author,
                "at": f"2026-01-0{AUTHORS.index(author) + 1}T10:00:00Z",
                "text": text,
                "edited": f"2026-03-{number + 1:02}T10:00:00Z",
            }
            for author, text in rows.items()
        ),
    )
    shop.imported(export, yes=True)
    return f"the import of {number}.json"


def name(change: object) -> str:
    """Return the name of a change, without its time and counts."""
    return str(change).partition(" (")[0]


@given(steps=st.lists(STEPS, min_size=2, max_size=8))
def test_undo_says_which_version_is_there_in_any_order_of_steps(steps: list[Texts | int]) -> None:
    """Its counts are those of the files, and the version that it names is the one that the change made."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        target = shop.folder / "reviews.json"
        there = imported(shop, 0, {"Ann": "Fine"})
        contents = {there: texts(shop)}
        for number, step in enumerate(steps, start=1):
            before, change_before = texts(shop), there
            if isinstance(step, dict):
                change = imported(shop, number, step)
                if texts(shop) != before:
                    there, contents[change] = change, texts(shop)
                continue
            (document, _) = listing(target)
            versions = document["versions"]
            assert isinstance(versions, list)
            assert there == name(document["change"])
            assert sorted([there, *(name(version["change"]) for version in versions)]) == sorted(
                contents
            )
            if step > len(versions):
                continue
            result = undo(target, step, shop.now)
            there, after = name(result.change), texts(shop)
            assert there == name(versions[step - 1]["change"])
            assert contents[there] == after
            assert (name(result.change_before), result.total) == (change_before, len(after))
            assert (result.back, result.changed, result.gone) == (
                len(after.keys() - before.keys()),
                sum(before[author] != after[author] for author in after.keys() & before.keys()),
                len(before.keys() - after.keys()),
            )
