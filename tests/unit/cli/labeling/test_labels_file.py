"""The labels of a run, stored batch by batch (insights.md 7, cache, and 12)."""

from pathlib import Path

import pytest

from reviewsctl.files.folders import opened
from reviewsctl.labeling.endpoint import ModelError
from reviewsctl.labeling.run import LabelsFile
from reviewsd.analysis.kept_labels import KeptLabel, encoded
from reviewsd.analysis.model_labels import ReviewAnswer


def line(text: str, model: str = "tiny") -> bytes:
    return encoded(KeptLabel(text=text, model=model, lists="x", labels=ReviewAnswer()))


def test_each_batch_is_in_the_file_beside_earlier_labels(tmp_path: Path) -> None:
    file = tmp_path / "insights.labels"
    file.write_bytes(line("one") + line("two"))
    file.chmod(0o640)
    with opened(tmp_path) as folder:
        stored = LabelsFile(folder)
        stored.add(line("two", "other") + line("three"))
        assert line("one") + line("two", "other") + line("three") == file.read_bytes()
        stored.add(line("four"))
    assert 4 == len(file.read_bytes().splitlines())
    assert 0o640 == file.stat().st_mode & 0o777
    assert [file] == list(tmp_path.iterdir())


def test_batch_without_labels_makes_no_file(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        LabelsFile(folder).add(b"")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["corrections.json", "insights.labels"])
def test_batch_is_dropped_when_another_program_has_changed_data(name: str, tmp_path: Path) -> None:
    """A review that was erased meanwhile may be in it, whose words no file has any more."""
    with opened(tmp_path) as folder:
        stored = LabelsFile(folder)
        (tmp_path / name).write_bytes(b"{}\n")
        with pytest.raises(ModelError, match=name):
            stored.add(line("erased"))
    assert [b"{}\n"] == [path.read_bytes() for path in tmp_path.iterdir()]
