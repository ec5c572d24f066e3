"""Ask models: for an answer in a few words from what was said, and whether it is right."""

import re
from dataclasses import asdict
from typing import Any

from memgraph_engine.errors import ModelError, ModelRefused, Unusable
from memgraph_engine.evaluation.locomo import ADVERSARIAL, NOT_MENTIONED, Question
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles, TextAnswer
from memgraph_engine.model.ports import ChatModel
from memgraph_engine.settings import LlmSettings

TEMPERATURE = 0.7
"""Of answers in general (MemFly, table 5)."""
ADVERSARIAL_TEMPERATURE = 0.5
"""Of answers to adversarial questions (the same)."""

_UNKNOWN = re.compile(r"\W*UNKNOWN\b")  # what the prompt asks for


class Answering:
    """Asks one model for answers, and another one to judge them. Safe to share between threads."""

    def __init__(self, llm: ChatModel | None, judge: ChatModel | None, settings: LlmSettings) -> None:
        warm = (TEMPERATURE, ADVERSARIAL_TEMPERATURE) if llm else ()
        self._answerers = [Roles(_with(settings, "answering", temperature=degree), llm=llm) for degree in warm]
        self._judge = Roles(_with(settings, "judging"), llm=judge) if judge else None

    def answer(self, question: Question, lines: str) -> dict[str, Any]:
        """Answer from lines of what was said; a model that gives nothing of use has answered nothing.

        Raises a ModelError where asking again may help.
        """
        if not lines:
            return {"answer": NOT_MENTIONED, "known": False, "cost": None}
        answerer = self._answerers[question.category == ADVERSARIAL]
        try:
            (told,) = answerer.tell(answering_brief(question.text, lines))
        except (Unusable, ModelRefused) as error:
            return {"answer": "", "known": False, "cost": asdict(error.cost), "failed": str(error)}
        assert isinstance(told, TextAnswer)
        known = not _UNKNOWN.match(told.text)
        return {"answer": told.text.strip() if known else NOT_MENTIONED, "known": known, "cost": asdict(told.cost)}

    def judged(self, question: Question, answer: str) -> dict[str, Any]:
        """Tell whether an answer is right; one that no judge could be made to judge is not."""
        assert self._judge is not None
        try:
            verdict = self._judge.ask(judging(question.text, question.answer, answer))
        except (Unusable, ModelRefused) as error:
            return {"correct": False, "reason": "", "cost": asdict(error.cost), "failed": str(error)}
        (one,) = verdict.items
        return {"correct": one.correct, "reason": one.reason, "cost": asdict(verdict.cost)}


def answering_brief(question: str, lines: str) -> Request:
    """Ask for the answer to a question in as few words as possible, from lines of what was said."""
    return role("answering-brief").request(question=[{"question": question}], notes=lines)


def judging(question: str, right: str, given: str) -> Request:
    """Ask whether an answer says what the right one says."""
    return role("judging").request([{"question": question, "right": right, "given": given}])


def _with(settings: LlmSettings, name: str, **change: object) -> LlmSettings:
    """Return settings in which a role has the model that is given, though it may be set to have none."""
    own = getattr(settings.roles, name).model_copy(update={"model": None, **change})
    return settings.model_copy(update={"roles": settings.roles.model_copy(update={name: own})})


class Patience:
    """Counts what fails; many in a row are too many."""

    _MOST = 10

    def __init__(self) -> None:
        self.failures = 0
        self.reason = ""
        self._in_a_row = 0

    def succeeded(self) -> None:
        """Begin to count again."""
        self._in_a_row = 0

    def failed(self, error: ModelError) -> None:
        """Count; raises the error if nothing worked for a while."""
        self.failures += 1
        self._in_a_row += 1
        self.reason = self.reason or str(error)
        if self._in_a_row >= self._MOST:
            raise error
