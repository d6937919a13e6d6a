"""The Debian package as it is released, judged by lintian; ``test_systemd.py`` installs and boots it."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.distribution import ROOT, program, run
from tests.support.programs import run_program

pytestmark = pytest.mark.packaging


def test_lintian_has_nothing_to_say(tmp_path: Path) -> None:
    lintian = program("lintian")
    for name in ("dpkg-deb", "/usr/bin/python3"):
        if shutil.which(name) is None:
            pytest.skip(f"needs {name}: it is built on Debian")
    uv = Path(program("uv")).parent
    environ = {**os.environ, "PATH": f"/usr/bin:/bin:{uv}"}
    run(ROOT / "packaging/deb/build", tmp_path, env=environ, seconds=900)
    (package,) = tmp_path.glob("*.deb")
    done = run_program([lintian, "--fail-on", "error,warning", str(package)], timeout=300)
    assert ("", 0) == (done.stdout, done.returncode)
