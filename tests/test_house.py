"""The rules of the house that no tool checks (style.md, architecture.md)."""

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

FORBIDDEN = re.compile(
    "manager|handler|service(?!s)|processor|engine|util|helper|common", re.IGNORECASE
)
"""They say nothing; the plural SERVICES is the data model's own word for what a business offers."""

every_module = pytest.mark.parametrize(
    "module", MODULES, ids=[str(each.relative_to(ROOT)) for each in MODULES]
)


def test_the_modules_are_found() -> None:
    assert {"app.py", "public.py", "client.py"} <= {module.name for module in MODULES}


@every_module
def test_a_module_opens_with_what_it_is(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


@every_module
def test_a_module_can_be_read_in_one_go(module: Path) -> None:
    """At 400 lines it is split by concept."""
    assert len(module.read_text().splitlines()) <= MAX_LINES


@every_module
def test_names_say_what_a_thing_is(module: Path) -> None:
    tree = ast.parse(module.read_text())
    names = [each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    names += [module.stem, module.parent.name]
    assert [] == [name for name in names if FORBIDDEN.search(name)]


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
