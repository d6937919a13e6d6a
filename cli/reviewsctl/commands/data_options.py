"""Options that commands of the data folder share."""

from pathlib import Path
from typing import Annotated, Final

import typer

from reviewsd.api.places import named_configuration

CONFIGURATION: Final = "reviewsctl.configuration"
"""The configuration that ``--config`` names, in the context's meta; the daemon is asked that has it."""


def in_folder(context: typer.Context, path: Path | None) -> Path | None:
    """Return the file of ``--config``, which may be its folder; the last option counts."""
    if path is not None:
        context.meta[CONFIGURATION] = named_configuration(path)
    named: Path | None = context.meta.get(CONFIGURATION)
    return named


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=in_folder,
        metavar="FILE",
        show_default=False,
        help="The configuration, or its folder. Without it, the first of $REVIEWSD_CONFIG, ./reviewsd.yaml and "
        "/etc/reviewsd/reviewsd.yaml.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        show_default=False,
        help="The folder of reviews.json, if it is not that of the configuration.",
    ),
]
