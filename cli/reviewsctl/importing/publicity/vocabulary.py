"""Words by which exports say what is public, as ``values.normal`` has them: in names of members, and as values.

English, German, French, Spanish, Italian, Portuguese and Dutch. Stems are beginnings of words.
"""

from collections.abc import Mapping
from typing import Final

from reviewsctl.importing.values import phrase_set, phrases

POSITIVE_STEMS: Final = phrases(
    "approv, publish, publication, visib, freigeb, freigab, freigegeb, freigesch, sichtbar",
    "veroffentlich, genehmig, publie, approuv, publicad, publicaci, aproba, aprova, publicar",
    "pubblicat, pubblicazione, approvat, approvaz, visiv, gepubliceer, goedgekeur, zichtbaar",
    "consent, einwillig, autoris, autoriz, toestemming",
)
NEGATIVE_STEMS: Final = phrases(
    "hidden, hide, spam, delet, remov, reject, declin, archiv, draft, trash, quarantin, suppress",
    "unpublish, unapprov, disapprov, disabl, inactiv, invisib, blocked, banned, withdr, withh",
    "censor, retract, unlisted, junk, expired, versteckt, verborgen, ausgeblendet, gelosch",
    "entfern, abgelehn, gesperr, entwurf, deaktivier, inaktiv, zuruckg, unsichtbar, papierkorb",
    "supprim, suppression, masqu, rejet, refus, brouillon, desactiv, inactif, bloque, corbeille",
    "indesirable, ocult, eliminad, eliminac, eliminat, borrad, rechaz, papelera, nascost",
    "cancellat, rifiut, respint, bozza, disattiv, inattiv, cestino, rimoss, rimoz, excluid",
    "exclusao, apagad, rascunho, rejeitad, arquivad, inativ, desativ, lixeira, verwijder",
    "afgekeurd, afgewezen, gearchiveer, prullenbak, geblokkeer, uitgeschakeld, fake, fraud",
    "suspicious, suspected, held, duplicat, duplikat, doublon, duplicad",
)
DOUBTFUL_STEMS: Final = phrases("flags, flagged, reported, disput, gemeldet, signale, denunciad")
SHOWING_STEMS: Final = phrases(
    "visib, sichtbar, visiv, zichtbaar, publish, publication, veroffentlich, publie, publicad",
    "publicaci, pubblicat, pubblicazione, gepubliceer",
)
"""With words for people they are about the review: "customer visible", "customer allows publishing"."""
TO_BE: Final = frozenset(("to", "zu", "a", "da", "por", "para", "te"))
"""First words of what is still to be done: "to be approved", "da approvare"."""

CHECK_STEMS: Final = ("valid", "pruf", "keur", "controll", "revis", "verif")
"""Verbs for the check that comes before publication; elsewhere they are about other things."""

SHOW_VERBS: Final = phrase_set(
    "show, zeige, affiche, afficher, mostrar, mostra, exibir, toon, tonen"
)
STATUS_STEMS: Final = phrases(
    "status, statut, estado, stato, situacao, moderat, moderac, moderaz, curat"
)
LAST_PUBLIC: Final = phrase_set(
    "public, publicly, active, live, enabled, online, listed, display, displayed, show, shown",
    "accepted, offentlich, aktiv, anzeigen, angezeigt, publique, actif, affiche, valide",
    "validate, publico, publica, activo, activa, mostrar, pubblico, pubblica, attivo, attiva",
    "ativo, ativa, openbaar, actief, tonen, pub, appr",
)
LAST_WITHHELD: Final = phrase_set(
    "private, internal, confidential, test, privat, intern, vertraulich, prive, privee",
    "interne, confidentiel, privado, privada, interno, interna, confidencial, privato, privata",
    "concept, del",
)
"""Words that make a sign only at the end of a name: "Private feedback" is a text."""

FILLERS: Final = phrase_set(
    "make, set, post, posted, be, currently, still, now, web, website, site, widget, homepage",
    "page, only, status, user, customer, author, reviewer, name",
)
"""Words that may stand beside these; "ordered online" is no sign."""

TRAILING: Final = frozenset(("only", "now", "currently"))

ARCHIVES: Final = phrase_set(
    "archive, archives, archiv, archivo, archivio, arquivo, archief, archivos"
)
"""Names of what may hold reviews that are public and old, where "archived" is not public."""

NEGATIONS: Final = phrase_set("not, non, nicht, nao, niet, no, ne, pas, kein, keine")
PRESENCE: Final = phrase_set(
    "at, on, by, date, time, timestamp, datetime, when, since, until, reason, datum, zeit, am",
    "von, grund, le, par, motif, fecha, por, motivo, data, door, op, reden",
)
"""Words for a date, a person or a reason, by which any value sets a sign."""

