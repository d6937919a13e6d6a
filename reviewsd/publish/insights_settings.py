"""Validates ``insights.yaml``, the owner's settings for the analysis (insights.md 3).

Findings have line, column and the nearest key, like those of the configuration.
"""

import msgspec

from reviewsd.analysis.settings import InsightSettings
from reviewsd.api.files import Diagnostic
from reviewsd.config import yaml_source
from reviewsd.config.errors import by_place
from reviewsd.domain.data_errors import DataError, explain
from reviewsd.domain.dataset import SETTINGS_FILE


def examine(data: bytes, file: str = SETTINGS_FILE) -> tuple[InsightSettings, list[Diagnostic]]:
    """Return the settings, and the findings in the order of the file.

    Args:
        data: The content.
        file: The name of the file in findings.
    """
    document = yaml_source.read(data, file)
    tree = {} if document.value is None else document.value
    faults = list(document.faults)
    settings = InsightSettings()
    if not document.fatal:
        type_faults = list(explain(tree, InsightSettings))
        if not type_faults and not document.faults:
            settings = msgspec.convert(tree, InsightSettings)
            type_faults = [(f"$.{path}", reason) for path, reason in settings.faults()]
        faults += [
            document.fault(path, _with_people(reason), at_key=reason.startswith("unknown key"))
            for path, reason in type_faults
            if path not in document.broken
        ]
    return settings, sorted(faults, key=by_place)


def _with_people(reason: str) -> str:
    """Return a reason that says, where it lists the sections, which one has people of another trade."""
    is_list = reason.startswith("unknown key") and "there are: technicians" in reason
    return f"{reason}; technicians are your people, whatever their work" if is_list else reason


def read(data: bytes | None) -> InsightSettings:
    """Return the settings; the defaults without a file.

    Raises:
        DataError: The settings are invalid.
    """
    settings, problems = examine(data or b"")
    if problems:
        raise DataError(tuple(problems))
    return settings
