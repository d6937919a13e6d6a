"""The terminal side of ``reviewsctl import``: lines, progress, and questions."""

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from reviewsctl.terminal.output import echo
from reviewsd.api.platforms import PLATFORMS

if TYPE_CHECKING:
    from reviewsctl.importing.options import Prompts


@contextlib.contextmanager
def prompts(*, silent: bool) -> "Iterator[Prompts]":
    """Return what an import talks through, for the block; a silent one shows nothing, and cannot ask either."""
    from reviewsctl.importing.options import Prompts  # msgspec, see main
    from reviewsctl.terminal.progress import Progress

    def show(lines: Sequence[str]) -> None:
        echo(*(() if silent else lines))

    described: list[str] = []
    with contextlib.closing(Progress()) as progress:

        def release() -> None:
            """Show the lines above a question or an error."""
            progress.close()
            show(described)
            described.clear()

        def choose(locations: Mapping[str, str]) -> str:
            release()
            return _choose(locations)

        def source(default: str) -> str:
            release()
            other = "another name" if default in PLATFORMS else "a platform such as google"
            question = f"Where were these reviews written? {default}, or {other}"
            answer: str = typer.prompt(question, default=default, err=True)
            return answer.strip() or default

        def confirm(question: str) -> bool:
            release()
            return typer.confirm(question, default=False, err=True)

        can_ask = not silent and sys.stdin.isatty() and sys.stderr.isatty()
        dialog = Prompts(
            progress=(lambda _: None) if silent else progress.show,
            show=show,
            choose=choose if can_ask else None,
            source=source if can_ask else None,
            confirm=confirm if can_ask else None,
            described=described,
        )
        try:
            yield dialog
        except BaseException:
            release()
            raise


def _choose(locations: Mapping[str, str]) -> str:
    places = list(locations)
    typer.echo("It holds the reviews of several locations:", err=True)
    for index, place in enumerate(places, start=1):
        echo(f"  {index}  {locations[place]}", err=True)
    number: int = typer.prompt("Which one", type=int, err=True)
    if not 1 <= number <= len(places):
        raise typer.BadParameter(f"expected 1 to {len(places)}, got {number}")
    return places[number - 1]
