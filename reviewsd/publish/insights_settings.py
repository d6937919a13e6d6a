"""``insights.yaml``: what the owner says of how insights are made (insights.md 3).

Validated like the configuration: every fault with its line and column, and the nearest key.
"""

import msgspec

from reviewsd.analysis.settings import Settings
from reviewsd.config import yaml_source
from reviewsd.config.errors import ConfigProblem, in_document
from reviewsd.domain.dataset import SETTINGS_FILE
from reviewsd.domain.findings import DataError, Finding, explain


def examine(data: bytes, file: str = SETTINGS_FILE) -> tuple[Settings, list[ConfigProblem]]:
    """The settings, or all that is wrong with them in the order of the file.

    Args:
        data: The content.
        file: Its name, as problems tell it.
    """
    document = yaml_source.read(data)
    tree = {} if document.value is None else document.value
    faults = list(document.faults)
    settings = Settings()
    if not document.fatal:
        found = list(explain(tree, Settings))
        if not found and not document.faults:
            settings = msgspec.convert(tree, Settings)
            found = [(f"$.{path}", reason) for path, reason in settings.faults()]
        faults += [
            document.fault(path, reason, at_key=reason.startswith("unknown key"))
            for path, reason in found
            if path not in document.broken
        ]
    faults.sort(key=lambda fault: fault.mark)
    return settings, [in_document(document, file, fault) for fault in faults]


def read(data: bytes | None) -> Settings:
    """The settings; those of an empty file where there is none.

    Raises:
        DataError: Something is wrong with them.
    """
    settings, problems = examine(data or b"")
    if problems:
        raise DataError(tuple(map(_finding, problems)))
    return settings


def _finding(problem: ConfigProblem) -> Finding:
    place = f"{problem.file}:{problem.line}:{problem.column}"
    return Finding(file=place, path=problem.path, reason=problem.reason)