REASONS: Final = frozenset(("reason", "grund", "motif", "motivo", "reden"))
BY: Final = frozenset(("by", "von", "par", "por", "door", "da"))
PLACE: Final = phrase_set("on, in, auf, im, sur, dans, en, su, sul, nel, op, na")
"""Prepositions before the place where something is shown: "published on website"."""

REPLIES: Final = phrase_set(
    "reply, replies, response, responses, answer, answers, antwort, antworten, reponse",
    "reponses, respuesta, respuestas, risposta, risposte, resposta, respostas, antwoord",
    "antwoorden, reactie",
)
PEOPLE: Final = phrase_set(
    "customer, user, author, reviewer, guest, member, client, buyer, consumer, visitor, person",
    "kunde, gast, verfasser, autor, auteur, cliente, usuario, huesped, utente, ospite",
    "utilisateur, klant, hospede, account, profile",
)
NAMES: Final = frozenset(("name", "nom", "nombre", "nome", "naam"))
THINGS: Final = phrase_set(
    "product, products, item, order, variant, sku, category, location, place, business",
    "company, store, shop, merchant, address, geo, payment, delivery, shipping, fulfillment",
    "subscription, membership, license, marital, email, mail, sms, ticket, case, task, lead",
    "contact, invitation, invite, request, survey, reservation, booking, stay, media, photo",
    "photos, image, images, video, videos, picture, pictures, verification, sync, import",
    "translation, verified, job, campaign, coupon, employment, civil, produkt, bestellung",
    "artikel, lieferung, zahlung, adresse, filiale, standort, produit, commande, livraison",
    "producto, pedido, envio, prodotto, ordine, produto, bestelling, sentiment, http, listing",
    "property, hotel, marketing, newsletter, cookies, terms, privacy",
)
"""Words for other things that a row may describe."""

OWN: Final = phrase_set(
    "review, reviews, rating, feedback, testimonial, comment, entry, record, bewertung",
    "rezension, avis, resena, recensione, avaliacao, beoordeling, is, was, has, been, the, ist",
    "est, es, e, attributes, node",
)
NO_SIGNS: Final = phrase_set(
    "url, uri, link, href, image, icon, count, counts, total, number, score, rate, publisher",
    "email, platform, language, country, channel, via",
)
"""Last words of names that are no signs."""

WRAPPERS: Final = phrase_set(
    "attributes, node, fields, properties, data, review, record, item, content, entry"
)
"""Objects that hold a review's members."""

GENERIC: Final = phrase_set(
    "value, name, label, id, code, key, slug, text, title, type, enum, raw, result, val",
    "display, description, decision, outcome, verdict",
)
"""Members of an object that stand for it: ``status.name``."""

PLACES: Final = phrase_set(
    "city, town, zip, zipcode, zip code, postal code, postcode, country, county, country code",
    "ciudad, cidade, citta, plz, ort, cp",
)
"""Columns beside which a "state" is one of a country."""

KINDS: Final = frozenset(("type", "kind", "direction"))

_GOOGLE: Final = {
    "review reply state": frozenset(("approved",)),
    "review review reply state": frozenset(("approved",)),
}
_OF_A_PLACE: Final = {"state": None}
PLATFORMS: Final[Mapping[str, Mapping[str, frozenset[str] | None]]] = {
    "google-api": _GOOGLE,
    "google-batch": _GOOGLE,
    "takeout": _GOOGLE,
    "trustpilot-api": {"status": frozenset(("active",))},
    "judgeme": {"curated": frozenset(("ok",))},
    "judgeme-csv": {"curated": frozenset(("ok",))},
    "apify": _OF_A_PLACE,
    "apify-facebook": _OF_A_PLACE,
    "apify-tripadvisor": _OF_A_PLACE,
    "outscraper": _OF_A_PLACE,
    "outscraper-trustpilot": _OF_A_PLACE,
    "serpapi": _OF_A_PLACE,
}
"""By the name of a format: the members that are signs there, each with the values that are public; every
other value is not, and None makes it no sign at all."""

# Values

