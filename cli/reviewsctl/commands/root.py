"""The root of ``reviewsctl``: its options, and its commands, each imported when it runs.

A command is a function of the module of its name in this folder, with the module's ``EPILOG``; a group
is the module's ``app``.
"""

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from reviewsctl.commands.data_options import CONFIGURATION, in_folder
from reviewsctl.daemon.session import Session, own_version
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.interruption import Stopped
from reviewsctl.terminal.output import complain

GROUPS: Final = {
    "Setting up": ("init", "config", "service", "doctor"),
    "Your reviews": ("import", "reviews", "insights", "check", "sync", "sources", "export"),
    "Copies of everything": ("backup", "restore"),
    "The running service": ("status", "open", "reload", "tail", "metrics"),
    "Subscribers and notices": ("subs", "hub", "notify"),
}
"""The commands by heading, in the order of the help."""

COMMANDS: Final = tuple(name for names in GROUPS.values() for name in names)

_REFUSED: Final = {
    "init": "not written",
    "import": "not imported",
    "export": "not exported",
    "restore": "not restored",
    "reviews list": "not listed",
    "reviews reply": "not written",
    "reviews undo": "not undone",
    "insights label": "not labeled",
    "insights write": "not written",
}
"""The titles of refusals by command; those of other commands are "not corrected"."""

_ALL_OR_NOTHING: Final = frozenset({"import", "reviews undo"})
_FUNCTIONS: Final = {"import": "import_", "open": "open_"}  # where the name is Python's own
_SOCKET: Final = "reviewsctl.socket"  # in the context's meta


def _version(context: typer.Context, _: object, is_set: bool) -> None:  # noqa: FBT001  as Typer calls it
    if is_set and not context.resilient_parsing:
        typer.echo(f"reviewsctl {own_version('reviewsd') or 'of a tree that is not installed'}")
        raise typer.Exit


def _keep(context: typer.Context, _: object, value: object) -> None:
    """Store the socket for the command; the last one counts."""
    if value:
        context.meta[_SOCKET] = value


def _keep_configuration(context: typer.Context, _: object, value: str | None) -> None:
    in_folder(context, None if value is None else Path(value))


def _options(*, listed: bool) -> list[TyperOption]:
    """Return the options of the root, which every command takes too.

    Help shows them where they are ``listed``.
    """
    socket = TyperOption(
        param_decls=["--socket"],
        metavar="PATH",
        envvar="REVIEWSD_ADMIN_SOCKET" if listed else None,
        show_envvar=True,
        expose_value=False,
        callback=_keep,
        hidden=not listed,
        help="The daemon's admin socket, if it is not where the configuration has it.",
    )
    config = TyperOption(
        param_decls=["--config"],
        metavar="FILE",
        expose_value=False,
        callback=_keep_configuration,
        hidden=not listed,
        help="The configuration, or its folder, if it is not the one that is found.",
    )
    version = TyperOption(
        param_decls=["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_version,
        hidden=not listed,
        help="Show the version.",
    )
    return [socket, config, version]


def _add_options(command: TyperCommand | TyperGroup) -> None:
    own = {param.name for param in command.params}
    command.params += [option for option in _options(listed=False) if option.name not in own]


class Command(TyperCommand):
    """A command."""

    def __init__(self, *args: Any, **attributes: Any) -> None:  # noqa: ANN401  Typer's
        super().__init__(*args, **attributes)
        _add_options(self)

    def invoke(self, context: Any) -> Any:  # noqa: ANN401  Typer's context, which it does not export
        """Runs it; ``obj`` of its context is the session."""
        context.obj = session(context)
        with _explained(context):
            return super().invoke(context)


class Group(TyperGroup):
    """A group of commands."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401  Typer's
        super().__init__(**attributes)
        _add_options(self)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  Typer's context
        """Run its command, or itself where it is one."""
        with _explained(ctx):
            return super().invoke(ctx)


def _path(context: Any) -> str:  # noqa: ANN401  Typer's context
    """Return the command as it is typed after the program's name."""
    return " ".join(context.command_path.split()[1:])


@contextlib.contextmanager
def _explained(context: Any) -> Iterator[None]:  # noqa: ANN401  Typer's context
    """End a command that is refused or interrupted with a message and its exit code."""
    path, as_json = _path(context), bool(context.params.get("as_json"))
    try:
        yield
    except Stopped as stopped:
        if path in _ALL_OR_NOTHING:
            members = {"title": "interrupted", "detail": "nothing was written"}
            complain("error", members, as_json=as_json)
        raise typer.Exit(stopped.exit_code) from None
    except CommandError as error:
        title = error.title or _REFUSED.get(path, "not corrected")
        complain("error", error.members() | {"title": title}, as_json=as_json)
        raise typer.Exit(error.exit_code) from error


class Root(TyperGroup):
    """All commands; none is imported yet."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401  Typer's
        super().__init__(**attributes)
        self.params += _options(listed=True)
        names: Any = dict.fromkeys(COMMANDS)
        self.commands = names  # for suggestions

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  Typer's
        """The command of a name, or None."""
        del ctx
        return _imported(cmd_name) if cmd_name in COMMANDS else None

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  Typer's
        """Return the names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  Typer's
        """Write a section for each group of commands."""
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        for heading, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(limit)) for name, command in commands]
            with formatter.section(heading):
                formatter.write_dl(
                    rows, col_spacing=max(map(len, COMMANDS)) + 2 - max(map(len, names))
                )


def session(context: typer.Context) -> Session:
    """Return the options, set at the root or at the command."""
    socket = context.meta.get(_SOCKET)
    return Session(None if socket is None else Path(socket), context.meta.get(CONFIGURATION))


def _imported(name: str) -> Any:  # noqa: ANN401  a command of Typer's, which it does not export
    function = _FUNCTIONS.get(name, name)
    module = importlib.import_module(f"reviewsctl.commands.{function}")
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    group = getattr(module, "app", None)
    if group is None:
        alone.command(name, cls=Command, epilog=module.EPILOG)(getattr(module, function))
        return typer.main.get_command(alone)
    for command in group.registered_commands:
        command.cls = Command
    alone.add_typer(group, cls=Group)
    root: Any = typer.main.get_command(alone)
    return root.commands[name]


app = typer.Typer(
    name="reviewsctl",
    cls=Root,
    no_args_is_help=True,
    # Plain help and usage errors: they are read in journals and pipes, and rich's cost 60 ms.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="""\b
    Exit codes:
      0    ok
      1    failed or refused
      2    wrong usage
      3    the daemon is not running, or you may not use its socket
      4    no such thing
      5    a check found problems
      130  interrupted

    \b
    Examples:
      reviewsctl init shop --name 'Acme Plumbing'
      reviewsctl import reviews.csv --source website
      reviewsctl reviews hide 01J9ZK3V5Q --reason spam
      reviewsctl status --json
      reviewsctl doctor""",
)


@app.callback()
def root() -> None:
    """Looks after your reviews, and after reviewsd, which serves them.

    To begin: reviewsctl init. A command finds its files by the configuration that $REVIEWSD_CONFIG
    names, else ./reviewsd.yaml, else /etc/reviewsd/reviewsd.yaml. On a server, what changes reviews
    needs sudo. An error names the remedy, and commands that only read take --json.

    The commands on the running service need its admin socket, which root and the group
    reviewsd-admin may use.
    """
