"""A data directory and a state directory, published in this process or in one of its own."""

import contextlib
import dataclasses
import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from twisted.logger import LogEvent, formatEvent

from reviewsd.api.jobs import Guard
from reviewsd.config.errors import ConfigError
from reviewsd.config.load import load
from reviewsd.mcp.tools import LISTING
from reviewsd.publish.messages import Job, JobMessage, Outcome, PublicationOrder
from reviewsd.publish.publication import publish
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import BuildInfo, Manifest, open_manifest, open_seen
from tests.support.columns import SETTINGS, Review

NOW = 1_760_000_000.5
_LARGEST = 1 << 20  # bytes of a file

ROOT = Path(__file__).parents[2]
_line: msgspec.json.Decoder[JobMessage] = msgspec.json.Decoder(JobMessage)

_templates: dict[str, bytes] = {}  # compiled by earlier publications, as a daemon has them


def publish_here(job: Job) -> Outcome:
    """Publish in this process."""
    outcome = publish(msgspec.structs.replace(job, bytecode=dict(_templates)), lambda *_: None)
    if outcome.result in {"published", "unchanged"}:
        _templates.update(outcome.bytecode)
    return outcome


def publish_for(config: Path, environ: Mapping[str, str]) -> None:
    """Publish the data of a daemon before its first start, as after a restart: in a process it takes far longer.

    Nothing is done for faulty data or a faulty configuration, and for large data, which are left to the process
    with the memory limit.
    """
    try:
        order = PublicationOrder.from_config(
            load(config, environ).config, version("reviewsd"), LISTING.decode()
        )
    except ConfigError:
        return
    state, data = Path(order.snapshots).parent, Path(order.data_dir)
    if (
        state.is_file()
        or Path(order.snapshots).exists()
        or order.templates_path is not None
        or not data.is_dir()
        or any(not file.is_file() or file.stat().st_size > _LARGEST for file in data.iterdir())
    ):
        return
    state.mkdir(mode=0o700, exist_ok=True)
    publish_here(Job(order=order, version=version("reviewsd"), now=time.time()))


class Directories:
    """The data and the state directory, and the order to publish from one into the other."""

    def __init__(self, place: Path) -> None:
        self.data = place / "data"
        self.data.mkdir()
        self.snapshots = place / "state" / "snapshots"
        self.current = self.snapshots / "current"
        self.order = PublicationOrder(
            data_dir=str(self.data),
            snapshots=str(self.snapshots),
            settings=SETTINGS,
            max_bytes=1 << 30,
            insights="file",
        )

    def limit_resources(self, size: int) -> None:
        """Let larger documents be no resources of MCP."""
        settings = dataclasses.replace(self.order.settings, max_resource=size)
        self.order = msgspec.structs.replace(self.order, settings=settings)

    def write(
        self,
        *reviews: Review,
        name: str = "Acme",
        insights: object = None,
        removed: Sequence[object] = (),
        **business: object,
    ) -> None:
        content: dict[str, object] = {"business": {"name": name, **business}, "reviews": reviews}
        if removed:
            content["removed"] = removed
        (self.data / "reviews.json").write_text(json.dumps(content))
        if insights is not None:
            (self.data / "insights.json").write_text(json.dumps(insights))

    def job(
        self, now: float = NOW, *, lifted: frozenset[Guard] = frozenset(), **order: object
    ) -> Job:
        replaced = msgspec.structs.replace(self.order, **order)
        return Job(order=replaced, version="1", now=now, lifted=lifted)

    def publish(
        self, now: float = NOW, *, lifted: frozenset[Guard] = frozenset(), **order: object
    ) -> Outcome:
        return publish_here(self.job(now, lifted=lifted, **order))

    def seen(self) -> BuildInfo:
        build = open_seen(self.current)
        assert build is not None
        return build

    def manifest(self) -> Manifest:
        """Return the manifest of the current snapshot, which must be complete."""
        revision = self.current.readlink().name
        encoded = (self.current / layout.MANIFEST).read_bytes()
        manifest = open_manifest(self.current)
        assert manifest is not None
        assert hashlib.sha256(encoded).hexdigest()[:16] == revision
        for name, file in manifest.files.items():
            content = (self.current / name).read_bytes()
            assert file.size == len(content)
            assert file.sha256 == hashlib.sha256(content).hexdigest()
        assert open_seen(self.current) is not None
        return manifest

    def served(self) -> object:
        """The name of the business in the current snapshot."""
        return json.loads((self.current / "reviews.json").read_bytes())["business"]["name"]

    def check_tidy(self) -> None:
        """The current snapshot, and nothing else at all."""
        manifest = self.manifest()
        assert {"current", self.current.readlink().name} == names_in(self.snapshots)
        origin = manifest.insights_origin
        blocks = {layout.BLOCKS} if origin and origin.made and not origin.fault else set()
        assert {*manifest.files, layout.MANIFEST, layout.SEEN, *blocks} == names_in(self.current)


@contextlib.contextmanager
def in_memory() -> Iterator[Path]:
    """A directory in memory, if there is one: many publications would wait for a disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        yield Path(place)


def names_in(place: Path) -> set[str]:
    """Return the names in a directory."""
    return {file.name for file in place.iterdir()}


def texts(events: Sequence[LogEvent]) -> list[str]:
    """Return the lines of captured events of the log."""
    return [formatEvent(event) for event in events]


def start() -> "subprocess.Popen[bytes]":
    """The publishing process, waiting for its job.

    It writes no bytecode: Python 3.11 keeps half a file where its size is limited, and never looks again.
    """
    command = [sys.executable, "-B", "-m", "reviewsd.publish.publication"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)


def run(job: Job, most_bytes: int = resource.RLIM_INFINITY) -> tuple[int, list[JobMessage], str]:
    """Exit status, lines on stdout, and what it said on stderr."""
    with start() as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        output, complained = process.communicate(msgspec.json.encode(job))
    assert output == b"" or output.endswith(b"\n")
    return (
        process.returncode,
        [_line.decode(line) for line in output.splitlines()],
        complained.decode(),
    )
