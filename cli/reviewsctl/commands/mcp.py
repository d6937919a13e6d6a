"""``reviewsctl mcp``: what the directories of MCP servers are told (mcp.md 8)."""

from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import own_version
from reviewsctl.terminal.output import EXIT_FAILED, complain, failing

if TYPE_CHECKING:
    from reviewsd.api.files import Facts

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_MAX_TEXT: Final = 100  # characters of title and description, as the schema has it

app = typer.Typer(
    name="mcp",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Announces the MCP endpoint.",
    epilog="""\b
    Examples:
      reviewsctl mcp server-json > server.json""",
)


@app.callback()
def _group() -> None:
    """Announces the MCP endpoint."""


@app.command(
    "server-json",
    epilog="""\b
    Examples:
      reviewsctl mcp server-json > server.json
      mcp-publisher publish""",
)
def server_json(
    *,
    config: ConfigFile = None,
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="In the registry; else the domain of base_url backwards, then /reviews.",
        ),
    ] = "",
) -> None:
    """Prints the entry of the MCP registry for this service.

    It names the endpoint under base_url. To publish it, show that the domain is yours and use
    mcp-publisher: https://modelcontextprotocol.io/registry/remote-servers
    """
    import json  # see main

    from reviewsctl.daemon import local
    from reviewsctl.terminal.escaping import printable_lines

    with failing(as_json=False):
        base_url = local.settings(config).value.text("base_url")
        facts = local.check(config, None, lambda _: None).value.facts
    host = urlsplit(base_url).hostname or ""
    if urlsplit(base_url).scheme != "https" or "." not in host or host[-1].isdigit():
        members = {
            "title": "not to be announced",
            "detail": f"base_url is {base_url}, which others cannot reach by https",
            "remedy": "Set base_url to the public address.",
        }
        complain("error", members, as_json=False)
        raise typer.Exit(EXIT_FAILED)
    text = json.dumps(_entry(base_url, host, name, facts), indent=2, ensure_ascii=False)
    typer.echo(printable_lines(text))


def _entry(base_url: str, host: str, name: str, facts: "Facts | None") -> dict[str, object]:
    business = host if facts is None else facts.business
    return {
        "$schema": SCHEMA,
        "name": name or f"{'.'.join(reversed(host.split('.')))}/reviews",
        "title": _cut(f"{business} reviews"),
        "description": _cut(f"Customer reviews of {business}: search, ratings, insights."),
        "version": own_version("reviewsd") or "0.0.0",
        "websiteUrl": base_url,
        "remotes": [{"type": "streamable-http", "url": f"{base_url}/mcp"}],
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
