"""What CONTRIBUTING.md and ARCHITECTURE.md say of modules and imports, where no tool checks it."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted([*(ROOT / "reviewsd").rglob("*.py"), *(ROOT / "cli").rglob("*.py")])
MAX_LINES = 400

every_module = pytest.mark.parametrize(
    "module", MODULES, ids=[str(each.relative_to(ROOT)) for each in MODULES]
)


def test_the_modules_are_found() -> None:
    assert {"daemon.py", "public.py", "client.py"} <= {module.name for module in MODULES}


@every_module
def test_a_module_opens_with_what_it_is(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


@every_module
def test_a_module_can_be_read_in_one_go(module: Path) -> None:
    """At 400 lines it is split by concept."""
    assert len(module.read_text().splitlines()) <= MAX_LINES


@every_module
def test_only_the_command_imports_the_reactor(module: Path) -> None:
    """Everybody else is handed it: importing it installs it."""
    found = [
        node.lineno
        for node in ast.walk(ast.parse(module.read_text()))
        if (isinstance(node, ast.ImportFrom) and "reactor" in {each.name for each in node.names})
        or (isinstance(node, ast.Import) and "reactor" in str([each.name for each in node.names]))
    ]
    assert (module.name == "__main__.py") == bool(found)


@every_module
def test_packages_are_only_described(module: Path) -> None:
    """An import of a package runs its ``__init__``: it holds a docstring, code is elsewhere."""
    if module.name != "__init__.py" or module.parent.name == "demo":
        return
    assert 1 == len(ast.parse(module.read_text()).body)


def test_imports_go_down_the_floors() -> None:
    """As pyproject.toml has it; ``.ci/run`` runs it too, but only this is run while one works."""
    command = shutil.which("lint-imports", path=Path(sys.executable).parent)
    if command is None:
        pytest.skip("import-linter is not installed")
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "cli")}
    done = subprocess.run(
        [command, "--no-cache"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert 0 == done.returncode, done.stdout


def test_the_map_is_true() -> None:
    """ARCHITECTURE.md has a row for each folder, and the modules and files it names are there."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    homes = (ROOT / "reviewsd", ROOT / "cli/reviewsctl", ROOT)
    folders = {each.parent.name for each in homes[0].glob("*/__init__.py")}
    modules = {
        f"{folder}/{name}"
        for folder, name in re.findall(r"`([a-z_0-9]+)\.([a-z_0-9]+)[\w.]*`", text)
        if any((home / folder).is_dir() for home in homes)
    }
    files = set(re.findall(r"`((?:\w+/)+\w+\.[a-z]+)`", text))

    assert folders == set(re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE))
    assert modules
    assert files
    assert [] == [
        name
        for name in sorted(modules | files)
        if not any((home / name).exists() or (home / f"{name}.py").exists() for home in homes)
    ]
