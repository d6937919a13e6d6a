"""``insights.yaml``: what the owner says of how insights are made (insights.md 3).

Validated like the configuration: every fault with its line and column, and the nearest key.
"""

import msgspec

from reviewsd.analysis.settings import InsightSettings
from reviewsd.api.diagnostic import Diagnostic
from reviewsd.config import yaml_source
from reviewsd.config.errors import by_place
from reviewsd.domain.data_errors import DataError, explain
from reviewsd.domain.dataset import SETTINGS_FILE


def examine(data: bytes, file: str = SETTINGS_FILE) -> tuple[InsightSettings, list[Diagnostic]]:
    """The settings, or all that is wrong with them in the order of the file.

    Args:
        data: The content.
        file: Its name, as problems tell it.
    """
    document = yaml_source.read(data, file)
    tree = {} if document.value is None else document.value
    faults = list(document.faults)
    settings = InsightSettings()
    if not document.fatal:
        found = list(explain(tree, InsightSettings))
        if not found and not document.faults:
            settings = msgspec.convert(tree, InsightSettings)
            found = [(f"$.{path}", reason) for path, reason in settings.faults()]
        faults += [
            document.fault(path, reason, at_key=reason.startswith("unknown key"))
            for path, reason in found
            if path not in document.broken
        ]
    return settings, sorted(faults, key=by_place)


def read(data: bytes | None) -> InsightSettings:
    """The settings; those of an empty file where there is none.

    Raises:
        DataError: Something is wrong with them.
    """
    settings, problems = examine(data or b"")
    if problems:
        raise DataError(tuple(problems))
    return settings
