"""Whatever an owner does to a table, in any order, what is withheld stays so, and no other review is lost."""

import contextlib
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.undo import undo
from tests.support.edited import HEADER, Decision, decide, imported, published_reviews
from tests.support.shop import Shop

SECRET: Final = "my old aunt"
CELLS: Final[dict[str, list[Any]]] = {
    "name": ["Ann Lee", "Anna Leigh", "Ann L.", "Annabel Lee", "Zoe Q. Lee"],
    "text": [
        f"They broke the blue vase of {SECRET} and left.",
        f"They broke the blue vases of {SECRET} and left.",
        f"They broke the blue vase of {SECRET} and left at noon.",
        f"Yesterday they broke the blue vase of {SECRET} and left.",
    ],
    "day": ["2026-03-14", "2026-03-15", "2026-03-12"],
    "stars": [1, 2, 5],
}
FIRST: Final = {name: values[0] for name, values in CELLS.items()}
OTHERS: Final = ("2026-03-16{},5,Bo Li,All fine and quick.\n", "2026-03-10{},4,Cy Orr,\n")

Step = tuple[Literal["cell", "cells", "ids", "row", "undo"], Any]
STEPS: Final = st.one_of(
    *(
        st.tuples(st.just("cell"), st.fixed_dictionaries({n: st.sampled_from(CELLS[n])}))
        for n in CELLS
    ),
    st.tuples(
        st.just("cells"), st.fixed_dictionaries({n: st.sampled_from(CELLS[n]) for n in CELLS})
    ),
    st.tuples(st.sampled_from(["ids", "row"]), st.booleans()),
    st.tuples(st.just("undo"), st.integers(1, 3)),
)


class Table:
    """A table of three rows, with ids from some step on, and maybe with times of day."""

    def __init__(self, *, has_ids: bool, time: str) -> None:
        self.row: dict[str, Any] = FIRST
        self.has_row = True
        self.has_ids = has_ids
        self.time = time
        self.is_known = has_ids

    def take(self, step: Step, *, is_known: bool) -> None:
        """Change the table; all cells at once only of a row that is known."""
        match step:
            case "cell", cells:
                self.row = self.row | cells
            case "cells", cells if is_known:
                self.row = self.row | cells
            case "ids", has_ids:
                self.has_ids = self.has_ids or has_ids
            case "row", has_row:
                self.has_row = has_row
        self.is_known = self.is_known or (self.has_ids and self.has_row)

    def imported(self, shop: Shop, *, replace: bool, **options: str) -> None:
        row = "{day}{time},{stars},{name},{text}\n".format(**self.row, time=self.time)
        rows = [(1, row)] * self.has_row
        rows += [(number, other.format(self.time)) for number, other in enumerate(OTHERS, start=2)]
        texts = [f"{number},{text}" if self.has_ids else text for number, text in rows]
        header = f"id,{HEADER}" if self.has_ids else HEADER
        imported(shop, *texts, header=header, replace=replace, yes=True, **options)


def shown(shop: Shop, action: str) -> list[Any]:
    """The published reviews that show what the action withholds."""
    reviews = [review for review in published_reviews(shop) if SECRET in (review["text"] or "")]
    if action == "anonymize":
        return [review for review in reviews if review["author"] != "Anonymous"]
    return reviews


@given(
    steps=st.lists(
        st.tuples(STEPS, st.booleans(), st.sampled_from([{}, {"names": "short"}])),
        min_size=1,
        max_size=6,
    ),
    action=st.sampled_from(["hide", "hide-text", "anonymize", "erase"]),
    has_ids=st.booleans(),
    names=st.sampled_from([{}, {"names": "short"}]),
    time=st.sampled_from(["", "T10:00:00"]),
)
def test_what_is_withheld_stays_so_in_any_order_of_steps(
    steps: list[tuple[Step, bool, dict[str, str]]],
    action: Decision,
    names: dict[str, str],
    time: str,
    *,
    has_ids: bool,
) -> None:
    """Of a review that is erased, or that has left the file, no words are kept: all its cells are corrected at once only
    where an import has read the id of an erased one.
    """
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder, "data"))
        shop.folder.mkdir()
        table = Table(has_ids=has_ids, time=time)
        table.imported(shop, replace=True, **names)
        (chosen,) = [
            review["id"] for review in shop.file["reviews"] if SECRET in (review["text"] or "")
        ]
        decide(shop, action, chosen)
        for step, replace, options in steps:
            if step[0] == "undo":
                with contextlib.suppress(ImportRefusedError):  # there are fewer versions
                    undo(shop.folder / "reviews.json", step[1], shop.now)
            else:
                has_words = any(SECRET in (review["text"] or "") for review in shop.file["reviews"])
                table.take(step, is_known=table.is_known if action == "erase" else has_words)
                table.imported(shop, replace=replace, **options)
            assert [] == shown(shop, action)
            ids = [review["id"] for review in shop.file["reviews"]]
            assert len(ids) == len(set(ids))
            authors = {review["author"] for review in published_reviews(shop)}
            assert 2 == len(authors & {"Bo Li", "Bo L.", "Cy Orr", "Cy O."})
