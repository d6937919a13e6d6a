"""``reviewsctl init``: write a first configuration, and sample data (interfaces.md 1.1)."""

import datetime
import json
import os
import re
import shlex
from pathlib import Path
from typing import Annotated, Final

import typer

from reviewsctl.daemon.units import install_command, sudo_reviewsctl
from reviewsctl.terminal.output import NOTHING_WRITTEN
from reviewsctl.terminal.remedies import writing
from reviewsd.api.places import HERE, REVIEWS_FILE, SYSTEM

CONFIG: Final = HERE.name
SCHEMA: Final = "reviewsd.schema.json"
INSIGHTS: Final = "insights.yaml"

_LOCAL: Final = "http://localhost:8080"
_DEFAULT_LISTEN: Final = "tcp:8080:interface=127.0.0.1"

_TAG: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")

EPILOG: Final = """\b
    Examples:
      reviewsctl init
      reviewsctl init shop --name "Acme Plumbing" --base-url https://reviews.acme.example
      reviewsctl init laden --name "Müller Sanitär" --language de
      sudo reviewsctl init /etc/reviewsd"""


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", show_default=False, help="Where; else here.")
    ] = Path(),
    *,
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The address at which customers will find the page.")
    ] = _LOCAL,
    name: Annotated[
        str, typer.Option(metavar="TEXT", show_default=False, help="The name of the business.")
    ] = "",
    language: Annotated[
        str, typer.Option(metavar="TAG", help="The language of the pages, such as de, fr or en-GB.")
    ] = "en",
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace the configuration that is there; it is kept as reviewsd.yaml.bak.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the files.")] = False,
) -> None:
    """Writes a configuration and sample data to begin with.

    Four files are written into DIR: reviewsd.yaml, the configuration; its JSON Schema, by which
    editors complete and check it; data/reviews.json with two sample reviews, which the first import
    removes; data/insights.yaml, where you name your staff and services. A reviews.json or
    insights.yaml that is there stays as it is.

    In /etc/reviewsd it is the configuration of a service: the reviews are in /srv/reviews then, its
    own files in /var/lib/reviewsd. With --base-url http://localhost:8081 it listens on that port.
    """
    from reviewsctl.files.own_files import check_free, write  # see main
    from reviewsctl.manual.keys import SHIPPED
    from reviewsd.config import syntax

    try:
        base_url = syntax.origin(base_url)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--base-url") from error
    if _TAG.fullmatch(language) is None:
        message = f'"{language}" is no language tag (BCP 47), such as de or en-GB'
        raise typer.BadParameter(message, param_hint="--language")
    endpoint = syntax.own_endpoint(base_url)
    system = folder.absolute() == SYSTEM.parent
    data = Path("/srv/reviews") if system else folder / "data"
    files = {
        folder / CONFIG: configuration(base_url, endpoint, system=system),
        folder / SCHEMA: schema_text(),
        data / REVIEWS_FILE: _sample(name, language),
        data / INSIGHTS: (SHIPPED / INSIGHTS).read_text(),
    }
    if dry_run:
        for path, text in files.items():
            typer.echo(f"==> {path}\n{text}")
        typer.echo(NOTHING_WRITTEN)
        return
    check_free(folder / CONFIG, "--force", is_forced=force)
    for path in (data / REVIEWS_FILE, data / INSIGHTS):
        if os.path.lexists(path):
            del files[path]
    for path, text in files.items():
        is_kept = path.name == CONFIG
        with writing(path.parent, "name another folder."):
            was_there = write(path, text, is_kept=is_kept)
        before = f"; the one before is {path}.bak" if is_kept and was_there else ""
        typer.echo(f"wrote {path}{before}")
    importing = "import EXPORT" + ("" if name else " --set name=NAME")
    importing = importing if data / REVIEWS_FILE in files else ""
    address = _LOCAL if endpoint is None else base_url
    typer.echo("\n".join(next_steps(folder, address, system=system, importing=importing)))


