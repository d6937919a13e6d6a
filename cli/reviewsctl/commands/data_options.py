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
        help="The daemon's configuration, which names the data directory. Found as the daemon "
        "finds it: $REVIEWSD_CONFIG, ./reviewsd.yaml, /etc/reviewsd/reviewsd.yaml.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", show_default=False, help="The data directory itself instead."
    ),
]
