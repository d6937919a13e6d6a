"""The configuration in effect, as programs of the same process get it."""

import json
from pathlib import Path

import msgspec

from reviewsd.config import load, show

LISTEN = '["tcp:8081:interface=127.0.0.1", "tcp:8082"]'


def test_values_are_those_of_json(tmp_path: Path) -> None:
    """``service install`` and ``doctor`` look for lists; a tuple was taken for no list, and so for no address."""
    file = tmp_path / "reviewsd.yaml"
    file.write_text(f"base_url: http://localhost:8080\ndata_dir: data\nlisten: {LISTEN}\n")
    effective = show.shown(load.load(file, {}))
    decoded = {
        item["key"]: item["value"]
        for item in json.loads(msgspec.json.encode(effective))["settings"]
    }
    assert json.loads(LISTEN) == effective.value("listen")
    assert decoded == {setting.key: setting.value for setting in effective.settings}
