"""Any table or list of objects: columns are guessed by their names and shown, ``--map`` corrects them.

It does not say which platform it comes from, and rarely whether the reviews are verified. Exports of platforms that are plain tables are read by the same rules.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from reviewsctl.importing.errors import RowWithdrawnError
from reviewsctl.importing.format import RECOGNIZED, Fields, Format, Head, Parser, Row
from reviewsctl.importing.platforms.column_names import DISLIKED, LIKED
from reviewsctl.importing.platforms.columns import (
    Chosen,
    chosen,
    columns_of,
    dates_of,
    flat,
    has_columns,
    listed,
)
from reviewsctl.importing.publicity.signs import sign_of
from reviewsctl.importing.ratings import MAX_STARS
from reviewsctl.importing.review import PlatformReview, reply_of
from reviewsctl.importing.scales import ScaleOf, scale_of
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.values import address, normal, titled, truth, unhumped, word, words

_SOURCE: Final = "import"  # what reviews are from when no column says


class _Table:
    """One kind of table.

    Args:
        source: The platform; None where a column or the operator names it.
        unmapped: Our names that no column is taken for.
        best: The best rating; None where the table or the operator has to show it.
    """

    def __init__(
        self, source: str | None, unmapped: Collection[str], best: int | None = None
    ) -> None:
        self._source = source
        self._unmapped = unmapped
        self._best = best

    def parser(self, head: Head, settings: Settings) -> Parser:
        """Return the parser of its rows."""
        sample = columns_of(head)
        columns = self._chosen(sample, settings)
        single = {ours: names[0] for ours, names in columns.items()}
        dates, _ = dates_of(sample, settings, single["date"], single.get("reply_date"))
        scale, _ = self._scale(head, sample, single, settings)

        def read(row: Row) -> PlatformReview:
            fields = flat(row.fields) if head.shape == "json" else row.fields
            cells = {ours: fields.get(name) for ours, name in single.items()}
            reply = reply_of(
                _joined(fields, columns.get("reply", ())), cells.get("reply_date"), dates
            )
            source = word(cells.get("source")) or settings.source or self._source
            rating = scale(fields).stars(cells["rating"])
            return PlatformReview(
                source=(source or _SOURCE).lower(),
                key=word(cells.get("id")),
                author=" ".join(_words(fields, columns.get("author", ()))),
                rating=rating.stars,
                created=dates(cells["date"]),
                text=titled(cells.get("title"), _joined(fields, columns.get("text", ()))),
                avatar_url=address(cells["avatar"]) if "avatar" in cells else UNSET,
                source_url=address(cells["url"]) if "url" in cells else UNSET,
                reply=reply if "reply" in columns else UNSET,
                verified=truth(cells.get("verified")),
                notes=rating.notes if source else (*rating.notes, "no-source"),
            )

        return read

    def describe(self, head: Head, settings: Settings) -> Sequence[str]:
        """Describe the columns, for the operator."""
        sample = columns_of(head)
        columns = self._chosen(sample, settings)
        single = {ours: names[0] for ours, names in columns.items()}
        _, pattern = dates_of(sample, settings, single["date"], single.get("reply_date"))
        _, scale = self._scale(head, sample, single, settings)
        there = dict.fromkeys(name for row in sample for name in row)
        mapped = {name for names in columns.values() for name in names}
        pairs = [f"{ours} = {' + '.join(names)}" for ours, names in columns.items()]
        says = [f"columns: {listed(pairs)}", f"dates: {pattern}"]
        if scale:
            says.append(f"ratings: {scale}")
        status = single.get("status")
        signs = [name for name in there if sign_of(name) is not None or name == status]
        if signs := [name for name in signs if name != single["date"]]:
            says.append(f"whether public: {listed(signs)}")
        if unused := [name for name in there if name and name not in mapped and name not in signs]:
            says.append(f"not taken: {listed(unused)}")
        return says

    def _chosen(self, sample: Sequence[Fields], settings: Settings) -> Chosen:
        return chosen(sample, settings, self._unmapped, asks=self._best is None)

    def _scale(
        self, head: Head, sample: Sequence[Fields], single: Mapping[str, str], settings: Settings
    ) -> tuple[ScaleOf, str]:
        judge = settings.publicity.judging("", settings.columns.get("status"))
        public = [
            row for raw, row in zip(head.sample, sample, strict=True) if _is_public(judge, raw)
        ]
        return scale_of(
            public or sample, single, settings.scale, native=self._best, around=head.around
        )


def _is_public(judge: Callable[[Fields], object], row: Fields) -> bool:
    try:
        judge(row)
    except RowWithdrawnError:
        return False
    return True


def _words(fields: Fields, names: Sequence[str]) -> list[str]:
    return [text for text in (word(fields.get(name)) for name in names) if text is not None]


def _joined(fields: Fields, names: Sequence[str]) -> str | None:
    """Return the parts of a text as paragraphs; of its halves each begins with what it is."""
    parts = [
        f"{_heading(name)}: {text.strip()}" if _is_half(name) else text
        for name in names
        if (text := words(fields.get(name))) is not None
    ]
    return "\n\n".join(parts) if parts else None


def _is_half(name: str) -> bool:
    return any(normal(part) in LIKED | DISLIKED for part in (name, name.rpartition(".")[2]))


def _heading(name: str) -> str:
    """Return the name of a column as a heading: ``likedText`` is "Liked text"."""
    plain = unhumped(name.rpartition(".")[2]).replace("_", " ").strip(" ?:")
    return plain[:1].upper() + plain[1:]


def table(
    name: str,
    title: str,
    *,
    source: str,
    likeness: Callable[[Head], float],
    verification: str,
    unmapped: Collection[str] = (),
) -> Format:
    """Return the format of a platform's export that is a plain table, with stars.

    Args:
        name: What ``--from`` takes.
        title: For the operator.
        source: The platform.
        likeness: As ``Format.likeness``.
        verification: As ``Format.verification``.
        unmapped: Our names that no column is taken for.
    """
    rows = _Table(source, unmapped, MAX_STARS)
    return Format(
        name=name,
        title=title,
        leaves="",
        likeness=likeness,
        parser=rows.parser,
        verification=verification,
        describe_columns=rows.describe,
    )


_ANY = _Table(None, ())


def _any_table(head: Head) -> float:
    return RECOGNIZED if head.shape == "table" else 0


def _any_json(head: Head) -> float:
    """JSON counts as reviews if a rating and a date are among its members."""
    return RECOGNIZED if head.shape == "json" and head.sample and has_columns(head) else 0


FORMAT = Format(
    name="csv",
    title="a table with columns of its own",
    leaves="",
    likeness=_any_table,
    parser=_ANY.parser,
    verification="a column, or --set verified=yes",
    generic=True,
    describe_columns=_ANY.describe,
)
JSON = Format(
    name="json",
    title="JSON with members of its own",
    leaves="",
    likeness=_any_json,
    parser=_ANY.parser,
    verification="a member, or --set verified=yes",
    generic=True,
    describe_columns=_ANY.describe,
)
