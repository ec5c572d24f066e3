"""Let nothing else tell what is kept apart from now on: no context that a chat model wrote, no former version.

Local contexts are rendered anew as after any change (`contexts`). What a model wrote may hold words of whatever it was
shown, so it is rendered locally too. Former versions stay as they were, and are kept apart: also when the note is so no
more, since nobody knows what else they quote.
"""

from collections.abc import Collection, Iterable, Mapping

from memgraph_engine.graph import erasures, notes
from memgraph_engine.graph.notes import SUMMARY, Revision
from memgraph_engine.model.memory import Note
from memgraph_engine.writing import contexts, summaries
from memgraph_engine.writing.erasure import concerned
from memgraph_engine.writing.transaction import Transaction


def part(
    transaction: Transaction,
    decision: str,
    parted: Mapping[str, Iterable[Note]],
    now: contexts.Repeatable,
    without: Collection[str],
) -> list[str]:
    """Plan what follows for others where notes are kept apart from now on, by the class with which they are.

    Return the notes that get other contexts; those `without` get none.
    """
    db, scope, language, quoting = transaction.db, transaction.scope.name, transaction.language, dict[str, None]()
    for apart, some in parted.items():
        ids = sorted({source.id for note in some for source in note.sources})
        found = concerned(db, scope, erasures.select(db, scope, ids=ids), language) if ids else []
        transaction.part((one.id for one in found), apart)
        quoting |= dict.fromkeys(one.id for one in found if one.id not in without)
    told = [one for one in notes.renderings(db, scope, list(quoting)) if one.found.by_model]
    for one in told:
        note = one.found.note
        context = summaries.local(note, language) if note.sums else contexts.local(one, now, language)
        vector = None if note.status in ("pending", "archived") else transaction.embedder.embed_documents([context])[0]
        properties = {
            **contexts.terms_of(context, note.sources, language),
            "constructed_by": SUMMARY if note.sums else "",
        }
        transaction.revise(one.found, Revision(note.id, decision, properties, "rewritten", context_vector=vector))
    return [one.found.note.id for one in told]
