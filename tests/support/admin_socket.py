"""Requests to a real admin socket in this process, and what holds for every answer (A3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from twisted.internet import reactor
from twisted.internet.interfaces import IListeningPort, IReactorUNIX
from twisted.internet.threads import deferToThread
from twisted.logger import LogEvent, formatEvent

from reviewsd.admin.app import API, admin_site
from reviewsd.admin.hub import HubRoutes
from reviewsd.admin.reload import Reloading
from reviewsd.admin.status import DaemonRoutes
from reviewsd.api.jobs import ConfigChanges, Guard
from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.websub.operator import Operator
from tests.support.daemon import Answer, connected

VERSION = "9.8.7"
BASE = "https://a.example"


class DataReloading(Reloading):
    """A Reloading with a configuration that never changes."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.changes = ConfigChanges()

    async def reload(
        self, *, lifted: frozenset[Guard] = frozenset(), progress: StepObserver | None = None
    ) -> Report:
        return await self._publisher.reload(lifted=lifted, progress=progress)


def listen(path: Path, owners: Iterable[object]) -> IListeningPort:
    """Serve the routes that objects declare on a socket."""
    site = admin_site(owners, VERSION)
    return cast("IReactorUNIX", reactor).listenUNIX(
        str(path),
        site,  # type: ignore[arg-type]  # declared before factories were generic
    )


def operator_routes(
    snapshots: Snapshots,
    publisher: Publisher,
    operator: Operator,
    now: Callable[[], float] = lambda: 0.0,
) -> tuple[object, ...]:
    """Return the routes of the daemon and the hub."""
    tasks = TaskSet()
    daemon = DaemonRoutes(
        snapshots=snapshots,
        publisher=publisher,
        reloading=DataReloading(publisher),
        operator=operator,
        version=VERSION,
        installed_at=1_760_000_000.5,
        base_url=BASE,
        listen=("x",),
        data_dir="/d",
        now=now,
        tasks=tasks,
    )
    return daemon, HubRoutes(operator, BASE, tasks)


async def ask(
    socket_path: Path,
    method: str,
    target: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """Make a request as reviewsctl does; ``Host`` can be replaced, or left out with ''."""
    answer: Answer = await deferToThread(_ask, socket_path, method, target, headers or {}, body)
    return answer


def _ask(
    socket_path: Path, method: str, target: str, headers: Mapping[str, str], body: bytes | None
) -> Answer:
    with connected(socket_path) as connection:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": "reviewsd", **headers}.items():
            for line in filter(None, value.split("|")):
                connection.putheader(name, line)
        connection.endheaders(body, encode_chunked="Transfer-Encoding" in headers)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())


def told(events: Sequence[LogEvent]) -> list[str]:
    """Return the sentences of log events, without those of Twisted."""
    return [
        formatEvent(event)
        for event in events
        if event.get("log_namespace", "").startswith("reviewsd.") or event.get("isError")
    ]


def check_problem(answer: Answer, status: int) -> None:
    assert status == answer.status
    assert "application/problem+json" == answer.headers["Content-Type"]
    problem = answer.json()
    assert {"type", "title", "status", "detail"} == set(problem)
    assert status == problem["status"]
    check_headers(answer)


def check_headers(answer: Answer) -> None:
    """Check the header fields of every answer (A3)."""
    assert str(API) == answer.headers["Reviewsd-Api"]
    assert VERSION == answer.headers["Reviewsd-Version"]
    assert "no-store" == answer.headers["Cache-Control"]
