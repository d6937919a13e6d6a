"""What the configuration says of the pages, and what is wrong with it (pages.md 2, 3)."""

from pathlib import Path

from reviewsd.config.schema import Config
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.findings import DataError
from reviewsd.pages import theme
from reviewsd.pages.environment import TemplateError
from reviewsd.pages.site import PageSettings
from reviewsd.publish import site, sources


def page_settings(config: Config) -> PageSettings:
    """What the operator wants of pages."""
    pages = config.pages
    return PageSettings(
        enabled=pages.enabled, accent=pages.accent, jsonld_reviews=pages.jsonld_reviews
    )


def templates_dir(config: Config) -> Path | None:
    """Where the operator's templates are."""
    folder = config.pages.templates_dir
    return None if folder is None else Path(folder)


def doubts(config: Config) -> tuple[str, ...]:
    """What is odd: an accent that is hard to read."""
    accent = config.pages.accent.lower()
    shown = theme.readable(accent, theme.LIGHT)
    if shown == accent:
        return ()
    found = theme.contrast(accent, theme.tint(accent, theme.LIGHT))
    return (
        (
            f"pages.accent: words in {accent} would be hard to read (contrast {found:.1f}, wanted "
            f"{theme.LEAST_CONTRAST}); the pages have {shown} in its place"
        ),
    )


def fault(config: Config, dataset: Dataset) -> str | None:
    """What is wrong with the operator's templates, if anything.

    Args:
        config: Its ``pages``.
        dataset: What they are tried with.

    Raises:
        OSError: The system cannot read them now.
    """
    folder = templates_dir(config)
    if folder is None or not config.pages.enabled:
        return None
    try:
        templates = sources.read_templates(folder)
        site.try_templates(dataset, config.base_url, page_settings(config), templates)
    except TemplateError as error:
        return f"{folder}/{error}"
    except DataError as error:
        return f"pages.templates_dir: {error.findings[0].reason}"
    except sources.Unsettled:
        return f"{folder}: somebody writes there; try again"
    return None
