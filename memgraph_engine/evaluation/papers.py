"""The papers' own numbers, to stand beside a run (`config/evaluation/papers.toml`)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memgraph_engine.resources import resource

_USUAL = "gpt-4o-mini"  # the model that all papers report on
_QUESTIONS = (282, 321, 96, 841)  # that LoCoMo's ten conversations have of categories 1 to 4


@dataclass(frozen=True, slots=True)
class Row:
    """What a paper reports for a system with a model: a value for each category, 1 to 5, None if not given.

    `average` is the paper's own over all questions, None if it gives none.
    """

    source: str
    model: str
    system: str
    values: Sequence[float | None]
    average: float | None

    @property
    def but_adversarial(self) -> float | None:
        """The mean over the questions of categories 1 to 4, worked out here; None if one of the four is not given."""
        known = [value for value in self.values[:4] if value is not None]
        if len(known) < len(_QUESTIONS):
            return None
        return sum(value * questions for value, questions in zip(known, _QUESTIONS, strict=True)) / sum(_QUESTIONS)


def rows(measure: str, model: str) -> list[Row]:
    """Return what papers report by a measure for a model; where they report nothing for it, for gpt-4o-mini.

    A run that a paper gives two values for has two rows.

    >>> [(row.source, row.system, row.values[0]) for row in rows("METEOR", "openai/gpt-4o")]
    [('MLA-ARC, table 6', 'full context', 16.7), ('MLA-ARC, table 6', 'MLA-ARC', 17.97)]
    """
    measured = [row for row in _file()["row"] if measure in row]
    name = model.rpartition("/")[2].casefold()
    wanted = next((row["model"] for row in measured if row["model"].casefold() == name), _USUAL)
    return [_row(row, measure) for row in measured if row["model"] == wanted]


def ablation(measure: str, variant: str) -> float | None:
    """Return what MemFly's table 3 (Qwen3-8B) has for a variant, None if it has none.

    >>> ablation("Recall", "memfly-without-topics"), ablation("Recall", "without-words")
    (53.3, None)
    """
    return next((row[measure] for row in _file()["ablation"] if row["variant"] == variant), None)


def _row(row: Mapping[str, Any], measure: str) -> Row:
    averages = dict(zip(("F1", "BLEU-1"), row.get("average", ()), strict=False))
    values = [None if value != value else value for value in row[measure]]
    return Row(row["source"], row["model"], row["system"], values, averages.get(measure))


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(resource("config", "evaluation", "papers.toml").read_text("utf-8"))
