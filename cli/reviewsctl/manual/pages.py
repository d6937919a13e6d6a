"""Writes the manual: reviewsctl(1) from the help, reviewsd.yaml(5) from the configuration.

``shares`` says where they go. Nothing is kept in the tree that could differ from the programs; only
reviewsd(8) has words of its own, those that no help has.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import typer

from reviewsctl.commands.root import app
from reviewsctl.daemon import local
from reviewsctl.daemon.session import own_version
from reviewsctl.manual.keys import SHIPPED, described, descriptions
from reviewsctl.manual.roff import Page

_LONG: Final = 1000  # columns: nothing in a help record is cut


def pages() -> dict[str, str]:
    """The pages by file name."""
    version = own_version("reviewsd") or ""
    return {
        "reviewsctl.1": str(_tool(version)),
        "reviewsd.8": str(_daemon(version)),
        "reviewsd.yaml.5": str(_configuration(version)),
    }


def _tool(version: str) -> Page:
    # Any: Typer brings a Click of its own, which it does not export
    root: Any = typer.main.get_command(app)
    page = Page("reviewsctl", 1, version, "look after reviewsd, the Reviews Service")
    page.heading("Synopsis")
    page.paragraph("reviewsctl [--socket PATH] COMMAND [OPTIONS]")
    page.heading("Description")
    page.text(root.help)
    page.heading("Options")
    _options(page, root, typer.Context(root, info_name="reviewsctl", terminal_width=_LONG))
    page.heading("Commands")
    for path, command in _commands(root, ()):
        context = typer.Context(command, info_name=" ".join(path), terminal_width=_LONG)
        usage = " ".join(command.collect_usage_pieces(context))
        page.subheading(f"{' '.join(path)} {usage}")
        page.text(command.help or "")
        _options(page, command, context)
        page.text(command.epilog or "")
    page.heading("Exit status")
    page.text(root.epilog)
    page.heading("See also")
    page.paragraph("reviewsd(8), reviewsd.yaml(5)")
    return page


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401  # see _tool
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _options(page: Page, command: Any, context: typer.Context) -> None:  # noqa: ANN401  # see _tool
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in record[0]:
            page.term(*record)


def _daemon(version: str) -> Page:
    page = Page("reviewsd", 8, version, "serve the reviews of a business")
    page.heading("Description")
    page.paragraph(
        "reviewsd publishes the customer reviews of one business, and the insights drawn "
        "from them, as read-only JSON, feeds, search, an MCP endpoint for agents, and a WebSub hub "
        "that sends changes to subscribers. It reads them from files, notices when these change, "
        "and goes on with the last good ones when the new ones are not."
    )
    page.heading("Options")
    command = [sys.executable, "-P", "-m", "reviewsd", "--help"]
    plain = {**os.environ, "COLUMNS": "80"}  # the same on every terminal
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)  # noqa: S603  # ours
    page.verbatim(done.stdout.splitlines())
    page.heading("Signals")
    page.term(
        "SIGTERM, SIGINT",
        "Stop: answers under way end, within 30 seconds. A second one ends it at once.",
    )
    page.term(
        "SIGHUP", "Load the data and the reloadable configuration now, as reviewsctl reload does."
    )
    page.heading("Exit status")
    for code, meaning in (
        ("0", "Stopped as asked."),
        ("1", "Failed."),
        ("2", "Wrong usage."),
        (
            "78",
            "Wrong configuration or state, or bad data and no last good snapshot; starting again cannot help.",
        ),
    ):
        page.term(code, meaning)
    page.heading("Files")
    for path, meaning in (
        ("/etc/reviewsd/reviewsd.yaml", "The configuration, see reviewsd.yaml(5)."),
        (
            "/srv/reviews",
            "The data: reviews.json; insights.json and insights.yaml if they are there.",
        ),
        ("/var/lib/reviewsd", "The state: the last good snapshot, the subscriptions, the keys."),
        ("/run/reviewsd/admin.sock", "The socket that reviewsctl(1) talks to."),
    ):
        page.term(path, meaning)
    page.heading("See also")
    page.paragraph("reviewsctl(1), reviewsd.yaml(5)")
    return page


def _configuration(version: str) -> Page:
    text = (SHIPPED / "reviewsd.yaml").read_text()
    page = Page("reviewsd.yaml", 5, version, "the configuration of reviewsd")
    page.heading("Description")
    head = text.partition("\n\n")[0].splitlines()
    page.verbatim(line.removeprefix("#").removeprefix(" ") for line in head)
    page.heading("Keys")
    for key, words in _keys(described(local.schema(), descriptions())):
        page.term(key, words)
    page.heading("See also")
    page.paragraph("reviewsd(8), reviewsctl(1); reviewsctl config show --origin, reviewsctl check")
    return page


def _keys(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each key with its description and type; a section has the description of its schema."""
    definitions = schema["$defs"]

    def walk(reference: str, prefix: str) -> Iterator[tuple[str, str]]:
        section = definitions[reference.rpartition("/")[2]]
        for name, member in section["properties"].items():
            if "$ref" in member:
                inner = definitions[member["$ref"].rpartition("/")[2]]
                yield prefix + name, inner["description"]
                yield from walk(member["$ref"], f"{prefix}{name}.")
            else:
                yield prefix + name, f"{member['description']} ({_type(member)})"

    return walk(schema["$ref"], "")


def _type(member: Mapping[str, Any]) -> str:
    kinds = [_kind(choice) for choice in member.get("anyOf", [member])]
    default = f"; default {_shown(member['default'])}" if "default" in member else "; required"
    return " or ".join(kinds) + default


def _kind(member: Mapping[str, Any]) -> str:
    if "enum" in member:
        return " or ".join(map(str, member["enum"]))
    kind = {"array": "list"}.get(member["type"], str(member["type"]))
    if "minimum" in member:
        return f"{kind}, {member['minimum']:,} to {member['maximum']:,}"
    return kind


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
