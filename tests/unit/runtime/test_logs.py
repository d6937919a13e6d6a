"""One event, one line, whatever is in it (security-and-operations.md O8)."""

import io
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.logger import FileLogObserver, Logger, LogPublisher

from reviewsd.runtime.logs import Format, is_journal, render

ROOT = Path(__file__).parents[3]


class ForgerError(Exception):
    """Its text tries to look like another log line."""


class Log:
    """A logger, and the lines that it has written."""

    def __init__(self, form: Format, *, journal: bool = False) -> None:
        self._stream = io.StringIO()
        self.observer = FileLogObserver(self._stream, partial(render, form, journal))
        self.say = Logger(namespace="reviewsd.test", observer=LogPublisher(self.observer))

    @property
    def lines(self) -> list[str]:
        text = self._stream.getvalue()
        assert text == "" or text.endswith("\n")
        return text.split("\n")[:-1]

    def fail(self, text: str) -> None:
        try:
            forge(text)
        except ForgerError:
            self.say.failure("publishing {what} failed", what="data")


def forge(text: str) -> None:
    raise ForgerError(text)


# --- text


def test_text_is_time_level_and_sentence() -> None:
    log = Log("text")
    log.say.info("serving {count} reviews", count=120)
    log.say.warn("kept the old data")
    log.say.error("gone")
    patterns = [
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ info  serving 120 reviews",
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ warn  kept the old data",
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ error gone",
    ]
    assert len(patterns) == len(log.lines)
    assert all(re.fullmatch(*pair) for pair in zip(patterns, log.lines, strict=True))


def test_the_time_is_that_of_the_event() -> None:
    log = Log("text")
    log.observer({"log_time": 1_795_244_400.9, "log_format": "late"})
    assert log.lines == ["2026-11-21T07:00:00Z info  late"]


def test_foreign_text_cannot_forge_a_line() -> None:
    log = Log("text")
    log.say.info("refused {host}", host="a\n2026-11-21T07:00:00Z info  all is well\r\x1b[2J\u2028")
    assert len(log.lines) == 1
    assert log.lines[0].endswith(
        r"refused a\u000a2026-11-21T07:00:00Z info  all is well\u000d\u001b[2J\u2028"
    )


def test_a_traceback_is_indented_below_its_line() -> None:
    log = Log("text")
    log.fail("x\n2026-11-21T07:00:00Z info  forged\x1b[2J")
    assert re.fullmatch(r"\S+Z critical publishing data failed", log.lines[0])
    assert log.lines[1] == "    Traceback (most recent call last):"
    assert all(line.startswith("    ") for line in log.lines[1:])
    assert r"    2026-11-21T07:00:00Z info  forged\u001b[2J" in log.lines


@given(text=st.text())
def test_any_value_stays_on_its_line(text: str) -> None:
    log = Log("text", journal=True)
    log.say.info("{text}", text=text)
    assert len(log.lines) == 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202e\ud800-\udfff]", log.lines[0])


# --- json


def test_json_has_the_fields_of_the_event() -> None:
    log = Log("json")
    log.say.warn(
        "{method} {path}",
        method="GET",
        path="/reviews.json",
        status=200,
        ms=1.5,
        client=None,
        cached=True,
    )
    (line,) = log.lines
    entry = json.loads(line)
    moment = entry.pop("ts")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ", moment)
    assert datetime.fromisoformat(moment).utcoffset().total_seconds() == 0  # type: ignore[union-attr]  # it ends in Z
    assert entry == {
        "level": "warn",
        "event": "GET /reviews.json",
        "method": "GET",
        "path": "/reviews.json",
        "status": 200,
        "ms": 1.5,
        "client": None,
        "cached": True,
    }


def test_json_omits_values_that_are_no_scalars() -> None:
    """The sentence has them as text."""
    log = Log("json")
    log.say.info("{where}", where=Path("/x"), body=b"bytes", ratio=float("nan"), items=[1])
    entry = json.loads(log.lines[0])
    assert sorted(entry) == ["event", "level", "ts"]
    assert entry["event"] == "/x"


def test_keyword_cannot_replace_a_field_of_every_event() -> None:
    log = Log("json")
    log.observer(
        {"log_time": 0.0, "log_format": "true", "level": "debug", "ts": "never", "event": "false"}
    )
    entry = json.loads(log.lines[0])
    assert (entry["event"], entry["level"]) == ("true", "info")
    assert entry["ts"] != "never"


def test_a_traceback_stays_inside_its_json_line() -> None:
    log = Log("json")
    log.fail("x\ny")
    (line,) = log.lines
    entry = json.loads(line)
    assert (entry["level"], entry["event"]) == ("critical", "publishing data failed")
    assert entry["traceback"].startswith("Traceback (most recent call last):\n")
    assert entry["traceback"].rstrip().endswith("ForgerError: x\ny")


