"""``reviewsctl insights``: what the insights say, and why (insights.md 8)."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.import_ import ConfigFile, DataDir
from reviewsctl.daemon.session import Json
from reviewsctl.terminal.output import EXIT_FAILED, complain, failing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.reports import Entity, Explanation, Insights

FILE: Final = "insights.json"

EPILOG: Final = """\b
    Examples:
      reviewsctl insights
      reviewsctl insights --data export/ --json | jq .insights.aspects
      reviewsctl insights --explain g-4f0c2a
      reviewsctl insights --write"""

_BAR: Final = 20  # characters of all mentions being positive
_SHOWN: Final = 10  # entries of each list


def insights(
    *,
    config: ConfigFile = None,
    data: DataDir = None,
    explain: Annotated[
        str,
        typer.Option(
            metavar="ID", show_default=False, help="Why this review has the labels it has."
        ),
    ] = "",
    write: Annotated[
        bool, typer.Option("--write", help=f"Write what the rules make to {FILE}.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help=f"With --write: over the {FILE} there is.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Shows what the insights say, and why.

    No daemon has to run. Shown are those of insights.json where there is one, else those that are made from the reviews by rules,
    as the daemon makes them. insights.yaml beside reviews.json names technicians, services and
    further aspects. With --write the owner gets a file to edit, which is served instead from then
    on; the old one is kept as insights.json.bak.
    """
    if (bool(explain) and write) or (replace and not write):
        raise typer.BadParameter(
            "--explain and --write exclude each other; --replace needs --write"
        )
    from reviewsctl.daemon import program  # 25 ms, see main
    from reviewsctl.terminal.escaping import printable

    with failing(as_json=as_json):
        if explain:
            told = program.explanation(config, data, explain)
            text, lines = told.text, _explained(told.value)
        else:
            answer = program.insights(config, data, made=write)
            text, lines = answer.text, _shown(answer.value)
            if write:
                lines = iter([_written(Path(answer.value.data_dir), text, replace=replace)])
    if as_json and not write:
        typer.echo(text)
        return
    for line in lines:
        typer.echo(printable(line))


def _shown(found: "Insights") -> "Iterator[str]":
    told, origin = found.insights, found.origin
    yield f"{'data':<15}{found.data_dir}"
    yield f"{'insights':<15}{'none' if origin is None else origin.line()}"
    if told.summary is not None:
        yield f"{'summary':<15}{told.summary}"
    if told.temporal.trend is not None:
        yield f"{'trend':<15}{told.temporal.trend}"
    for heading, entities, barred in (
        ("aspects", told.aspects, True),
        ("people", told.entities.technicians, True),
        ("services", told.entities.services, True),
        ("problems", told.entities.problems, False),
    ):
        if entities:
            yield ""
            yield heading
            for each in entities[:_SHOWN]:
                yield f"  {each}" if isinstance(each, str) else _row(each, barred=barred)
            if (more := len(entities) - _SHOWN) > 0:
                yield f"  and {more:,} more"


def _row(entity: "Entity", *, barred: bool) -> str:
    count, share = entity.mention_count, entity.positive_pct
    row = f"  {entity.called[:28]:<28}  {'' if count is None else f'{count:,}':>7}"
    if not barred or share is None or not count:
        return row.rstrip()
    filled = round(_BAR * share / 100)
    return f"{row}  {'█' * filled}{'░' * (_BAR - filled)}  {share:3.0f} % positive"


def _explained(found: "Explanation") -> "Iterator[str]":
    yield f"{found.id}, {found.rating} stars" + (
        "" if found.english or not found.clauses else ", not English: taken by its stars alone"
    )
    for clause in found.clauses:
        yield ""
        yield clause.text
        if clause.words:
            words = ", ".join(f"{word} {valence:+.1f}" for word, valence in clause.words)
            yield f"  words    {words}; together {clause.score:+.2f}"
        if clause.contrasted:
            yield "  contrast its sentence has a contrast word"
        if clause.set_aside is not None:
            yield f"  left out it {clause.set_aside}"
        for aspect in clause.aspects:
            matched = ", ".join(f'"{each}"' for each in aspect.matched)
            decided = aspect.sentiment or "not counted"
            yield f"  {aspect.aspect}: {decided}, by {matched}; {aspect.why}"


def _written(folder: Path, text: str, *, replace: bool) -> str:
    """Write the insights; says what was done."""
    import json  # see main

    from reviewsctl.files.folders import opened
    from reviewsctl.importing.errors import ImportRefusedError
    from reviewsctl.importing.writing import draft

    path = folder / FILE
    if os.path.lexists(path) and not replace:
        _refuse(f"{path} is there already", "Replace it with --replace; it is kept as .bak.")
    content = json.dumps(json.loads(text)["insights"], indent=2, ensure_ascii=False)
    try:
        with opened(folder) as place, draft(place, FILE) as new:
            new.file.write(content.encode() + b"\n")
            backup = new.commit()
    except OSError as fault:
        _refuse(f"cannot write {path}: {fault.strerror}", "Use sudo, or another --data DIR.")
    except ImportRefusedError as refusal:
        _refuse(refusal.detail, "Run it again.")
    kept = "" if backup is None else f", the old one is {backup}"
    return f"wrote {path}{kept}; it is served as it is from now on, also when reviews are added"


def next_steps(reviews: Path) -> "Iterator[str]":
    """What to do after an import into this file."""
    yield "next: reviewsctl check, then reviewsctl reload (a running daemon notices by itself)"
    if not os.path.lexists(reviews.with_name(FILE)):
        yield f"insights are made from the reviews; see: reviewsctl insights --data {reviews.parent}"
        yield f"to have technicians in them, name them in {reviews.with_name('insights.yaml')}"


def _refuse(detail: str, remedy: str) -> None:
    complain("error", {"title": "not written", "detail": detail, "remedy": remedy}, as_json=False)
    raise typer.Exit(EXIT_FAILED)
