"""Names places that both programs use, and finds the configuration (interfaces.md 1.3, decision 59)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

LOGO_FILES = ("logo.svg", "logo.png", "logo.webp")  # the first that is usable is shown
CORRECTIONS_FILE, REVIEWS_FILE = "corrections.json", "reviews.json"
INSIGHTS_FILE, LABELS_FILE = "insights.json", "insights.labels"
# The files of a data directory that the service reads, in the order in which they are copied: reviews
# without their corrections would show what is hidden
DATA_FILES = (
    *(CORRECTIONS_FILE, REVIEWS_FILE, INSIGHTS_FILE, "insights.yaml", LABELS_FILE),
    *LOGO_FILES,
)
KEPT_FOLDER = ".reviewsctl"  # in the data directory, for files of reviewsctl
CORRECTIONS_LOG = "corrections.log"
"""The file of that folder that says what the owner has decided about reviews, and why."""

HERE = Path("reviewsd.yaml")
SYSTEM = Path("/etc/reviewsd/reviewsd.yaml")
PLACES = (HERE, SYSTEM)
"""The candidates in order, for both programs."""


def has_corrections_log(data_dir: Path) -> bool:
    """Return whether there is a log of corrections; one in a folder that this user may not search counts as none."""
    exists = os.path.exists  # Path.exists raises there
    return exists(data_dir / KEPT_FOLDER / CORRECTIONS_LOG)


def absolute(path: Path) -> Path:
    """Return an absolute path without "..", which remains where a link before it leads elsewhere."""
    path = path.absolute()
    plain = Path(os.path.normpath(path))
    return plain if os.path.realpath(plain) == os.path.realpath(path) else path


def named_configuration(path: Path) -> Path:
    """Return the configuration that ``--config`` names, by its file or by its folder.

    What does not exist is a folder unless its name ends as that of a file of YAML.
    """
    is_file = path.exists() or path.suffix in (".yaml", ".yml")
    return path / HERE if path.is_dir() or not is_file else path


class ForeignFileError(Exception):
    """The configuration belongs to another user, and could make this process read and write any file."""

    def __init__(self, path: Path, owner: int) -> None:
        super().__init__(f"{path} belongs to uid {owner}")
        self.path, self.owner = path, owner


def find_configuration(environ: Mapping[str, str], places: Sequence[Path] = PLACES) -> Path | None:
    """Return the configuration that ``$REVIEWSD_CONFIG`` names, or the first that exists.

    A file that cannot be read is returned too, so that its reader reports it.

    Raises:
        ForeignFileError: The first that exists is in the current folder, and its owner is not trusted: root,
            this user, or the user that called sudo.
    """
    if named := environ.get("REVIEWSD_CONFIG"):
        return Path(named)
    for place in places:
        if os.path.lexists(place):
            owner = place.lstat().st_uid
            if not place.is_absolute() and owner not in {0, os.geteuid(), caller(environ)}:
                raise ForeignFileError(place, owner)
            return place
    return None


def caller(environ: Mapping[str, str]) -> int:
    """Return the uid of the user that called sudo, or of this user."""
    caller = environ.get("SUDO_UID", "")
    called_by_sudo = os.geteuid() == 0 and caller.isascii() and caller.isdigit()
    return int(caller) if called_by_sudo else os.geteuid()
