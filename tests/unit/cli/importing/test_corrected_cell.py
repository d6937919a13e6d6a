"""Whatever cell of a table without ids the owner corrects, nothing that is withheld becomes public."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from reviewsd.api.texts import RUN, is_nameless, words_of
from tests.support.edited import Decision, decide, imported, published_reviews
from tests.support.shop import Shop


class Row(NamedTuple):
    """A row of the table."""

    day: str
    stars: int
    author: str
    text: str
    reply: str = ""

    @property
    def facts(self) -> tuple[str, int, str, str]:
        """What its id is made of."""
        return self.day, self.stars, self.author.strip() or "Anonymous", self.text.strip()

    def __str__(self) -> str:
        return f'{self.day},{self.stars},"{self.author}","{self.text}","{self.reply}"\n'


CELLS: dict[str, st.SearchStrategy[Any]] = {
    "day": st.sampled_from(["2026-03-14", "2026-03-15", "2026-03-16"]),
    "stars": st.integers(1, 5),
    "author": st.sampled_from(
        [
            "Ann Lee",
            "Ann L.",
            "ann  lee",
            "Anna Leigh",
            "Lee Ann",
            "Bo Li",
            "Guest",
            "Anonymous",
            "",
        ]
    ),
    "text": st.sampled_from(
        [
            "",
            "...",
            "Rude",
            "Rude staf",
            "Rude staff",
            "They broke the blue vase.",
            "They broke the blue vases, all of them, in our hall.",
            "They broak teh blue vaze.",
            "I can highly recommend them.",
            "Very quick, and I can highly recommend them to all.",
        ]
    ),
    "reply": st.sampled_from(["", "Sorry, Ann."]),
}
ROWS = st.builds(Row, **CELLS)
HEADER = "Date,Stars,Name,Review,Reply\n"


def is_public(shop: Shop, row: Row, action: str) -> bool:
    """Return whether a reader sees something of a row that the action withholds."""
    day, stars, author, text = row.facts
    for review in published_reviews(shop):
        if (review["date"], review["rating"]) != (day, stars):
            continue
        has_text = (review["text"] or "") == text
        if action == "anonymize":
            if has_text and review["author"] == author and not is_nameless(author):
                return True
        elif review["author"] == author and has_text and (action != "hide-text" or words_of(text)):
            return True
    return False


def is_known(row: Row, cell: str) -> bool:
    """Return whether a row says enough beside one cell: a note is all that helps otherwise."""
    words = words_of(row.text)
    match cell:
        case "author":
            return len(words) > 0
        case "day":
            return len(words) >= RUN
        case "stars":
            return len(words) > 0 or not is_nameless(row.author)
        case "text":
            return not is_nameless(row.author)
        case _:
            return True


@given(
    table=st.lists(ROWS, min_size=1, max_size=5, unique_by=lambda row: row.facts),
    added=st.lists(ROWS, max_size=3, unique_by=lambda row: row.facts),
    left_out=st.sets(st.integers(0, 4)),
    cell=st.sampled_from(sorted(CELLS)),
    action=st.sampled_from(["hide", "hide-text", "anonymize", "erase"]),
    replace=st.booleans(),
    data=st.data(),
)
def test_corrected_cell_makes_nothing_public(
    table: list[Row],
    added: list[Row],
    left_out: set[int],
    cell: str,
    action: Decision,
    data: st.DataObject,
    *,
    replace: bool,
) -> None:
    """Other rows come and go beside the corrected one, but none that is rather it."""
    old, *first = [*table, Row("2026-03-20", 5, "Zed Zeta", "Fine.")]
    new = old._replace(**{cell: data.draw(CELLS[cell], label=cell)})
    added = [row for row in added if row.day != old.day and row.text != old.text]
    second = [row for number, row in enumerate(first) if number not in left_out] + added
    assume({old.facts, new.facts}.isdisjoint(row.facts for row in [*first, *second]))
    assume(not any(words_of(row.text) == words_of(new.text) != [] for row in first))
    assume(new != old and is_known(old, cell))
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder, "data"))
        shop.folder.mkdir()
        imported(shop, str(old), *map(str, first), header=HEADER)
        (chosen,) = [
            review["id"]
            for review in shop.file["reviews"]
            if (review["date"], review["rating"], review["author"], review["text"] or "")
            == old.facts
        ]
        decide(shop, action, chosen)
        assert not is_public(shop, old, action)
        for _ in range(2):
            last = Row("2026-03-21", 5, "Zoe Zeta", "Fine.")  # so that none is empty
            rows = map(str, [*second, new, last])
            imported(shop, *rows, header=HEADER, replace=replace, yes=True)
            assert not is_public(shop, new, action)
