"""The log on standard output: one event, one line (security-and-operations.md O8).

``text`` is for people, ``json`` for machines; both read the same ``twisted.logger`` events. Where
standard output is the journal, each line begins with the priority prefix of sd-daemon(3).

An event may contain text of a client, so no value may start a line: control characters are escaped, and
the lines of a traceback are indented (text) or inside a string (json).
"""

import io
import json
import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Literal, TextIO, TypeAlias

from twisted.logger import FileLogObserver, LogEvent, LogLevel, formatEvent, globalLogBeginner
from twisted.python.failure import Failure

from reviewsd.api.texts import printable

Format: TypeAlias = Literal["text", "json"]

_PRIORITIES = {  # of syslog(3)
    LogLevel.debug: 7,
    LogLevel.info: 6,
    LogLevel.warn: 4,
    LogLevel.error: 3,
    LogLevel.critical: 2,
}

_FACTORY_FORMATS = {"Starting factory {factory!r}", "Stopping factory {factory!r}"}

# twisted.python.log adds these to the events of Twisted's older parts and of Klein
_LEGACY_FIELDS = {"message", "time", "system", "isError", "format", "failure", "why"}


def start(form: Format, environ: Mapping[str, str], stream: TextIO) -> None:
    """Start to log to a stream, usually standard output, first the events so far; call this once."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # no character may make a line fail
    journal = is_journal(environ, stream)
    observer = FileLogObserver(stream, partial(render, form, journal))
    globalLogBeginner.beginLoggingTo([observer], redirectStandardIO=False)


def is_journal(environ: Mapping[str, str], stream: TextIO) -> bool:
    """Return whether systemd connected a stream to the journal (systemd.exec(5))."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # no file, or a closed one
        return False
    return environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def render(form: Format, journal: bool, event: LogEvent) -> str:  # noqa: FBT001  by position
    """Return the lines of an event, with priorities for the journal; none for noise."""
    if _is_noise(event):
        return ""
    # JSON is ASCII, for any encoding of the stream, and on one line
    text = json.dumps(fields(event)) if form == "json" else _as_text(event)
    prefix = f"<{_PRIORITIES[_level(event)]}>" if journal else ""
    return "".join(f"{prefix}{line}\n" for line in text.split("\n"))


def _is_noise(event: LogEvent) -> bool:
    """Return whether an event is below info, or below warn and Twisted's own.

    Factories log under the name of their class, which may be ours, so their texts identify them; ports
    and the reactor still log through ``twisted.python.log``.
    """
    level = _level(event)
    namespace = str(event.get("log_namespace", ""))
    return level < LogLevel.info or (
        level < LogLevel.warn
        and (
            namespace == "log_legacy"
            or namespace.startswith("twisted.")
            or str(event.get("log_format")) in _FACTORY_FORMATS
        )
    )


def _as_text(event: LogEvent) -> str:
    moment = datetime.fromtimestamp(event["log_time"], UTC)
    line = f"{moment:%Y-%m-%dT%H:%M:%SZ} {_level(event).name:<5} {printable(_message(event))}"
    lines = [printable(line).rstrip() for line in _traceback(event).split("\n")]
    return "\n".join([line, *(f"    {below}" for below in lines if below)])


def fields(event: LogEvent) -> dict[str, object]:
    """Return the fields of an event for JSON: ``ts``, ``level``, ``event`` (the sentence), then scalar keywords.

    Keywords that several events have are ``type`` (of outcomes, see ``admin.events``), ``topic``,
    ``version``, ``callback_host``, ``subscription_id``, ``client``, ``path`` and ``traceback``.
    """
    moment = datetime.fromtimestamp(event["log_time"], UTC)
    values: dict[str, object] = {
        "ts": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": _level(event).name,
        "event": _message(event),
    }
    for name, value in event.items():
        if not name.startswith("log_") and name not in _LEGACY_FIELDS and _is_scalar(value):
            values.setdefault(name, value)
    if traceback := _traceback(event):
        values["traceback"] = traceback
    return values


def _is_scalar(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)


def _level(event: LogEvent) -> LogLevel:
    level: LogLevel = event.get("log_level", LogLevel.info)
    return level


def _message(event: LogEvent) -> str:
    if "failure" in event and "log_failure" not in event:  # twisted.python.log.err
        return str(event.get("why") or "Unhandled Error")
    return formatEvent(event)


def _traceback(event: LogEvent) -> str:
    failure = event.get("log_failure", event.get("failure"))
    return failure.getTraceback() if isinstance(failure, Failure) else ""
