"""``reviewsctl insights``: show the insights and their reasons, and make better ones (insights.md 8)."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.daemon.session import Json
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.interruption import Stopped
from reviewsctl.terminal.output import complain, echo, json_line
from reviewsctl.terminal.remedies import writing
from reviewsd.api.places import INSIGHTS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from reviewsd.offline.insights import Folder

Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help=f"Replace the {INSIGHTS_FILE} that is there; it is kept as {INSIGHTS_FILE}.bak.",
    ),
]

app = typer.Typer(
    name="insights",
    invoke_without_command=True,
    rich_markup_mode=None,
    help="""Shows what customers praise and criticize, and why it says so.

    Without a command it shows aspects, people, services and problems, each with the number of reviews
    and the share of praise. Problems are shown to you alone, unless insights.yaml publishes them. No
    daemon has to run. Name your staff, services and further aspects in insights.yaml beside
    reviews.json; suggest finds candidates. The insights are those of insights.json if there is one,
    else those that rules make from the reviews, as the daemon makes them.""",
    epilog="""\b
    Examples:
      reviewsctl insights
      reviewsctl insights --data export/ --json | jq .insights.aspects
      reviewsctl insights explain 01JWNEY480
      reviewsctl insights suggest >> data/insights.yaml""",
)


@app.callback()
def show(
    ctx: typer.Context, *, config: ConfigFile = None, data: DataDir = None, as_json: Json = False
) -> None:
    """Show the insights where no command is named."""
    if ctx.invoked_subcommand is not None:
        if data is not None or as_json:
            raise typer.BadParameter(
                f"put the options after the command: reviewsctl insights {ctx.invoked_subcommand} ..."
            )
        return
    from reviewsctl.terminal.insights import overview  # 25 ms, see main

    with _folder(config, data) as folder:
        value = folder.insights()
    _print(value, overview(value), as_json=as_json)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl insights explain 01JWNEY480
      reviewsctl insights explain 01JWNEY480 --json | jq '.clauses[].aspects'"""
)
def explain(
    review_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The id of a review, its beginning or end, or the address of its page.",
        ),
    ],
    *,
    config: ConfigFile = None,
    data: DataDir = None,
    as_json: Json = False,
) -> None:
    """Shows why a review counts as it does.

    Each part of its text is shown with the aspects that are found in it, whether that is praise or
    criticism, and the words that decide it; then the people, services and problems that it
    mentions.
    """
    from reviewsctl.terminal.insights import explanation_lines  # 25 ms, see main

    with _folder(config, data) as folder:
        value = folder.explanation(review_id)
    _print(value, explanation_lines(value), as_json=as_json)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl insights suggest >> data/insights.yaml
      reviewsctl insights suggest --json | jq '.suggestions.technicians[].name'"""
)
def suggest(*, config: ConfigFile = None, data: DataDir = None, as_json: Json = False) -> None:
    """Prints candidates for insights.yaml.

    They are people, services and aspects that reviews in English mention and no list has; reviews in
    other languages are not read. All lines are commented out, so they publish nothing until you
    remove the marks.
    """
    from reviewsctl.terminal.suggestions import suggestion_lines  # 25 ms, see main

    with _folder(config, data) as folder:
        value = folder.suggestions()
    document = {"data_dir": str(folder.path), "suggestions": value}
    _print(document, suggestion_lines(value), as_json=as_json)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl insights compare
      reviewsctl insights compare --json | jq .comparison.mentions"""
)
def compare(*, config: ConfigFile = None, data: DataDir = None, as_json: Json = False) -> None:
    """Compares insights.json or a model's labels with the rules.

    Without an insights.json the insights with labels of insights.labels are compared. For each
    aspect, person, service, problem and place it shows how many reviews mention it and the share
    that is positive, on both sides, and in how many reviews both say the same.
    """
    from reviewsctl.terminal.insights import comparison_lines  # 25 ms, see main

    with _folder(config, data) as folder:
        value = folder.compared()
    _print(value, comparison_lines(value), as_json=as_json)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl insights write
      reviewsctl insights write --data export/ --replace"""
)
def write(*, config: ConfigFile = None, data: DataDir = None, replace: Replace = False) -> None:
    """Writes insights.json, to be edited and served.

    It has the insights of the rules, with the kept labels of a language model. The file is yours to
    edit. From then on it is served as it is, also when reviews are added.
    """
    import json  # see main

    import msgspec

    from reviewsctl.files.own_files import check_free
    from reviewsctl.files.own_files import write as write_kept

    with _folder(config, data) as folder:
        path = folder.path / INSIGHTS_FILE
        check_free(path, "--replace", is_forced=replace)
        insights = folder.members(folder.make(folder.settings))
    text = json.dumps(json.loads(msgspec.json.encode(insights)), indent=2, ensure_ascii=False)
    with writing(path.parent, "name another --data DIR."):
        is_replaced = write_kept(path, f"{text}\n", is_kept=True)
    backup = f", the old one is {INSIGHTS_FILE}.bak" if is_replaced else ""
    echo(f"wrote {path}{backup}; from now on it is served unchanged, also with new reviews")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl insights label --model qwen3:8b --endpoint http://127.0.0.1:11434/v1
      reviewsctl insights label --model gpt-5-mini --endpoint https://api.openai.com/v1 \\
          --key-file key --limit 100
      reviewsctl insights label --model claude-haiku-4-5 --endpoint https://api.anthropic.com/v1 \\
          --key-env ANTHROPIC_API_KEY --limit 500"""
)
def label(  # noqa: PLR0913  # these are the command's options
    *,
    config: ConfigFile = None,
    data: DataDir = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", show_default=False, help="The language model.")
    ],
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL",
            show_default=False,
            help="The base of its OpenAI API, such as http://127.0.0.1:11434/v1.",
        ),
    ],
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", show_default=False, help="A file with the server's key."),
    ] = None,
    key_env: Annotated[
        str,
        typer.Option(
            metavar="VARIABLE", show_default=False, help="An environment variable with the key."
        ),
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="Label at most N texts, the newest; rules label the rest.",
        ),
    ] = None,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Have the model write the summary and questions; sentences that are not true are dropped.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send texts to other machines without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Has a language model label the reviews.

    It needs the package "openai", installed beside reviewsd. The texts and stars of reviews are
    sent to the model, and the names of the business and of the people in insights.yaml, but no
    authors, dates, ids or replies.
    You are asked before anything leaves this machine. A label counts only if it is of the known
    lists and its phrase stands in the review; counting is left to the rules. Labels are kept in
    insights.labels, which the daemon uses by itself, so that a run that was stopped is continued,
    and a later one pays for new texts only. Rules read the reviews that have no labels.
    """
    try:
        from reviewsctl.labeling import run  # openai takes a second
        from reviewsctl.labeling.counts import SERVED_INSTEAD

        options = run.Options(
            config=config,
            data=data,
            model=model,
            endpoint=endpoint,
            key_file=key_file,
            key_env=key_env,
            yes=yes,
            limit=limit,
            summary=summary,
            quiet=as_json,
        )
        file, counts = run.label(options)
    except Stopped as stopped:
        detail = "labels of finished batches are stored; run the same command to continue"
        raise CommandError("interrupted", detail, exit_code=stopped.exit_code) from None
    if warning := counts.warning(model):
        complain("warning", {"detail": warning}, as_json=as_json)
    if as_json:
        typer.echo(json_line(counts.document() | {"file": str(file)}))
        return
    use = SERVED_INSTEAD if counts.has_file else "a running daemon picks them up"
    echo(*counts.lines(), f"labels are in {file}; {use}")


def _folder(config: Path | None, data: Path | None) -> "AbstractContextManager[Folder]":
    from reviewsctl.daemon import local  # 25 ms, see main

    return local.data_folder(config, data)


def _print(value: object, lines: "Iterable[str]", *, as_json: bool) -> None:
    import msgspec  # see main

    echo(*([msgspec.json.encode(value).decode()] if as_json else lines))


def next_step(reviews: Path) -> str:
    """Return the step after an import into this file, as it can be typed there."""
    from reviewsctl.daemon import default_paths  # see main
    from reviewsctl.daemon.units import BOOTED, install_command
    from reviewsd.api.places import SYSTEM

    config = default_paths.configuration(os.environ)
    data = None if config is None else default_paths.data_dir(config, os.environ)
    if data is None or data.resolve() != reviews.parent:
        return f"next: reviewsctl check --data {shlex.quote(str(reviews.parent))}"
    if os.path.lexists(default_paths.admin_socket(config)):  # False without permission
        return "next: reviewsctl check; the running daemon picks them up"
    if config == SYSTEM and BOOTED.is_dir():
        return f"next: reviewsctl check, then {install_command()}"
    return "next: reviewsctl check, then reviewsd, which serves them; a running one picks them up"
