"""The rules of CONTRIBUTING.md and ARCHITECTURE.md on modules and imports that no tool checks."""

import ast
import os
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import run_program

ROOT = Path(__file__).parent.parent
MODULES = sorted([*(ROOT / "reviewsd").rglob("*.py"), *(ROOT / "cli").rglob("*.py")])
MAX_LINES = 400


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Each module's name from the root, and what it says."""
    for module in MODULES:
        yield str(module.relative_to(ROOT)), ast.parse(module.read_text())


def test_a_module_opens_with_what_it_is() -> None:
    assert [] == [name for name, tree in trees() if not ast.get_docstring(tree)]


def test_a_module_can_be_read_in_one_go() -> None:
    """A module of 400 lines is split by concept."""
    assert {"daemon.py", "public.py", "client.py"} <= {module.name for module in MODULES}
    lines = {module: len(module.read_text().splitlines()) for module in MODULES}
    assert {} == {module: count for module, count in lines.items() if count > MAX_LINES}


def test_only_the_command_imports_the_reactor() -> None:
    """Other modules get it as an argument: importing it installs it."""
    importers = [
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and "reactor" in {alias.name for alias in node.names})
        or (isinstance(node, ast.Import) and "reactor" in str([alias.name for alias in node.names]))
    ]
    assert ["reviewsd/__main__.py"] == sorted(set(importers))


def test_packages_are_only_described() -> None:
    """An import of a package runs its ``__init__``: it holds a docstring, code is elsewhere."""
    packages = {name: tree for name, tree in trees() if name.endswith("/__init__.py")}
    assert packages
    assert [] == [name for name, tree in packages.items() if len(tree.body) > 1]


def test_a_name_has_one_meaning() -> None:
    """No two classes or aliases of ``reviewsd/`` have one name, private ones neither."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees():
        for node in tree.body if module.startswith("reviewsd/") else ():
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
            elif isinstance(node, ast.AnnAssign) and "TypeAlias" == ast.unparse(node.annotation):
                homes[ast.unparse(node.target)].append(module)
    assert {} == {name: where for name, where in homes.items() if len(where) > 1}


def test_imports_go_down_the_floors() -> None:
    """``.ci/run`` checks the layers of pyproject.toml too, but this test runs more often."""
    command = shutil.which("lint-imports", path=Path(sys.executable).parent)
    if command is None:
        pytest.skip("import-linter is not installed")
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "cli")}
    done = run_program([command, "--no-cache"], cwd=ROOT, env=environ)
    assert 0 == done.returncode, done.stdout


def test_files_that_recipes_name_exist() -> None:
    names = [
        name
        for file in ("justfile", "CONTRIBUTING.md", ".ci/run")
        for name in re.findall(r"(?<![\w/.])(?:tests|docs)/[\w./-]*\w", (ROOT / file).read_text())
    ]
    assert names
    assert [] == [name for name in names if not (ROOT / name).exists()]


def test_the_map_is_true() -> None:
    """ARCHITECTURE.md has a row for each folder, and the modules and files it names are there."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    homes = (ROOT / "reviewsd", ROOT / "cli/reviewsctl", ROOT)
    folders = {init.parent.name for init in homes[0].glob("*/__init__.py")}
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
