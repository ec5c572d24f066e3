"""What full text is asked: always within scopes, and with nothing of Lucene's syntax from outside."""

from collections.abc import Sequence

from memgraph_engine.model.scope import Scope

FIELDS = ("raw_scoped", "context_scoped")
_MOST_CLAUSES = 1000
_NOTHING = "+status:none"


def words_query(
    words: Sequence[str], scopes: Sequence[Scope], statuses: Sequence[str], *, fields: Sequence[str] = FIELDS
) -> str:
    """Return the full-text query: the status must be there without counting, and any of the words in a scope.

    The words are our own terms, letters and digits only; nothing of Lucene's syntax can come with them. Lucene takes
    1,024 clauses: of words times scopes times fields only so many are asked for, the first.

    >>> words_query(["boat"], [Scope("acme", "ana")], ["active"], fields=["raw_scoped"])
    '+status:(active)^0 +(raw_scoped:(sfbcb39b95boat))'
    """
    if not words:
        return _NOTHING
    most = _MOST_CLAUSES // (len(scopes) * len(fields))
    any_word = " ".join(token + word for token in [scope.token for scope in scopes] for word in words[:most])
    wanted = " ".join(f"{field}:({any_word})" for field in fields)
    return f"+status:({' '.join(statuses)})^0 +({wanted})"
