"""The OpenSearch description: browsers can search the reviews (OpenSearch 1.1)."""

from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from reviewsd.http1 import urls
from reviewsd.pages.site import Site
from reviewsd.pages.text import shortened

_NAMESPACE: Final = "http://a9.com/-/spec/opensearch/1.1/"
_MAX_NAME: Final = 16  # characters (OpenSearch 1.1, ShortName)
_MAX_LONG_NAME: Final = 48


def render(site: Site) -> bytes:
    """Return the document."""
    name = site.business.name
    root = Element("OpenSearchDescription", {"xmlns": _NAMESPACE})
    _add(root, "ShortName", shortened(name, _MAX_NAME))
    _add(root, "LongName", shortened(f"{name} reviews", _MAX_LONG_NAME))
    _add(root, "Description", shortened(f"Search the customer reviews of {name}.", 1024))
    _add(root, "InputEncoding", "UTF-8")
    _add(root, "OutputEncoding", "UTF-8")
    _add(root, "Image", site.url("/favicon.svg"), height="16", width="16", type="image/svg+xml")
    for kind, path in (("text/html", "/reviews"), ("application/json", urls.SEARCH)):
        _add(root, "Url", type=kind, template=f"{site.url(path)}?query={{searchTerms}}")
    content: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + content + b"\n"


def _add(parent: Element, name: str, text: str | None = None, /, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = text
