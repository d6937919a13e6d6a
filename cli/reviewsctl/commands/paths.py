"""``reviewsctl paths``: the directories and files that are used, and whether they are there."""

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json, Session
from reviewsctl.daemon.units import UNITS, folder
from reviewsctl.terminal.output import failing, json_line

if TYPE_CHECKING:
    from reviewsd.api.files import Shown

EPILOG: Final = """\b
    Examples:
      reviewsctl paths
      reviewsctl paths --json | jq -r '.paths[] | select(.state != "there").path'"""

State = Literal["there", "missing", "hidden"]


@dataclass(frozen=True, slots=True)
class Place:
    """One path."""

    name: str
    path: str
    state: State
    """``hidden``: you may not look."""


def paths(ctx: typer.Context, *, config: ConfigFile = None, as_json: Json = False) -> None:
    """Prints which directories and files are used.

    As the configuration has them that a daemon started here would find, and whether they are
    there. "hidden" is what you may not look at: the state belongs to the daemon alone.
    """
    from reviewsctl.daemon import local  # 25 ms, see main
    from reviewsctl.terminal.escaping import printable

    session: Session = ctx.obj
    with failing(as_json=as_json):
        shown = local.settings(config).value
    found = [Place(name, str(path), _state(path)) for name, path in _paths(shown, session)]
    if as_json:
        typer.echo(json_line({"paths": [asdict(each) for each in found]}))
        return
    for each in found:
        note = "" if each.state == "there" else f"  ({each.state})"
        typer.echo(printable(f"{each.name:<14}{each.path}{note}"))


def _paths(shown: "Shown", session: Session) -> Iterator[tuple[str, Path]]:
    data, state = Path(shown.text("data_dir")), Path(shown.text("state_dir"))
    yield "configuration", Path(shown.file)
    yield "reviews", data / "reviews.json"
    yield "insights", data / "insights.json"
    yield "settings", data / "insights.yaml"
    yield "state", state
    yield "snapshot", state / "snapshots" / "current"
    if shown.value("hub.store") == "sqlite":
        yield "subscriptions", state / "state.sqlite"
    yield "hub key", state / "secret.key"
    for name, key in (("mcp key", "mcp.session_key_file"), ("ca file", "hub.callbacks.ca_file")):
        if shown.value(key) is not None:
            yield name, Path(shown.text(key))
    yield "admin socket", Path(shown.text("admin_socket"))
    if session.given is not None and session.given.absolute() != Path(shown.text("admin_socket")):
        yield "asked socket", session.given.absolute()
    for unit in UNITS:
        yield "unit", folder() / unit
    yield "python", Path(sys.executable)


def _state(path: Path) -> State:
    try:
        os.lstat(path)
    except PermissionError:
        return "hidden"
    except OSError:
        return "missing"
    return "there"
