"""The sample business of ``reviewsd --demo``, in a directory that goes with the daemon."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

_CONFIG = """\
base_url: http://127.0.0.1:8080
data_dir: data
state_dir: state
listen: ["tcp:8080:interface=127.0.0.1"]
admin_socket: admin.sock
"""


@contextmanager
def demo() -> Iterator[Path]:
    """The configuration file of a daemon that serves a copy of the sample business."""
    with tempfile.TemporaryDirectory(prefix="reviewsd-demo-") as name:
        directory = Path(name)
        (directory / "data").mkdir()
        for file in ("reviews.json", "insights.json", "insights.yaml"):
            with as_file(files(__package__) / file) as source:
                shutil.copyfile(source, directory / "data" / file)
        config = directory / "reviewsd.yaml"
        config.write_text(_CONFIG)
        yield config
