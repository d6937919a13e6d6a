"""Tries the operator's templates with the data before anything is published (pages.md 3)."""

from pathlib import Path

from reviewsd.config.schema import Config
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset
from reviewsd.pages.environment import TemplateError
from reviewsd.publish import site, sources


def template_fault(config: Config, dataset: Dataset) -> str | None:
    """Return the fault in the operator's templates; None without one.

    Args:
        config: The configuration.
        dataset: The data to render them with.

    Raises:
        OSError: The system cannot read them now.
    """
    if config.pages.templates_dir is None or not config.pages.enabled:
        return None
    folder = Path(config.pages.templates_dir)
    try:
        templates = sources.read_templates(folder)
        site.try_templates(dataset, config.base_url, config.pages, templates)
    except TemplateError as error:
        return f"{folder}/{error}"
    except DataError as error:
        return f"pages.templates_dir: {error.findings[0].reason}"
    except sources.Unsettled:
        return f"{folder}: somebody writes there; try again"
    return None
