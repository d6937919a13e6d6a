"""Wheel and sdist work alone: installed into an empty environment, nothing of the checkout near."""

import json
import tarfile
from pathlib import Path

import pytest

from tests.support.distribution import (
    VERSION,
    bare,
    block,
    demo,
    fetch,
    program,
    run,
    served,
    takeout,
)

pytestmark = pytest.mark.packaging


def look(address: str) -> None:
    """A page with its style, data, and a search."""
    assert b"</html>" in fetch(f"{address}/")
    assert b"</html>" in fetch(f"{address}/developers")
    reviews = json.loads(fetch(f"{address}/reviews.json"))["reviews"]
    result = json.loads(fetch(f"{address}/api/reviews/search?min_rating=5"))
    assert 0 < result["matched"] < len(reviews)
    assert len(reviews) == json.loads(fetch(f"{address}/insights.json"))["review_count"]


def test_the_demo_of_the_wheel_runs(installed: Path, tmp_path: Path) -> None:
    with demo([installed / "reviewsd", "--demo"], tmp_path, bare(tmp_path / "home")) as (
        address,
        place,
    ):
        look(address)
        socket = next(place.glob("*/admin.sock"))
        status = run(installed / "reviewsctl", "status", "--socket", socket)
        assert "state      ok" in status


def test_the_programs_say_their_version(installed: Path, tmp_path: Path) -> None:
    environ = bare(tmp_path / "home")
    assert f"reviewsd {VERSION}\n" == run(installed / "reviewsd", "--version", env=environ)
    assert f"reviewsctl {VERSION}\n" == run(installed / "reviewsctl", "--version", env=environ)


def test_uvx_runs_the_demo_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """The document's command, but for the wheel in place of PyPI's."""
    assert "uvx reviewsd --demo\n" == block("install.md", "uvx ", "With uv or pipx")
    command = [program("uv"), "tool", "run", "--from", str(wheel), "reviewsd", "--demo"]
    with demo(command, tmp_path, bare(tmp_path / "home")) as (address, _):
        look(address)


@pytest.mark.parametrize("installer", ["uv tool install", "pipx install"])
def test_from_an_export_to_a_running_service(installer: str, wheel: Path, tmp_path: Path) -> None:
    """The blocks of the document work in order, in a home with nothing but an export."""
    install = block("install.md", installer, "With uv or pipx")
    assert f"{installer} reviewsd\n" == install
    tool = Path(program(installer.partition(" ")[0]))
    home = tmp_path / "home"
    environ = bare(home)
    environ["PATH"] = f"{home}/.local/bin:{environ['PATH']}:{tool.parent}"
    takeout(home / "Downloads" / "takeout.zip")
    install = install.replace(" reviewsd\n", f" '{wheel}'\n")
    run("bash", "-euc", install, cwd=tmp_path, env=environ)

    *before, serve = block("install.md", "reviewsctl init", "With uv or pipx").splitlines()
    assert "reviewsd" == serve
    output = run("bash", "-euc", "\n".join(before), cwd=tmp_path, env=environ)
    assert "imported 7 new" in output
    assert "all is well" in output
    with served([home / ".local/bin/reviewsd"], tmp_path / "shop", environ) as address:
        assert 7 == len(json.loads(fetch(f"{address}/reviews.json"))["reviews"])
        assert b"Acme Plumbing" in fetch(f"{address}/")
    units_name_the_programs(home / ".local/bin", tmp_path / "shop", environ)


def units_name_the_programs(commands: Path, place: Path, environ: dict[str, str]) -> None:
    """The next command needs root and systemd, so only ``--dry-run`` is checked here."""
    service = block("install.md", "sudo ", "With uv or pipx").splitlines()[0]
    assert 'sudo "$(command -v reviewsctl)" service install' == service
    ctl, config = commands / "reviewsctl", place / "reviewsd.yaml"
    install = (ctl, "service", "install", "--config", config)
    output = run(*install, "--dry-run", env=environ, cwd=place)
    assert "systemctl enable --now reviewsd.socket reviewsd-admin.socket reviewsd.service" in output
    unit = run(*install, "--print-unit", env=environ, cwd=place)
    (start,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    daemon = Path(start.removeprefix("ExecStart=").split()[0])
    assert f"reviewsd {VERSION}\n" == run(daemon, "--version", env=environ)


def test_the_tests_of_the_sdist_run(sdist: Path, tmp_path: Path) -> None:
    """They run without git, from the unpacked archive, with the extra for packagers."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("reviewsd-*")
    environ = bare(tmp_path / "home")
    run(program("python3"), "-m", "venv", tmp_path / "venv", env=environ)
    run(tmp_path / "venv/bin/pip", "install", "-q", "-e", f"{source}[test]", env=environ)
    chosen = ("tests/unit/domain", "tests/unit/config", "tests/test_release.py")
    output = run(
        tmp_path / "venv/bin/pytest", "-n1", "-q", *chosen, cwd=source, env=environ, seconds=600
    )
    assert " passed" in output.splitlines()[-1]
