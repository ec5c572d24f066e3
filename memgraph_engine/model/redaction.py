"""Secrets are kept, masked or refused before anything is made of a text: its hash, its id, its notes and vectors."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.language.secrets import masked
from memgraph_engine.model.ports import Redactor
from memgraph_engine.settings import Secrets


class BuiltIn:
    """The redactor of the table (`config/language/secrets.toml`)."""

    def redact(self, text: str) -> str:
        """Return a text with its secrets covered."""
        return masked(text)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What becomes of secrets in what is written, and who finds them."""

    secrets: Secrets = "keep"
    redactor: Redactor = BuiltIn()  # noqa: RUF009  it holds nothing

    def text(self, text: str, where: str) -> str:
        """Return a text as it may be stored; raises InvalidInput, which quotes nothing of it."""
        if self.secrets == "keep" or not text:
            return text
        covered = self.covered(text, where)
        if self.secrets == "refuse" and covered != text:
            raise InvalidInput(f"{where} holds a secret, and secrets are refused. Nothing was stored of it.")
        return covered

    def json(self, text: str, where: str) -> str:
        """Return JSON as it may be stored; raises InvalidInput, also where it is none once its secrets are covered."""
        if (told := self.text(text, where)) == text:
            return text
        try:
            json.loads(told)
        except ValueError:
            raise InvalidInput(f"{where} is no JSON once its secrets are covered. Nothing was stored of it.") from None
        return told

    def mapping(self, given: Mapping[str, object], where: str) -> Mapping[str, Any]:
        """Return metadata as they may be stored; raises InvalidInput likewise."""
        text = json.dumps(dict(given), ensure_ascii=False) if given else ""
        told = self.json(text, where)
        found: Mapping[str, Any] = given if told == text else json.loads(told)
        return found

    def asked(self, question: str) -> str | None:
        """Return a question as it may be recorded: without its secrets where these are not kept, None if that fails."""
        try:
            return question if self.secrets == "keep" else self.covered(question, "the question")
        except InvalidInput:
            return None

    def covered(self, text: str, where: str) -> str:
        """Return a text with its secrets covered, whatever the setting says; raises InvalidInput if that fails."""
        try:
            told: object = self.redactor.redact(text)
        except Exception as error:  # noqa: BLE001  whatever it raises may quote what it read
            why = type(error).__name__
        else:
            if isinstance(told, str):
                return told
            why = f"{type(told).__name__} in place of a text"
        raise InvalidInput(f"{where} can't be looked through for secrets ({why}). Nothing was stored of it.")


KEEPING = Redaction()
"""Leaves all texts as they are."""
