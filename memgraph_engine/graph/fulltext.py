"""What full text is asked: always within scopes, and with nothing of Lucene's syntax from outside."""

from collections.abc import Sequence

from memgraph_engine.model.scope import Scope

FIELDS = ("raw_terms", "context_terms")
_NOTHING = "+status:none"


def words_query(
    words: Sequence[str], scopes: Sequence[Scope], statuses: Sequence[str], *, fields: Sequence[str] = FIELDS
) -> str:
    """Return the full-text query: scope and status must be there without counting, and any of the words.

    The words are our own terms, letters and digits only; nothing of Lucene's syntax can come with them.
    """
    if not words:
        return _NOTHING
    any_word = " ".join(words)
    wanted = " ".join(f"{field}:({any_word})" for field in fields)
    return f"+scope_token:({' '.join(scope.token for scope in scopes)})^0 +status:({' '.join(statuses)})^0 +({wanted})"
