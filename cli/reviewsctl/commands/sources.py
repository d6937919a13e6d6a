"""``reviewsctl sources``: the places that reviews are downloaded from (sources.md)."""

from typing import Annotated

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json

app = typer.Typer(
    name="sources",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Adds, removes, shows and tests the sources of reviews.

    They stand in the configuration, in the section sources, and reviewsctl sync reads them. No secret
    stands there, but the names of files that nobody else may read.""",
    epilog="""\b
    Examples:
      reviewsctl sources add file takeout --set path='incoming/takeout*.zip'
      reviewsctl sources test takeout
      reviewsctl sources list""",
)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="A source.")]


@app.command("list")
def list_(*, config: ConfigFile = None, as_json: Json = False) -> None:
    """Lists the sources with their states and remedies.

    With --json each source is a line.
    """
    import datetime

    from reviewsctl.files.folders import opened
    from reviewsctl.sources import command, report, state  # 0.2 s, see main
    from reviewsctl.terminal.output import json_line

    settings = command.loaded(config)
    with command.readable_files(), opened(settings.data_dir) as folder:
        states = state.load(folder)
    if as_json:
        for source in settings.sources:
            known = states.get(source.name, state.SourceState())
            typer.echo(json_line(report.listed(source, known)))
        return
    if not settings.sources:
        typer.echo("no sources; add one: reviewsctl sources add")
        return
    now = datetime.datetime.now(datetime.UTC)
    typer.echo("\n".join(report.table(settings.sources, states, now)))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl sources add file takeout --set path='incoming/takeout*.zip'
      reviewsctl sources add url portal --set url=https://shop.example/reviews.csv --set gone=keep
      reviewsctl sources add trustpilot --set business_unit=shop.example \\
          --set key_file=trustpilot.key --set secret_file=trustpilot.secret"""
)
def add(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="TYPE", show_default=False, help="file, url, google-business or trustpilot."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", show_default=False, help="By default the type."),
    ] = None,
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            show_default=False,
            help="A key of the source, such as import.source=shop.",
        ),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Adds a source to the configuration.

    A configuration that would be invalid is not written.
    """
    from reviewsctl.sources import command  # 0.2 s, see main

    pairs = []
    for text in settings or []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f'expected KEY=VALUE, got "{text}"', param_hint="--set")
        pairs.append((key, value))
    command.add(kind, name or kind, pairs, config)


@app.command()
def remove(name: Name, *, config: ConfigFile = None) -> None:
    """Removes a source from the configuration; its reviews stay."""
    from reviewsctl.sources import command  # 0.2 s, see main

    command.remove(name, config)


@app.command("test")
def try_source(name: Name, *, config: ConfigFile = None, as_json: Json = False) -> None:
    """Reads a source completely, and only shows what an import would do."""
    from reviewsctl.sources.command import SyncOptions, sync  # 0.2 s, see main

    options = SyncOptions(names=[name], config=config, full=True, dry_run=True, as_json=as_json)
    raise typer.Exit(sync(options))


@app.command()
def login(name: Name, *, config: ConfigFile = None) -> None:
    """Logs in to Google with a browser, once for each source.

    It is needed for sources of type google-business. The tokens are stored in the state directory,
    readable only by its user.
    """
    from reviewsctl.sources.command import log_in_or_out  # 0.2 s, see main

    log_in_or_out(name, config, is_login=True)


@app.command()
def logout(name: Name, *, config: ConfigFile = None) -> None:
    """Removes and revokes the tokens of a source; its reviews stay."""
    from reviewsctl.sources.command import log_in_or_out  # 0.2 s, see main

    log_in_or_out(name, config, is_login=False)
