"""What a rendered line of a note says, without the speaker in front and the date behind."""

import re

from memgraph_engine.language.questions import is_question, of_oneself

_SAID = re.compile(r"(?:[^:\n]{1,60}: )?(.*?)(?: \[[^\]]*\])*(?: \([^()]*\))?", re.DOTALL)


def asks(line: str) -> bool:
    """Tell whether a rendered line ends with a question; what stands in brackets behind it is no part of what was said.

    >>> [asks(line) for line in ("Ana: Where were you? (8 May, 2023)", "Ana: Guess! (8 May, 2023)")]
    [True, False]
    """
    return is_question(said(line))


def personal(role: str, *lines: str) -> bool:
    """Tell whether somebody but an assistant speaks of himself in rendered lines, in any listed language.

    >>> [personal("", line) for line in ("Ana: My cat is grey. (8 May, 2023)", "Ana: ideas for a gift (8 May, 2023)")]
    [True, False]
    """
    return role != "assistant" and any(of_oneself(said(line)) for line in lines)


def said(line: str) -> str:
    """Return a rendered line without who said it and when."""
    match = _SAID.fullmatch(line)
    return match[1] if match else line
