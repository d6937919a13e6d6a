"""``reviewsctl config``: what is configured, by what, and what could be (interfaces.md 1.1)."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json
from reviewsd.api.texts import printable

if TYPE_CHECKING:
    from reviewsd.api.files import Setting

app = typer.Typer(
    name="config",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Shows the configuration.

    It is about the file and the environment of this shell, not about a running daemon, which may
    have been started before the file was changed, or with another environment.""",
    epilog="""\b
    Examples:
      reviewsctl config show --origin
      reviewsctl config schema > reviewsd.schema.json""",
)

_WIDTH: Final = 60  # columns, so that one long value does not move all origins away


@app.command(
    epilog="""\b
    Examples:
      reviewsctl config show
      reviewsctl config show --defaults --origin
      reviewsctl config show --json | jq -r '.settings[] | select(.key == "data_dir").value'"""
)
def show(
    *,
    config: ConfigFile = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Also the keys that are not set.")
    ] = False,
    origin: Annotated[
        bool, typer.Option("--origin", help="The origin of each: file:line, variable or default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Shows the configuration that reviewsd would start with.

    It prints the values of file and environment, with absolute paths and *** for passwords. With
    --json it prints all keys, each with its value, default and origin.
    """
    from reviewsctl.daemon import local  # 25 ms, see main

    if as_json and (defaults or origin):
        raise typer.BadParameter(
            "--json has all keys and origins: leave out --defaults and --origin"
        )
    answer = local.settings(config)
    if as_json:
        typer.echo(answer.text)
        return
    from reviewsctl.terminal.flow import flow

    settings = [one for one in answer.value.settings if defaults or one.origin != "default"]
    lines = [printable(f"{setting.key}: {flow(setting.value)}") for setting in settings]
    width = min(_WIDTH, max(map(len, lines), default=0))
    for setting, line in zip(settings, lines, strict=True):
        note = f"# {_origin(answer.value.file, setting)}"
        typer.echo(f"{line:<{width}}  {note}" if origin else line)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl config schema > reviewsd.schema.json
      sed -i '1i # yaml-language-server: $schema=reviewsd.schema.json' reviewsd.yaml"""
)
def schema() -> None:
    """Prints the JSON Schema of reviewsd.yaml, for editors.

    With it an editor completes keys, explains them, and marks errors. Name it in the first line of
    reviewsd.yaml, as the example does.
    """
    from reviewsctl.commands.init import schema_text  # see main

    text = schema_text()
    typer.echo(text, nl=False)


def _origin(file: str, setting: "Setting") -> str:
    match setting.origin:
        case "file":
            return printable(f"{file}:{setting.line}")
        case "environment":
            return f"${setting.variable}"
        case "default":
            return "default"
