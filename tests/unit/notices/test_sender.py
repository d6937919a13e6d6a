"""Sending by apprise: over a real socket, and without a secret in any text (notices.md 1)."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from twisted.internet import reactor
from twisted.internet.interfaces import IReactorFromThreads

from reviewsd.config.schema import NotifyTarget
from reviewsd.notices.messages import Message
from reviewsd.notices.sender import AppriseSender, TargetError, load_services
from tests.support.notified import NotifiedService

# apprise imports it while Python has it
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

THREADS = cast("IReactorFromThreads", reactor)


@pytest.fixture
def service() -> Iterator[NotifiedService]:
    with NotifiedService() as service:
        yield service


def target(file: Path) -> NotifyTarget:
    return NotifyTarget(name="owner", url_file=str(file), stars=1)


async def test_message_arrives_as_plain_text(tmp_path: Path, service: NotifiedService) -> None:
    service.write_address(tmp_path / "owner.url")
    sender = AppriseSender(THREADS, [target(tmp_path / "owner.url")], {})
    assert "" == await sender.send("owner", Message("Title", "<b>1</b>\n\n:smile: \\n"))
    service.status = 401
    assert "status 401" == await sender.send("owner", Message("Title", "Body"))
    sender.stop()
    assert ("Title", "<b>1</b>\n\n:smile: \\n") == (
        service.messages[0]["title"],
        service.messages[0]["message"],
    )


async def test_service_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with NotifiedService() as gone:
        gone.write_address(tmp_path / "owner.url")
    sender = AppriseSender(THREADS, [target(tmp_path / "owner.url")], {})
    problem = await sender.send("owner", Message("Title", "Body"))
    sender.stop()
    assert "the service was not reached, or refused it" == problem


def test_no_line_of_the_libraries_is_logged_once_addresses_are_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``check`` loads them without a sender."""
    library = logging.getLogger("apprise")
    monkeypatch.setattr(library, "propagate", True)
    monkeypatch.setattr(library, "handlers", [])
    library.error("before")
    (tmp_path / "owner.url").write_text("json://127.0.0.1")
    (tmp_path / "owner.url").chmod(0o400)
    load_services([target(tmp_path / "owner.url")], {})
    library.error("Secret")
    assert ["before"] == [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("name", ["notify_owner.url", "notify/owner.url"])
def test_address_may_be_a_credential(tmp_path: Path, name: str) -> None:
    """systemd makes the first of LoadCredential=notify:/folder, containers the second."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("json://127.0.0.1")
    (tmp_path / name).chmod(0o400)
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    AppriseSender(THREADS, [NotifyTarget(name="owner", stars=1)], environ).stop()


@pytest.mark.parametrize(
    ("content", "mode", "problem"),
    [
        (None, 0o600, "there is no {file}"),
        ("json://Secret", 0o604, "{file} is open to all users; run: chmod o= {file}"),
        ("\n# nothing\n", 0o600, "{file} has 0 addresses, not one"),
        ("json://Secret\njson://Secret", 0o600, "{file} has 2 addresses, not one"),
        ("Secret", 0o600, "no address that apprise knows; see https://appriseit.com/services/"),
        (
            "slack://Secret",
            0o600,
            "no address that apprise knows; see https://appriseit.com/services/",
        ),
        (
            "HTTPS://Secret/",
            0o600,
            (
                "no address that apprise knows; for a program of yours write json:// for http://, jsons:// for "
                "https://; see https://appriseit.com/services/"
            ),
        ),
        ("jsons://Secret/?verify=no", 0o600, "verify=no is refused, certificates are checked"),
    ],
)
def test_address_that_cannot_be_used_is_refused_without_being_shown(
    tmp_path: Path, content: str | None, mode: int, problem: str
) -> None:
    file = tmp_path / "owner.url"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)
    with pytest.raises(TargetError) as refused:
        AppriseSender(THREADS, [target(file)], {})
    assert f"notify: owner: {problem.format(file=file)}" == str(refused.value)


def test_address_out_of_reach_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The daemon crashed with a traceback where it may not enter the folder of the file."""
    file = tmp_path / ("x" * 300)
    with pytest.raises(TargetError, match=r"x cannot be read: File name too long$"):
        AppriseSender(THREADS, [target(file)], {})


def test_target_without_any_file_is_refused() -> None:
    with pytest.raises(TargetError, match=r"or the systemd credential notify_owner\.url"):
        AppriseSender(THREADS, [NotifyTarget(name="owner", stars=1)], {})


def test_missing_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(TargetError, match="/bin/pip install apprise"):
        AppriseSender(THREADS, [], {})
