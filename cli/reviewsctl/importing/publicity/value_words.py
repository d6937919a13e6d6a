"""Values by which exports say what is public, as ``values.normal`` has them.

English, German, French, Spanish, Italian, Portuguese and Dutch.
"""

from typing import Final


def _phrases(*lines: str) -> frozenset[str]:
    """Return phrases that are divided by commas."""
    return frozenset(phrase.strip() for line in lines for phrase in line.split(","))


PUBLIC: Final = _phrases(
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
WITHHELD: Final = _phrases(
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
SAYS_NOTHING: Final = _phrases(
    "replied, responded, answered, read, unread, unreplied, not replied, not responded, unresponded",
    "unanswered, not answered, no reply, no response, needs reply, needs response, awaiting reply",
    "awaiting response, beantwortet, unbeantwortet, nicht beantwortet, gelesen, ungelesen",
    "repondu, non repondu, sans reponse, respondido, respondida, sin responder, risposto",
    "non risposto, nao respondido, beantwoord, onbeantwoord",
)
"""States of the work with a review: whether it was read or answered."""

NOT_RECEIVED: Final = _phrases(
    "host to guest, host review, owner to guest, order note, webhook delivery, action log, pingback",
    "trackback, private feedback, question, message, test",
)
"""Kinds of rows that are not a review that the business received."""
