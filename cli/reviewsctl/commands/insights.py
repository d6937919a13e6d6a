"""``reviewsctl insights``: what the insights say, and why; and how to make better ones (insights.md 8)."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.daemon.session import Json
from reviewsctl.terminal.output import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    complain,
    failing,
    json_line,
)
from reviewsctl.terminal.remedies import in_container, to_write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.labelling.command import Options

FILE: Final = "insights.json"

EPILOG: Final = """\b
    Examples:
      reviewsctl insights
      reviewsctl insights --data export/ --json | jq .insights.aspects
      reviewsctl insights --explain g-4f0c2a
      reviewsctl insights --suggest >> insights.yaml
      reviewsctl insights --diff
      reviewsctl insights --write
      reviewsctl insights --model qwen3:8b --endpoint http://127.0.0.1:11434/v1
      reviewsctl insights --model gpt-5-mini --endpoint https://api.openai.com/v1 --key-file key
      reviewsctl insights --model claude-haiku-4-5 --api anthropic \\
          --endpoint https://api.anthropic.com --key-env ANTHROPIC_API_KEY --limit 100"""

_SECONDS: Final = 300.0  # for an answer; a small computer thinks long about twenty reviews


def insights(  # noqa: PLR0913  # these are the command's options
    *,
    config: ConfigFile = None,
    data: DataDir = None,
    explain: Annotated[
        str,
        typer.Option(
            metavar="ID", show_default=False, help="Why this review has the labels it has."
        ),
    ] = "",
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Candidates for insights.yaml, to choose from.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help=f"What the rules make against the {FILE} there is.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help=f"Write what the rules make to {FILE}.")
    ] = False,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help=f"Have this language model label the reviews, and write {FILE}. Needs --endpoint.",
        ),
    ] = "",
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL",
            show_default=False,
            help="The model's server, as http://127.0.0.1:11434/v1. Asks before texts leave this "
            "machine.",
        ),
    ] = "",
    api: Annotated[
        str,
        typer.Option(
            metavar="openai|anthropic",
            help="What the server speaks. Ollama, llama.cpp, vLLM and LiteLLM speak OpenAI's.",
        ),
    ] = "openai",
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", show_default=False, help="A file that holds the server's key."
        ),
    ] = None,
    key_env: Annotated[
        str,
        typer.Option(
            metavar="VARIABLE", show_default=False, help="The environment variable that holds it."
        ),
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="Label so many texts at most, the newest; rules the rest.",
        ),
    ] = None,
    input_price: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="PRICE",
            show_default=False,
            help="Of a million tokens sent, for the estimate.",
        ),
    ] = None,
    output_price: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="PRICE", show_default=False, help="Of a million tokens answered."
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="COST",
            show_default=False,
            help="Stop before it costs more, by these prices.",
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, max=86_400, metavar="SECONDS", help="For each answer of the server."),
    ] = _SECONDS,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send texts to other machines without asking.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help=f"With --write and --model: over the {FILE} there is."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Shows what the insights say, and why; and makes better ones.

    No daemon has to run. Shown are those of insights.json where there is one, else those that are made from the reviews by rules,
    as the daemon makes them. insights.yaml beside reviews.json names technicians, services and
    further aspects. With --write the owner gets a file to edit, which is served instead from then
    on; the old one is kept as insights.json.bak.

    With --model a language model labels the reviews: it is sent texts and stars, and never who
    wrote them. A label counts only if it is of the known lists and its phrase stands in the review;
    counting is left to the rules. Labels are kept in insights.labels, so that a run that is stopped
    goes on where it was, and a later one pays for new reviews only.
    """
    if sum(map(bool, (explain, suggest, diff, write, model))) > 1:
        raise typer.BadParameter(
            "--explain, --suggest, --diff, --write and --model exclude each other"
        )
    if replace and not (write or model):
        raise typer.BadParameter("--replace needs --write or --model")
    if not model and (endpoint or key_file or key_env or limit or max_cost is not None or yes):
        raise typer.BadParameter("this needs --model NAME and --endpoint URL")
    if model:
        from reviewsctl.labelling.bill import Prices  # these cost 40 ms, see main
        from reviewsctl.labelling.command import Options
        from reviewsctl.labelling.wire import Api

        if api not in {each.value for each in Api}:
            raise typer.BadParameter(
                f'expected openai or anthropic, got "{api}"', param_hint="--api"
            )
        options = Options(
            model=model,
            endpoint=endpoint,
            api=Api(api),
            key_file=key_file,
            key_env=key_env,
            yes=yes,
            limit=limit,
            prices=Prices(tokens_in=input_price, tokens_out=output_price),
            max_cost=max_cost,
            seconds=timeout,
        )
        _label(options, config, data, replace=replace, as_json=as_json)
        return
    from reviewsctl.terminal.escaping import printable

    with failing(as_json=as_json):
        if write:
            lines = iter([_write(config, data, replace=replace)])
        else:
            text, lines = _printed(config, data, explain=explain, suggest=suggest, diff=diff)
            if as_json:
                lines = iter([text])
    for line in lines:
        typer.echo(printable(line))


def _printed(
    config: Path | None, data: Path | None, *, explain: str, suggest: bool, diff: bool
) -> "tuple[str, Iterator[str]]":
    """What is asked for, as JSON and for people."""
    from reviewsctl.daemon import local  # 25 ms, see main
    from reviewsctl.terminal import insights as shown
    from reviewsctl.terminal.suggestions import suggested

    if explain:
        explanation = local.explanation(config, data, explain)
        return explanation.text, shown.explained(explanation.value)
    if suggest:
        candidates = local.suggested(config, data)
        return candidates.text, suggested(candidates.value.suggestions)
    if diff:
        both = local.compared(config, data)
        return both.text, shown.compared(both.value)
    answer = local.insights(config, data)
    return answer.text, shown.overview(answer.value)


def _write(config: Path | None, data: Path | None, *, replace: bool) -> str:
    """``--write``; says what was done."""
    import msgspec  # see main

    from reviewsctl.daemon import local  # 25 ms, see main

    with local.data_folder(config, data) as folder:
        path = folder.place / FILE
        if os.path.lexists(path) and not replace:
            _refuse(f"{path} is there already", "Replace it with --replace; it is kept as .bak.")
        made = folder.insights(made=True).insights
    return _written(path.parent, msgspec.json.decode(msgspec.json.encode(made)))


def _label(
    options: "Options", config: Path | None, data: Path | None, *, replace: bool, as_json: bool
) -> None:
    """``--model``."""
    import json  # see main

    from reviewsctl.labelling import command
    from reviewsctl.labelling.errors import ModelError
    from reviewsctl.terminal.escaping import printable

    try:
        with failing(as_json=as_json):
            outcome, bill = command.label(options, config, data, replace=replace, quiet=as_json)
            if not outcome.by_model:
                raise ModelError(
                    f"{options.model} has labelled no review; {FILE} is not written",
                    "See whether it can answer by a JSON schema.",
                )
    except KeyboardInterrupt:
        complain("error", command.interrupted(), as_json=as_json)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    written = _written(outcome.folder, json.loads(outcome.insights))
    if as_json:
        file = str(outcome.folder / FILE)
        typer.echo(json_line(command.document(outcome, bill) | {"file": file}))
        return
    for line in (*command.summary_lines(outcome, bill, options.model), written):
        typer.echo(printable(line))


def _written(folder: Path, insights: object) -> str:
    """Write the insights, a JSON value; says what was done."""
    import json  # see main

    from reviewsctl.files.folders import opened
    from reviewsctl.importing.errors import ImportRefusedError
    from reviewsctl.importing.writing import draft

    path = folder / FILE
    content = json.dumps(insights, indent=2, ensure_ascii=False)
    try:
        with opened(folder) as place, draft(place, FILE) as new:
            new.file.write(content.encode() + b"\n")
            is_replaced = place.look(FILE) is not None
            new.commit(lambda: place.keep(FILE, f"{FILE}.bak"))
    except OSError as fault:
        remedy = to_write(folder, "name another --data DIR.")
        _refuse(f"cannot write {path}: {fault.strerror}", remedy)
    except ImportRefusedError as refusal:
        _refuse(refusal.detail, "Run it again.")
    kept = f", the old one is {FILE}.bak" if is_replaced else ""
    return f"wrote {path}{kept}; it is served as it is from now on, also when reviews are added"


def next_steps(reviews: Path) -> "Iterator[str]":
    """What to do after an import into this file, as it can be typed where the import was."""
    from reviewsctl.daemon import default_paths  # see main
    from reviewsctl.daemon.units import install_command
    from reviewsd.api.places import SYSTEM

    named = shlex.quote(str(reviews.parent))
    config = default_paths.configuration(os.environ)
    data = None if config is None else default_paths.data_dir(config, os.environ)
    if data is None or data.resolve() != reviews.parent:
        yield f"next: reviewsctl check --data {named}"
    elif os.path.lexists(default_paths.admin_socket(os.environ)):  # False where we may not look
        yield "next: reviewsctl check, then reviewsctl reload (a running daemon notices by itself)"
    elif in_container():
        yield "next: start the container that serves them; one that runs notices by itself"
    elif config == SYSTEM:
        yield f"next: reviewsctl check, then {install_command()}"
    else:
        yield "next: reviewsctl check, then reviewsd, which serves them"
    if not os.path.lexists(reviews.with_name(FILE)):
        yield f"insights are made from the reviews; see: reviewsctl insights --data {named}"
        yield f"to have technicians in them, name them in {reviews.with_name('insights.yaml')}"
        yield f"whom the reviews name: reviewsctl insights --suggest --data {named}"


def _refuse(detail: str, remedy: str) -> None:
    complain("error", {"title": "not written", "detail": detail, "remedy": remedy}, as_json=False)
    raise typer.Exit(EXIT_FAILED)
