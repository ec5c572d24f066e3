"""Which notes say the same: by their words alone, since hits come without their vectors."""

import re
from dataclasses import dataclass
from functools import cache

from memgraph_engine.language import LISTED, word_list
from memgraph_engine.model.marker import content, covered, without_recalled
from memgraph_engine.model.memory import Note

_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Said:
    """What a note's sources said, who spoke, and the words that turn one statement into another."""

    speaker: str
    text: str
    words: frozenset[str]
    names: frozenset[str]
    deciding: frozenset[str]

    @classmethod
    def of(cls, note: Note) -> "Said":
        """Read it without dates: the same may have been said on several days."""
        text = " ".join(f"{without_recalled(one.text)} {one.caption}".strip() for one in note.sources) or note.context
        written = _WORDS.findall(text)
        words = frozenset(word.casefold().replace("’", "'") for word in written)
        names = frozenset(word.casefold() for word in written if word[0].isupper())
        deny = _denying()
        deciding = frozenset(
            word for word in words if word in deny or word.endswith("n't") or any(map(str.isdigit, word))
        )
        return cls(note.speaker.casefold(), text, words, names, deciding)

    def adds_nothing_to(self, other: "Said", share: float, language: str) -> bool:
        """Tell whether at least `share` of the content words stand in the other, in the same order.

        The speaker is the same, and so is every number and every "not"; nobody is named whom the other does not name.
        A single word tells too little: "I got the job" repeats nothing of "my current job".
        """
        return (
            self.speaker == other.speaker
            and self.deciding == other.deciding
            and self.names <= other.words
            and covered(self.text, [other.text], language) >= share
            and (len(content(self.text, language)) > 1 or covered(other.text, [self.text], language) >= share)
        )


@cache
def _denying() -> frozenset[str]:
    return frozenset(word for language in LISTED for word in word_list(language, "negations"))
