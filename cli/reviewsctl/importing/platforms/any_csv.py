"""Any table or list of objects: columns are guessed by their names and shown, ``--map`` corrects them.

It does not say which platform it comes from, and rarely whether the reviews are verified, so the
operator has to. Exports of platforms that are plain tables are read by the same rules.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import UNSET

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Columns, Fields, Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.columns import (
    chosen,
    columns_of,
    dates_of,
    flat,
    has_columns,
    listed,
)
from reviewsctl.importing.publicity import sign_of
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import RECOGNISED
from reviewsctl.importing.values import address, titled, truth, word, words

_SOURCE: Final = "import"  # what reviews are from when no column says


class _Table:
    """How one kind of table is read.

    Args:
        source: Where its reviews were written; None where a column or the operator says it.
        unmapped: Our names that no column is taken for.
    """

    def __init__(self, source: str | None, unmapped: Collection[str]) -> None:
        self._source = source
        self._unmapped = unmapped

    def parser(self, head: Head, rules: Rules) -> Parser:
        """Turns its rows into entries."""
        sample = columns_of(head)
        columns = chosen(sample, rules.columns, self._unmapped)
        dates, _ = dates_of(sample, rules.columns, columns["date"], columns.get("reply_date"))
        if self._source is None and "verified" not in columns and rules.verified is None:
            raise SayMoreError(
                "no column says whether the reviews are verified",
                "Say --verified if they come from a platform that checks that authors are "
                "customers, else --unverified; or name the column: --map verified=COLUMN",
            )

        def read(row: Row) -> Found:
            fields = flat(row.fields) if head.shape == "json" else row.fields
            cells = {ours: fields.get(name) for ours, name in columns.items()}
            reply = reply_of(words(cells.get("reply")), cells.get("reply_date"), dates)
            return Found(
                source=self._written(cells, rules),
                key=word(cells.get("id")),
                author=cells.get("author"),
                rating=rules.scale.stars(cells["rating"], rules.counts),
                created=dates(cells["date"]),
                text=titled(cells.get("title"), cells.get("text")),
                avatar_url=address(cells["avatar"]) if "avatar" in cells else UNSET,
                source_url=address(cells["url"]) if "url" in cells else UNSET,
                reply=reply if "reply" in cells else UNSET,
                verified=truth(cells.get("verified")),
            )

        return read

    def says(self, head: Head, columns: Columns) -> Sequence[str]:
        """How its columns are understood."""
        sample = columns_of(head)
        found = chosen(sample, columns, self._unmapped)
        _, pattern = dates_of(sample, columns, found["date"], found.get("reply_date"))
        there = dict.fromkeys(name for row in sample for name in row)
        unused = [name for name in there if name and name not in found.values()]
        says = [
            f"columns: {listed([f'{ours} = {name}' for ours, name in found.items()])}",
            f"dates: {pattern}",
        ]
        if signs := [
            name for name in there if name and (sign_of(name) or name == found.get("status"))
        ]:
            says.append(f"whether public: {listed(signs)}")
        if unused:
            says.append(f"not taken: {listed(unused)}")
        return says

    def _written(self, cells: Fields, rules: Rules) -> str:
        source = word(cells.get("source")) or rules.columns.source or self._source
        if source is None:
            rules.counts["no-source"] += 1
            source = _SOURCE
        return source.lower()


def table(
    name: str,
    title: str,
    *,
    source: str,
    likeness: Callable[[Head], float],
    verification: str,
    unmapped: Collection[str] = (),
) -> Format:
    """A platform's export that is a plain table.

    Args:
        name: What ``--from`` takes.
        title: For the operator.
        source: Where its reviews were written.
        likeness: As ``Format.likeness``.
        verification: As ``Format.verification``.
        unmapped: Our names that no column is taken for.
    """
    rows = _Table(source, unmapped)
    return Format(
        name=name,
        title=title,
        leaves="",
        likeness=likeness,
        parser=rows.parser,
        verification=verification,
        says_columns=rows.says,
    )


_ANY = _Table(None, ())


def _any_table(head: Head) -> float:
    return RECOGNISED if head.shape == "table" else 0


def _any_json(head: Head) -> float:
    """JSON is anything: it is taken for reviews where a rating and a date are among its members."""
    return RECOGNISED if head.shape == "json" and head.sample and has_columns(head) else 0


FORMAT = Format(
    name="csv",
    title="a table with columns of its own",
    leaves="",
    likeness=_any_table,
    parser=_ANY.parser,
    verification="a column, or the options --verified and --unverified",
    generic=True,
    says_columns=_ANY.says,
)
JSON = Format(
    name="json",
    title="JSON with members of its own",
    leaves="",
    likeness=_any_json,
    parser=_ANY.parser,
    verification="a member, or the options --verified and --unverified",
    generic=True,
    says_columns=_ANY.says,
)