PUBLIC: Final = phrase_set(
    "published, publish, public, publicly visible, visible, approved, auto approved, accepted, active",
    "accept, approve, live, ok, enabled, online, displayed, shown, listed, everyone, not hidden, not spam, unspam, ham",
    "approved and published, published and approved, not deleted, not needed",
    "veroffentlicht, sichtbar, freigegeben, freigeschaltet, aktiv, offentlich, genehmigt, akzeptiert",
    "publie, publiee, publies, publiees, approuve, approuvee, actif, accepte, acceptee, en ligne",
    "publique, valide, validee",
    "publicado, publicada, publico, publica, aprobado, aprobada, activo, activa, aceptado, aceptada",
    "en linea, pubblicato, pubblicata, pubblico, pubblica, approvato, approvata, attivo, attiva",
    "visibile, accettato, accettata, aprovado, aprovada, ativo, ativa, visivel, aceito, aceita",
    "gepubliceerd, goedgekeurd, actief, zichtbaar, openbaar, geaccepteerd",
)
WITHHELD: Final = phrase_set(
    "unpublished, not published, not public, not publicly visible, not visible, invisible, hidden, spam",
    "reject, hide, delete, remove, marked as spam, junk, rejected, declined, denied, refused, disapproved, unapproved, not approved",
    "pending, pending approval, pending moderation, pending review, not yet, new pending, awaiting",
    "awaiting approval, awaiting moderation, awaiting review, waiting, waiting for approval",
    "waiting for moderation, in moderation, in review, under review, needs approval, needs moderation",
    "needs review, unmoderated, not moderated, hold, on hold, held, archived, archive, deleted",
    "soft deleted, removed, draft, auto draft, disabled, inactive, not active, not live, trash, trashed",
    "post trashed, quarantined, quarantine, suppressed, blocked, banned, withdrawn, withheld, private",
    "internal, unlisted, offline, scheduled, future, expired, censored, taken down, removed by platform",
    "unveroffentlicht, nicht veroffentlicht, nicht freigegeben, nicht sichtbar, nicht offentlich",
    "geloscht, entfernt, entwurf, ausgeblendet, versteckt, verborgen, abgelehnt, ausstehend, wartend",
    "wartet auf freigabe, in prufung, wird gepruft, gesperrt, inaktiv, archiviert, papierkorb, privat",
    "deaktiviert, zuruckgezogen, unsichtbar, zuruckgehalten",
    "non publie, non publiee, non approuve, non approuvee, supprime, supprimee, brouillon, masque",
    "masquee, cache, cachee, rejete, rejetee, refuse, refusee, en attente, en attente de moderation",
    "en attente de validation, en cours de moderation, archivee, corbeille, indesirable, inactif, prive",
    "privee, bloque, bloquee, desactive, desactivee, hors ligne",
    "no publicado, no publicada, no aprobado, no aprobada, no visible, eliminado, eliminada, borrado",
    "borrada, borrador, oculto, oculta, rechazado, rechazada, pendiente, pendiente de aprobacion",
    "pendiente de moderacion, en espera, en revision, archivado, archivada, inactivo, inactiva",
    "papelera, privado, privada, bloqueado, bloqueada, desactivado, desactivada",
    "non pubblicato, non pubblicata, non approvato, non approvata, eliminata, cancellato, cancellata",
    "bozza, nascosto, nascosta, rifiutato, rifiutata, respinto, respinta, in attesa, in sospeso",
    "in revisione, archiviato, archiviata, inattivo, inattiva, cestino, bloccato, bloccata",
    "disattivato, disattivata, rimosso, rimossa, privato, privata",
    "nao publicado, nao publicada, nao aprovado, nao aprovada, excluido, excluida, apagado, apagada",
    "rascunho, rejeitado, rejeitada, pendente, em espera, em analise, aguardando aprovacao",
    "aguardando moderacao, arquivado, arquivada, inativo, inativa, lixeira, lixo, removido, removida",
    "desativado, desativada",
    "niet gepubliceerd, niet goedgekeurd, niet zichtbaar, verwijderd, concept, afgekeurd, afgewezen",
    "in afwachting, wachtend, in behandeling, gearchiveerd, inactief, prullenbak, geblokkeerd",
    "uitgeschakeld, onzichtbaar",
)
SAYS_NOTHING: Final = phrase_set(
    "replied, responded, answered, read, unread, unreplied, not replied, not responded, unresponded",
    "unanswered, not answered, no reply, no response, needs reply, needs response, awaiting reply",
    "awaiting response, beantwortet, unbeantwortet, nicht beantwortet, gelesen, ungelesen",
    "repondu, non repondu, sans reponse, respondido, respondida, sin responder, risposto",
    "non risposto, nao respondido, beantwoord, onbeantwoord",
)
"""States of the work with a review: whether it was read or answered."""

NOT_RECEIVED: Final = phrase_set(
    "host to guest, host review, owner to guest, order note, webhook delivery, action log, pingback",
    "trackback, private feedback, question, message, test",
)
"""Kinds of rows that are not a review that the business received."""
