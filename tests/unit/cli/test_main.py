"""The real reviewsctl, as a process, against a scripted admin socket (interfaces.md 1.1-1.4)."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reviewsctl.commands.root import COMMANDS, GROUPS, app
from reviewsctl.daemon.default_paths import SOCKET
from reviewsctl.daemon.units import START
from reviewsd.api.places import SYSTEM
from tests.support.admin_fake import (
    DEGRADED,
    HEADERS,
    PROBLEMS,
    STATUS,
    AdminFake,
    Scripted,
    document,
    events,
    problem,
)
from tests.support.commands import CONSOLE_SCRIPT, Ctl, on_a_terminal, reviewsctl, started
from tests.support.hub_answers import STATE
from tests.support.programs import run_program

pytestmark = pytest.mark.processes

PAGES = [
    *COMMANDS,
    *(f"subs {name}" for name in ("list", "show", "remove", "push")),
    *(f"hub {name}" for name in ("pause", "resume", "block", "unblock", "blocks")),
    *("notify test", "config show", "config schema", "service install", "service uninstall"),
    *(f"insights {name}" for name in ("label", "explain", "suggest", "compare", "write")),
]
NEVER_IMPORTED_BY_HELP = (
    "rich",
    "http.client",
    "msgspec",
    "pydantic",
    "twisted",
    "importlib.metadata",
)


def result(outcome: str, problems: list[str] | None = None) -> dict[str, object]:
    return {
        "type": "result",
        "outcome": outcome,
        "revision": "3f2a9c0d1e4b",
        "review_count": 120,
        "seconds": 0.42,
        "problems": problems or [],
    }


def pushed(failed: int = 0) -> dict[str, object]:
    """Return the result of a push to 1,000 subscribers."""
    counts = {"total": 1000, "delivered": 1000 - failed, "failed": failed, "removed": 0}
    return {"type": "result", **counts}


def progress(done: int, stage: str = "validating", failed: int = 0) -> dict[str, object]:
    step = {"stage": stage, "done": done, "total": 1000, "failed": failed}
    return {"type": "progress", **step}


SCRIPT: Mapping[str, Scripted] = {
    "GET /v1/status": document(STATUS),
    "POST /v1/reload": events(result("published")),
    "GET /v1/blocks": document({"blocks": []}),
}
JOBS = {"reload": ("reload",), "push": ("subs", "push")}


def scripted(daemon: AdminFake, **answers: Scripted) -> None:
    """Replaces answers: ``status=``, ``reload=``, ``push=``."""
    targets = {name: f"{'POST' if name in JOBS else 'GET'} /v1/{name}" for name in answers}
    daemon.script = {**SCRIPT, **{targets[name]: answer for name, answer in answers.items()}}


# Exit codes: interfaces.md 1.4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["open", "--print"], 0),
        (["--version"], 0),
        (["reload", "--wait"], 0),  # ExecReload= of units that an earlier version installed
        (["--help"], 0),
        ([], 2),
        (["status", "--yaml"], 2),
        (["status", "extra"], 2),
    ],
)
def test_exit_codes_with_a_healthy_daemon(
    ctl: Ctl, daemon: AdminFake, arguments: list[str], code: int
) -> None:
    assert code == ctl(*arguments).returncode


ANOTHER_VERSION = dataclasses.replace(
    events(progress(500), result("published")), headers={**HEADERS, "Reviewsd-Version": "0.0.9"}
)


@pytest.mark.parametrize(
    ("job", "answer", "code", "says"),
    [
        ("reload", ANOTHER_VERSION, 0, ""),
        ("reload", events(result("unchanged")), 0, ""),
        ("reload", events(result("refused", PROBLEMS)), 1, "Error: reload refused"),
        ("reload", events(result("failed")), 1, "Error: reload failed"),
        ("reload", problem(403, "Forbidden", "Read only."), 1, "Error: forbidden: Read only."),
        ("push", events(progress(500), pushed()), 0, ""),
        ("push", events(progress(500), pushed(failed=1)), 1, "Error: push incomplete: 999 "),
        ("push", events(progress(1), cut=True), 1, "See its outcome: reviewsctl status\n"),
    ],
)
def test_quiet_job_prints_its_error_alone(
    ctl: Ctl, daemon: AdminFake, job: str, answer: Scripted, code: int, says: str
) -> None:
    scripted(daemon, **{job: answer})
    run = ctl(*JOBS[job], "-q")
    assert (code, "") == (run.returncode, run.stdout)
    assert (says in run.stderr) if code else ("" == run.stderr)


@pytest.mark.parametrize(
    "command", ["status", "open", "reload", "subs list", "subs push 12", "hub pause"]
)
def test_a_daemon_that_is_not_running_is_exit_code_3_and_its_remedy(ctl: Ctl, command: str) -> None:
    run = ctl(*command.split())
    assert run.returncode == 3
    assert run.stdout == ""
    assert run.stderr == (
        "Error: reviewsd is not reachable: it is not running: "
        f"there is no {ctl.environment['REVIEWSD_ADMIN_SOCKET']}\n"
        f"Start it: {START} (or name its socket with --socket)\n"
    )


def test_no_permission_is_exit_code_3_and_names_the_group(ctl: Ctl, daemon: AdminFake) -> None:
    daemon.path.chmod(0)
    as_root = os.geteuid() == 0  # root passes every mode, unless it gives up the capability
    if as_root and shutil.which("setpriv") is None:
        pytest.skip("run by root without setpriv")
    drop = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    run = ctl("status", before=drop if as_root else ())
    assert run.returncode == 3
    assert f"no permission to use {daemon.path}" in run.stderr
    assert "reviewsd-admin" in run.stderr


# status


def test_a_degraded_status_is_an_answer(ctl: Ctl, daemon: AdminFake) -> None:
    scripted(daemon, status=document(DEGRADED))
    run = ctl("status")
    assert (0, "") == (run.returncode, run.stderr)
    assert "\x1b" not in run.stdout
    for line in PROBLEMS:
        assert f"           {line}\n" in run.stdout  # in a pipe a line stays whole


@pytest.mark.parametrize(
    ("command", "target"), [("status", "GET /v1/status"), ("hub blocks", "GET /v1/blocks")]
)
def test_json_is_the_daemons_own_on_one_line(
    ctl: Ctl, daemon: AdminFake, command: str, target: str
) -> None:
    newer = {**STATUS, "blocks": [], "new": ["member", 1.0, "Jörg", "\x1b[2J\x9b2J\x07"]}
    daemon.script = {target: document(newer)}
    run = ctl(*command.split(), "--json")
    line = json.dumps(newer, separators=(",", ":"), ensure_ascii=False)
    line = line.replace("\x9b", "\\u009b")
    assert (0, f"{line}\n", "") == (run.returncode, run.stdout, run.stderr)


def test_error_of_the_daemon_has_no_control_characters(ctl: Ctl, daemon: AdminFake) -> None:
    scripted(daemon, status=problem(500, "Oh\x1b[31m", "dear\nme"))
    assert ctl("status").stderr == "Error: oh\\u001b[31m: dear\\u000ame\n"


@pytest.mark.parametrize("command", ["status", "reload"])
def test_errors_under_json_are_json_on_stderr(ctl: Ctl, command: str) -> None:
    run = ctl(command, "--json")

    assert run.returncode == 3
    assert run.stdout == ""
    assert json.loads(run.stderr) == {
        "error": {
            "title": "reviewsd is not reachable",
            "detail": f"it is not running: there is no {ctl.environment['REVIEWSD_ADMIN_SOCKET']}",
            "remedy": f"Start it: {START} (or name its socket with --socket)",
        }
    }


# status --quiet, open, --version


def test_quiet_status_prints_nothing_when_reviews_are_served(ctl: Ctl, daemon: AdminFake) -> None:
    """While data is refused, or the database is away, reads go on: a restart would improve nothing."""
    for status in (STATUS, DEGRADED, {**STATUS, "hub": {**STATE, "store": "disk full"}}):
        scripted(daemon, status=document(status, Reviewsd_Version="0.0.9"))
        run = ctl("status", "--quiet")
        assert (0, "", "") == (run.returncode, run.stdout, run.stderr)


def test_quiet_status_fails_when_no_reviews_are_served(ctl: Ctl, daemon: AdminFake) -> None:
    data: dict[str, object] = {"dir": "/srv/reviews", "state": "waiting", "problems": []}
    data |= {"last_reload": None, "failing_since": None}
    scripted(daemon, status=document({**STATUS, "snapshot": None, "data": data}))
    run = ctl("status", "-q")
    expected = "Error: no reviews are served yet: the state is waiting; see: reviewsctl status\n"
    assert (1, "", expected) == (run.returncode, run.stdout, run.stderr)


def test_open_starts_the_browser_at_a_display(ctl: Ctl, daemon: AdminFake, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    browser.chmod(0o755)
    address = "https://reviews.example.com/\n"
    ctl.environment["BROWSER"] = str(browser)

    assert address == ctl("open", "--print").stdout
    assert not (tmp_path / "opened").exists()
    assert ctl("open").stdout.startswith(address)
    assert address == (tmp_path / "opened").read_text()
    browser.write_text("#!/bin/sh\nexit 1\n")
    failed = ctl("open")
    assert 1 == failed.returncode
    assert "Open the address yourself." in failed.stderr


def test_open_prints_the_addresses_with_and_without_the_proxy(ctl: Ctl, daemon: AdminFake) -> None:
    """The public address of a new shop is dead until its proxy is there."""
    run = ctl("open")
    assert [
        "https://reviews.example.com/",
        "on this machine, without the proxy: http://127.0.0.1:8080/",
    ] == run.stdout.splitlines()
    behind_none = {"base_url": "http://127.0.0.1:8080"}
    scripted(daemon, status=document({**STATUS, **behind_none}))
    assert "http://127.0.0.1:8080/\n" == ctl("open").stdout


def test_metrics_are_printed_as_they_come(ctl: Ctl, daemon: AdminFake) -> None:
    text = b'# HELP a B.\n# TYPE a gauge\na{b="\x1b[2J"} 1.0\n'
    scripted(daemon, metrics=Scripted(parts=(text,), headers=HEADERS, whole=True))
    assert text.decode().replace("\x1b", r"\u001b") == ctl("metrics").stdout


def test_a_daemon_of_another_version_is_warned_about(ctl: Ctl, daemon: AdminFake) -> None:
    """After an upgrade the old daemon runs on until it is restarted."""
    scripted(daemon, status=document(STATUS, Reviewsd_Version="0.0.9"))
    plain, as_json = ctl("status"), ctl("status", "--json")
    assert 0 == plain.returncode
    assert plain.stderr == (
        "Warning: versions differ: reviewsctl is 0.1.0 but the running reviewsd is 0.0.9: "
        "after an upgrade, restart the daemon (sudo systemctl restart reviewsd), or its container\n"
    )
    assert json.loads(as_json.stderr)["warning"]["title"] == "versions differ"


# reload


@pytest.mark.parametrize(
    ("job", "outcome", "error"),
    [
        ("reload", result("published"), {}),
        ("reload", result("refused", PROBLEMS), {"title": "reload refused", "problems": PROBLEMS}),
        ("push", pushed(failed=1), {}),
    ],
)
def test_json_of_a_job_is_the_daemons_events_and_a_quiet_one_its_outcome(
    ctl: Ctl, daemon: AdminFake, job: str, outcome: dict[str, object], error: dict[str, object]
) -> None:
    messages = [progress(500), outcome]
    scripted(daemon, **{job: events(*messages)})
    run, quiet = ctl(*JOBS[job], "--json"), ctl(*JOBS[job], "--quiet", "--json")

    assert messages == [json.loads(line) for line in run.stdout.splitlines()]
    assert outcome == json.loads(quiet.stdout)
    assert int(outcome != result("published")) == run.returncode
    assert run.stderr == (
        json.dumps({"error": error}, separators=(",", ":")) + "\n" if error else ""
    )


@pytest.mark.parametrize(("job", "number"), [("reload", signal.SIGINT), ("push", signal.SIGHUP)])
def test_signal_detaches_from_a_job_and_ends_with_its_code(
    ctl: Ctl, daemon: AdminFake, job: str, number: signal.Signals
) -> None:
    over = threading.Event()
    scripted(daemon, **{job: events(progress(500), over, result("published"))})
    with started(ctl.environment, *JOBS[job], "--json") as run:
        assert run.stdout is not None
        assert "500" in run.stdout.readline()
        run.send_signal(number)
        _, stderr = run.communicate(timeout=60)
    over.set()

    assert run.returncode == 128 + number
    detail = f"the daemon goes on with the {job}; how it ends: reviewsctl status"
    assert {"error": {"title": "detached", "detail": detail}} == json.loads(stderr)


def test_quiet_test_of_notices_names_the_failed_target(ctl: Ctl, daemon: AdminFake) -> None:
    tests = [{"target": "owner", "problem": ""}, {"target": "chat", "problem": "status 503"}]
    daemon.script = {**SCRIPT, "POST /v1/notify/test": document({"tests": tests})}
    run = ctl("notify", "test", "--quiet")
    assert (1, "chat   failed: status 503\n") == (run.returncode, run.stdout)


# Terminals


def test_a_terminal_gets_a_bar_and_colors(ctl: Ctl, daemon: AdminFake) -> None:
    nothing = {**progress(0, "correcting"), "total": 0}
    steps = (progress(250, failed=3), progress(1000, failed=3), nothing, progress(1000, "writing"))
    scripted(daemon, push=events(*steps, pushed()))
    screen = on_a_terminal({**ctl.environment, "COLUMNS": "120"}, "subs", "push")
    assert "validating, 3 failed" in screen
    assert "1000/1000" in screen
    assert "0/100 " not in screen
    assert "correcting" not in screen
    assert "\x1b[32mpushed\x1b[0m: 1,000 of 1,000 delivered" in screen


def test_no_color_gives_plain_text(ctl: Ctl, daemon: AdminFake) -> None:
    assert "\x1b[32mok" in on_a_terminal(ctl.environment, "status")
    assert "\x1b" not in on_a_terminal({**ctl.environment, "NO_COLOR": "1"}, "status")


def test_a_dumb_terminal_gets_no_bar(ctl: Ctl, daemon: AdminFake) -> None:
    scripted(daemon, reload=events(progress(1000), result("published")))
    screen = on_a_terminal({**ctl.environment, "TERM": "dumb"}, "reload")
    assert "published" in screen
    assert "validating" not in screen


def test_a_reader_who_leaves_gets_no_traceback(ctl: Ctl, daemon: AdminFake) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (["status"], ["reload"]):
        run = subprocess.run(
            [sys.executable, "-c", CONSOLE_SCRIPT, *arguments],
            env=ctl.environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        assert (run.returncode, run.stderr) == (1, ""), arguments
    os.close(writing)


def test_character_that_a_terminal_cannot_encode_is_escaped(ctl: Ctl, daemon: AdminFake) -> None:
    scripted(daemon, status=document({**STATUS, "base_url": "https://łuk.example"}))
    run = reviewsctl({**ctl.environment, "PYTHONIOENCODING": "latin-1"}, "status")
    assert "https://\\u0142uk.example" in run.stdout


# Help and options


def help_of(*command: str) -> str:
    """Return the help of a command, as a terminal of 80 columns shows it."""
    runner = CliRunner(env={"COLUMNS": "80"})
    return runner.invoke(app, [*command, "--help"], prog_name="reviewsctl").stdout


@pytest.mark.parametrize("command", PAGES)
def test_help_teaches_with_a_paragraph_and_an_example(command: str) -> None:
    text = help_of(*command.split())
    summary, paragraph = text.split("\n\n")[1:3]
    assert summary.endswith(".")
    assert paragraph.count("\n") >= 1
    assert f"Examples:\n    reviewsctl {command}" in text


def test_the_root_help_lists_every_command_whole_and_the_exit_codes() -> None:
    text = help_of()
    for heading, names in GROUPS.items():
        commands = text.split(f"\n{heading}:\n")[1].split("\n\n")[0]
        assert list(names) == [line.split()[0] for line in commands.splitlines()]
        assert "..." not in commands
    for code in ("0", "1", "2", "3", "4", "5", "130"):
        assert f"\n    {code} " in text


@pytest.mark.parametrize("group", sorted({page.split()[0] for page in PAGES if " " in page}))
def test_help_of_a_group_lists_its_commands_whole(group: str) -> None:
    """Typer cuts a summary that is too long for 80 columns."""
    commands = help_of(group).split("\nCommands:\n")[1]
    assert "..." not in commands.split("\n\n")[0]


@pytest.mark.skipif(SYSTEM.exists() or SOCKET.exists(), reason="a service is installed here")
def test_doctor_reports_a_folder_without_a_configuration(ctl: Ctl, tmp_path: Path) -> None:
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    first, remedy, *_ = ctl("doctor", "--offline", folder=tmp_path).stdout.splitlines()
    assert "no ./reviewsd.yaml here and no /etc/reviewsd/reviewsd.yaml" in first
    assert "Go to the folder of your business, or say --config or --socket." == remedy.strip()


@pytest.mark.skipif(SYSTEM.exists() or SOCKET.exists(), reason="a service is installed here")
@pytest.mark.parametrize(
    ("command", "code", "title"),
    [
        (("status",), 3, "reviewsd is not reachable"),
        (("backup", "x.zip"), 3, "reviewsd is not reachable"),
        (("reviews", "list"), 2, "not listed"),
        (("reviews", "hide", "r1", "--reason", "spam"), 2, "not corrected"),
        (("reviews", "restore", "r1"), 2, "not corrected"),
    ],
)
def test_missing_configuration_is_reported_with_the_remedy(
    ctl: Ctl, tmp_path: Path, command: tuple[str, ...], code: int, title: str
) -> None:
    """In a wrong folder it said how to start a service, or that no folder of data is known."""
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    run = ctl(*command, folder=tmp_path)
    assert (code, "") == (run.returncode, run.stdout)
    assert f"{title}: no ./reviewsd.yaml here and no /etc/reviewsd/reviewsd.yaml\n" in run.stderr
    assert "Go to the folder of your business, or " in run.stderr

    (tmp_path / "reviewsd.yaml").write_text("data_dir: data\nadmin_socket: admin.sock\n")
    assert "here and no" not in ctl(*command, folder=tmp_path).stderr


def test_command_that_is_mistyped_is_answered_with_the_one_that_is_meant(ctl: Ctl) -> None:
    run = ctl("statsu")
    assert (2, "") == (run.returncode, run.stdout)
    assert "No such command 'statsu'. Did you mean 'status'?" in run.stderr


def test_options_of_the_root_are_those_of_every_command(ctl: Ctl, daemon: AdminFake) -> None:
    elsewhere = {**ctl.environment, "REVIEWSD_ADMIN_SOCKET": "/nowhere"}
    assert "there is no /nowhere" in reviewsctl(elsewhere, "status").stderr
    assert 0 == reviewsctl(elsewhere, "--socket", str(daemon.path), "status", "-q").returncode
    assert 0 == reviewsctl(elsewhere, "status", "-q", "--socket", str(daemon.path)).returncode
    nearest = reviewsctl(elsewhere, "--socket", "/x", "status", "--socket", str(daemon.path))
    assert 0 == nearest.returncode
    for option in ("--socket", "--config"):
        assert f"  {option} " in help_of()
    for command in ("", "status", "subs", "subs list", "init"):
        assert reviewsctl(elsewhere, *command.split(), "--version").stdout == "reviewsctl 0.1.0\n"


def test_the_socket_of_the_folder_is_found(ctl: Ctl, daemon: AdminFake, tmp_path: Path) -> None:
    """After reviewsctl init no option is needed."""
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    (tmp_path / "reviewsd.yaml").write_text("admin_socket: admin.sock\n")
    assert 0 == ctl("status", folder=tmp_path).returncode
    for words in (("hub", "blocks", "--config", "."), ("--config", tmp_path.name, "hub", "blocks")):
        folder = tmp_path if words[0] == "hub" else tmp_path.parent
        assert "nothing is blocked\n" == ctl(*words, folder=folder).stdout
    daemon.path.rename(tmp_path / "gone")
    stopped = ctl("status", folder=tmp_path).stderr
    assert f"there is no {tmp_path}/admin.sock\n" in stopped
    assert f"Start it: reviewsd --config {tmp_path}/reviewsd.yaml (" in stopped


def imported(ctl: Ctl, *arguments: str) -> set[str]:
    """The modules that a command has imported at its end."""
    run = run_program(
        [sys.executable, "-X", "importtime", "-c", CONSOLE_SCRIPT, *arguments],
        env=ctl.environment,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}


def test_no_module_of_a_command_imports_what_takes_long(ctl: Ctl) -> None:
    """Completion imports them all: import_ brought everything that reads exports, 0.1 to 0.2 s at each Tab."""
    modules = imported(ctl, "--help")
    assert "reviewsctl.commands.data_options" in modules
    assert modules.isdisjoint({*NEVER_IMPORTED_BY_HELP, "yaml"})


def test_command_that_asks_the_daemon_imports_nothing_of_it_but_documents(
    ctl: Ctl, daemon: AdminFake
) -> None:
    """The daemon's models and rules take 300 ms; only check, config and insights need them."""
    modules = imported(ctl, "status")
    assert "twisted" not in modules
    own = {name for name in modules if name.startswith("reviewsd.")}
    assert "reviewsd.api.status" in own
    assert {"reviewsd.api"} == {".".join(name.split(".")[:2]) for name in own}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a disk that is full")
@pytest.mark.parametrize("arguments", [["--help"], ["status"], ["status", "--json"]])
def test_a_full_disk_is_a_sentence(ctl: Ctl, daemon: AdminFake, arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123  a device
        run = subprocess.run(
            [sys.executable, "-m", "reviewsctl.main", *arguments],
            env=ctl.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    message = "Error: cannot write the output: No space left on device\nMake room.\n"
    assert (1, message) == (run.returncode, run.stderr)


def test_ctrl_c_while_it_starts_is_one_line(ctl: Ctl, tmp_path: Path) -> None:
    """Ctrl-C may come while modules are imported, as this one does it."""
    early = tmp_path / "early"
    early.mkdir()
    (early / "typer.py").write_text("raise KeyboardInterrupt")
    ctl.environment["PYTHONPATH"] = f"{early}:{ctl.environment['PYTHONPATH']}"
    run = reviewsctl(ctl.environment, "status", fresh=True)
    assert (130, "", "Error: interrupted\n") == (run.returncode, run.stdout, run.stderr)