_TEMPLATE: Final = """\
# yaml-language-server: $schema={schema}
# The configuration of reviewsd. All other keys have their defaults: reviewsctl config show --defaults
# lists them, reviewsd.yaml(5) and the schema explain them. After a change: reviewsctl check

# The public address: scheme and host as clients see them, outside any proxy.
base_url: {base_url}
{listen}
# The folder of reviews.json; relative paths start at this file's folder.
data_dir: {data_dir}

# The folder of the service's own files: about six to sixteen times the size of the data.
state_dir: {state_dir}

# The socket for reviewsctl.
admin_socket: {admin_socket}

# The ids of feed entries: a domain that was yours in that year. Readers know an entry by its id, so
# keep both even if you move to another domain.
{feeds}
"""

_SERVICE: Final = {
    "data_dir": "/srv/reviews",
    "state_dir": "/var/lib/reviewsd",
    "admin_socket": "/run/reviewsd/admin.sock",
}
_BESIDE: Final = {"data_dir": "data", "state_dir": "state", "admin_socket": "admin.sock"}


_LISTEN: Final = """
# Where the daemon listens: there is no proxy before this base_url.
listen: ['{endpoint}']
"""


def configuration(base_url: str, endpoint: str | None, *, system: bool) -> str:
    """Return the five keys that an operator sets first, as YAML with comments.

    Args:
        base_url: The public address.
        endpoint: The endpoint that it names; None where there is a proxy.
        system: Whether it is for a service, with data and state elsewhere.
    """
    from urllib.parse import urlsplit  # see main

    host = urlsplit(base_url).hostname or ""
    year = datetime.datetime.now(datetime.UTC).year
    if "." in host and not host[-1].isdigit():
        feeds = f"feeds: {{authority: {host}, year: {year}}}"
    else:
        comment = "" if ":" in host else "# "  # an IPv6 address cannot be in an id (RFC 4151)
        feeds = f"{comment}feeds: {{authority: example.com, year: {year}}}"
    places = _SERVICE if system else _BESIDE
    is_default = endpoint in {None, _DEFAULT_LISTEN}
    listen = "" if is_default else _LISTEN.format(endpoint=endpoint)
    return _TEMPLATE.format(schema=SCHEMA, base_url=base_url, listen=listen, feeds=feeds, **places)


def schema_text() -> str:
    """Return the JSON Schema of the configuration, with the descriptions of its reference."""
    from reviewsctl.manual.keys import described, reference  # see main
    from reviewsd.config import show

    texts = {key: text for key, _, text in reference()}
    return json.dumps(described(show.schema(), texts), indent=2) + "\n"


def _sample(name: str, language: str) -> str:
    from reviewsctl.manual.keys import SHIPPED  # see main

    document = json.loads((SHIPPED / REVIEWS_FILE).read_text())
    document["business"]["language"] = language
    if name:
        document["business"]["name"] = name
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def next_steps(folder: Path, address: str, *, system: bool, importing: str) -> list[str]:
    """Return the lines that say what to type after ``init``.

    Args:
        folder: That of the configuration.
        address: Where the daemon serves.
        system: Whether it is for a service, with data that belongs to root.
        importing: The command ``import`` with its arguments; empty where there are reviews already.
    """
    steps = []
    if not system and folder.absolute() != Path.cwd():
        steps.append((f"cd {shlex.quote(str(folder))}", ""))
    if importing:
        program = sudo_reviewsctl() if system else "reviewsctl"
        steps.append((f"{program} {importing}", "your reviews in place of the two samples"))
    if system:
        steps.append((install_command(), "run it, now and after a reboot"))
    else:
        steps.append(("reviewsd", f"serve them on {address}/"))
    width = max(len(command) for command, _ in steps)
    return [
        *("", "next:"),
        *(f"  {command:<{width}}  {why}".rstrip() for command, why in steps),
        "",
        "Your phone, address, opening hours, logo go into reviews.json:",
        "  https://github.com/reviewsd/reviewsd/blob/main/docs/how-to/correct.md#fill-in-your-business",
    ]
