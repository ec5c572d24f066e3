"""Names of keywords, and the form in which near-identical ones meet."""

import unicodedata

from memgraph_engine.language.terms import tokenize


def canonical(name: str) -> str:
    """Return a keyword's name: NFC, case-folded, white space folded.

    >>> canonical("  Support   Groups ")
    'support groups'
    """
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def key(name: str, language: str) -> str:
    """Return the form by which names that differ in ending, hyphen or spacing meet.

    >>> key("Support groups", "english") == key("support-group", "english")
    True
    """
    return "".join(tokenize(name, language)) or canonical(name)
