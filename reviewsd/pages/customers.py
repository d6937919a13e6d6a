"""What a trade calls its customers: patients, guests or clients (pages.md 2, decision 694)."""

from collections.abc import Mapping
from typing import Final

_TRADES: Final = {
    "patients": "dentist hospital medicalbusiness medicalclinic optician physician physiotherapy",
    "guests": "bedandbreakfast campground hostel hotel lodgingbusiness motel resort vacationrental",
    "clients": "accountingservice attorney legalservice notary",
}
"""Types of schema.org, in small letters."""

_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "patients": {
        "en": "customer patient",
        "de": "Kunden Patienten Kunde Patient",
        "es": "cliente paciente",
        "fr": "client patient",
        "it": "client pazient",
        "nl": "klant patiënt",
        "pt": "cliente paciente",
    },
    "guests": {
        "en": "customer guest",
        "de": "Kunden Gäste Kunde Gast",
        "es": "clientes huéspedes cliente huésped",
        "nl": "klanten gasten klant gast",
        "pt": "clientes hóspedes cliente hóspede",
    },
    "clients": {
        "en": "customer client",
        "de": "Kunden Mandanten Kunde Mandant",
        "nl": "klant cliënt",
    },
}
"""By language, pairs of what stands in the catalog and what this trade says; its endings and articles are the same."""


def for_trade(texts: dict[str, str], category: str | None, language: str) -> dict[str, str]:
    """Return words of the pages with what a category calls its customers in a language (ISO 639)."""
    folded = (category or "").casefold()
    trade = next((name for name, types in _TRADES.items() if folded in types.split()), "")
    names = _NAMES.get(trade, {}).get(language, "").split()
    for name, own in zip(names[::2], names[1::2], strict=True):
        for old, new in ((name, own), (name.capitalize(), own.capitalize())):
            texts = {key: text.replace(old, new) for key, text in texts.items()}
    return texts
