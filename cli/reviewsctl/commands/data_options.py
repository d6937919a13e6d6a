"""Options that commands of the data folder share."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Names(Enum):
    """The values of ``--names``."""

    FULL = "full"
    SHORT = "short"


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        show_default=False,
        help="The configuration. Without it, the first of $REVIEWSD_CONFIG, ./reviewsd.yaml and "
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