@given(text=st.text(), value=st.one_of(st.text(), st.integers(), st.floats(), st.binary()))
def test_any_event_is_one_json_line(text: str, value: object) -> None:
    log = Log("json")
    log.say.info("{text}", text=text, value=value)
    (line,) = log.lines
    assert line.isascii()
    assert text == json.loads(line)["event"]


# --- the journal


@pytest.mark.parametrize(
    ("level", "priority"), [("info", 6), ("warn", 4), ("error", 3), ("critical", 2)]
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_lines_for_the_journal_have_priorities(form: Format, level: str, priority: int) -> None:
    log = Log(form, journal=True)
    getattr(log.say, level)("something")
    assert log.lines[0].startswith(f"<{priority}>")


def test_every_line_of_a_traceback_has_its_priority() -> None:
    """The journal makes an entry of each line."""
    log = Log("text", journal=True)
    log.fail("x")
    assert len(log.lines) > 3
    assert all(line.startswith("<2>") for line in log.lines)


def test_journal_is_recognized_by_its_device_and_inode(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as stream:
        status = os.fstat(stream.fileno())
        right = f"{status.st_dev}:{status.st_ino}"
        assert is_journal({"JOURNAL_STREAM": right}, stream)
        assert not is_journal({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino + 1}"}, stream)
        assert not is_journal({}, stream)
        assert not is_journal({"JOURNAL_STREAM": right}, io.StringIO())
    assert not is_journal({"JOURNAL_STREAM": right}, stream)


# --- noise


def test_debug_is_not_shown() -> None:
    log = Log("text")
    log.say.debug("details")
    assert log.lines == []


@pytest.mark.parametrize(
    ("namespace", "levels"),
    [
        ("reviewsd.app.daemon", ["info", "warn", "critical"]),
        ("twisted.web.server.Site", ["warn", "critical"]),
        ("twistedly.ours", ["info", "warn", "critical"]),
    ],
)
def test_events_of_twisted_are_logged_from_warn_on(namespace: str, levels: list[str]) -> None:
    log = Log("text")
    logger = Logger(namespace=namespace, observer=LogPublisher(log.observer))
    for level in ("debug", "info", "warn", "critical"):
        getattr(logger, level)("said")
    assert levels == [line.split()[1] for line in log.lines]


PROGRAM = """
import os, sys
from twisted.internet import reactor
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.python import log
from reviewsd.runtime.logs import start

class OurFactory(Factory):
    "Logs under its own name."

Logger(namespace="reviewsd.early").info("before")
start(sys.argv[1], os.environ, sys.stdout)
reactor.listenTCP(0, OurFactory(), interface="127.0.0.1")
reactor.callWhenRunning(reactor.stop)
reactor.run()
try:
    1 / 0
except ZeroDivisionError:
    log.err(None, "Unhandled Error Processing Request.")
Logger(namespace="reviewsd.late").info("{text}", text="\\xe4 \\udce4 \\u2713")
"""


def run(form: Format, out: Path, *, journal: bool) -> list[str]:
    """The lines of a process that listens, stops, and has an error in Klein's manner."""
    with out.open("w") as stream:
        status = os.fstat(stream.fileno())
        environ = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
        if journal:
            environ["JOURNAL_STREAM"] = f"{status.st_dev}:{status.st_ino}"
        command = [sys.executable, "-c", PROGRAM, form]
        done = subprocess.run(
            command, env=environ, stdout=stream, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.stderr, done.returncode) == ("", 0)
    return out.read_text(encoding="ascii").splitlines()


def test_process_logs_its_own_events_only(tmp_path: Path) -> None:
    """Ports, factories and the reactor start silently; what was logged before comes first."""
    lines = run("text", tmp_path / "out", journal=False)
    heads = [line.split(maxsplit=1)[1] for line in lines if not line.startswith(" ")]
    assert heads == [
        "info  before",
        "critical Unhandled Error Processing Request.",
        r"info  \xe4 \udce4 \u2713",
    ]
    assert sum("ZeroDivisionError: " in line for line in lines) == 1


def test_a_process_in_the_journal_logs_json_with_priorities(tmp_path: Path) -> None:
    lines = run("json", tmp_path / "out", journal=True)
    assert [line[:3] for line in lines] == ["<6>", "<2>", "<6>"]
    entries = [json.loads(line[3:]) for line in lines]
    assert [entry["event"] for entry in entries] == [
        "before",
        "Unhandled Error Processing Request.",
        "ä \udce4 ✓",
    ]
    assert "ZeroDivisionError: " in entries[1]["traceback"]
