# "just" without arguments lists these. Each works in a fresh checkout.

bin := ".venv/bin"

_list:
    @just --list --unsorted

# Make .venv, with what tests and checks need
setup:
    test -d .venv || python3 -m venv .venv
    {{bin}}/pip install -q -e '.[test,lint]'

_ready:
    @test -x {{bin}}/pytest -a -x {{bin}}/mypy || just setup

# All tests; arguments go to pytest
test *arguments: _ready
    {{bin}}/pytest {{arguments}}

# The tests without processes of their own: a minute or two
test-unit *arguments: _ready
    {{bin}}/pytest -n 2 -m "not processes" tests/unit {{arguments}}

# Wheel, container, Debian package and compose files, built and used: minutes, with the network
test-packaging *arguments: _ready
    {{bin}}/pip install -q check-jsonschema pipx uv
    {{bin}}/pytest -m packaging -n 2 tests/packaging {{arguments}}

# Style, and imports that go only down
lint: _ready
    {{bin}}/ruff check .
    {{bin}}/ruff format --check .
    {{bin}}/lint-imports

# Types
types: _ready
    {{bin}}/mypy

# What the documents cite, and what they have a reader type
docs: _ready
    {{bin}}/pytest tests/test_citations.py tests/test_modules.py tests/test_reference.py tests/test_site.py tests/system/test_documents.py

# The site of the documents in build/site, with its links checked
site: _ready
    {{bin}}/python -m sphinx -q -W --keep-going -n -E -a -b html -d build/doctrees docs build/site
    {{bin}}/python -m sphinx -q -W --keep-going -n -b linkcheck -d build/doctrees docs build/linkcheck
    @echo build/site/index.html

# The sample business on http://127.0.0.1:8080
demo: _ready
    {{bin}}/reviewsd --demo

# Renew uv.lock
lock:
    uv lock --upgrade
