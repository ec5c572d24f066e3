"""A fact: one thing that a speaker stated, or a program set, and how long it held."""

from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.interface.results import Result
from memgraph_engine.model.memory import NEVER


@dataclass(frozen=True, slots=True, repr=False)
class Fact(Result):
    """A clause of what was said, or a value of a profile, parted into `subject`, `predicate` and `value`.

    Of a clause `text` has the speaker's words, and `attributes` are the names by which a profile tells what it does.
    A value of a profile reads "residence: Lisbon", by the predicate "residence"; `undo` takes it back by its
    `decision`. The subject '' is the speaker himself. In a language without word lists the value is the whole text.
    It holds from `since`, when it was said first, to `until`, when another statement took its place; None is "as far as
    is known". `replaced_by` is the id of the note that tells what took its place, '' for none. `note` is the
    id of the note that tells it, '' for what `set_profile` gave; `sources` are the ids of the messages, the last one
    first.
    """

    brief = ("text", "until")

    text: str
    subject: str
    predicate: str
    value: str
    speaker: str
    since: datetime
    note: str
    sources: tuple[str, ...]
    until: datetime | None = None
    replaced_by: str = ""
    attributes: tuple[str, ...] = ()
    decision: str = ""

    def told(self, user: str, moment: datetime = NEVER) -> str:
        """Return it as a sentence, with its end if that was before a moment, and who said it if it was not the user."""
        speaker = "" if self.speaker.casefold() in ("", user.casefold()) else f"{self.speaker}: "
        return f"{speaker}{self.text}{f' (until {self.until:%Y-%m-%d})' if self.until and self.until < moment else ''}."

    @property
    def holds(self) -> bool:
        """Whether it is true as far as is known."""
        return self.until is None
