"""The report of a run: tables in Markdown beside the papers' numbers, and what has to be known to compare them."""

import os
import platform
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any

from memgraph_engine.cost import Cost
from memgraph_engine.embedding.choose import named_in
from memgraph_engine.evaluation.answering import ADVERSARIAL_TEMPERATURE, TEMPERATURE
from memgraph_engine.evaluation.experiment import SWEEP
from memgraph_engine.evaluation.locomo import CATEGORIES
from memgraph_engine.evaluation.ranking import RESAMPLES
from memgraph_engine.evaluation.summary import ALL, BUT_ADVERSARIAL, HIT, JUDGE, RECALL, SEARCH, TOKENS, TOTAL, Summary
from memgraph_engine.evaluation.variants import FULL_CONTEXT, MEMORY, RAG, SLM, SWEPT
from memgraph_engine.evaluation.wording import MEASURES, SBERT
from memgraph_engine.resources import resource
from memgraph_engine.settings import Settings

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


_NUMBERS = tuple(str(number) for number in CATEGORIES)
_NAMED = tuple(f"{number} {name}" for number, name in CATEGORIES.items())
_SHOWN = ("memgraph-engine", "neo4j", "numpy", "onnxruntime", "litellm", "nltk", "rouge-score")
_PARAMETERS = (  # that the papers name (MemFly, table 5)
    *("gate.merge_threshold", "gate.link_threshold", "recall.ranking", "recall.topic_anchors"),
    *("recall.keyword_anchors", "recall.spread", "recall.rounds", "answer.rounds", "answer.relevance"),
)
_COMPARED = """\
Categories are meant by LoCoMo's numbers: MLA-ARC's and LightMem's names are shifted ("Multi Hop" is category 2 in
the one and 3 in the other). "full context" is the whole conversation in the prompt, which MemFly and MLA-ARC call
LoCoMo. The papers used all ten conversations (1,986 questions), and prompts, retrieval and scripts of their own; their
means "1 to 4" are worked out here, weighted by the questions of each category. In category 5 the right answer here is
that it was not mentioned; A-MEM's script, whose measures MemFly follows, offers the model two options and compares with
the other one, so these values can't be compared. LightMem leaves this category out. Its verdicts are those of
gpt-4o-mini by the code of Mem0's evaluation: another judge, or another prompt, finds more or fewer answers right."""


def table(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers get one decimal, None is a dash.

    >>> print(table(("", "Recall"), [("memory", 86.14), ("papers", None)]))
    |  | Recall |
    |---|---|
    | memory | 86.1 |
    | papers | – |
    """

    def cells(row: Sequence[object]) -> str:
        shown = ("–" if x is None else f"{x:.1f}" if isinstance(x, float) else str(x) for x in row)
        return "| " + " | ".join(shown) + " |"

    return "\n".join([cells(head), "|" + "---|" * len(head), *(cells(row) for row in body)])


def report(summary: Summary, settings: Settings, spent: Cost, plots: Sequence[str]) -> str:
    """Return the whole report; `plots` are names of files beside it, `spent` is what models were paid in all runs."""
    parts = [*_head(summary, settings, spent), *_retrieval(summary, plots)]
    if summary.experiment.model:
        parts += [*_answers(summary, plots), *_wording(summary), *_ablations(summary, plots)]
    parts += [*_differences(summary), "## What has to be known", _COMPARED, *_faults(summary)]
    return "\n\n".join(parts) + "\n"


def _head(summary: Summary, settings: Settings, spent: Cost) -> Iterator[str]:
    experiment, questions = summary.experiment, summary.questions()
    yield "# Evaluation on LoCoMo"
    by_category = ", ".join(f"{questions[number]} of category {number}" for number in _NUMBERS)
    yield f"Conversations: {len(experiment.conversations)}. Questions: {questions[ALL]:,} ({by_category})."
    how = f"Model {experiment.model}" if experiment.model else "No LLM: retrieval only"
    judge = f", judged by {experiment.judge}" if experiment.judge else ""
    yield f"{how}{judge}; embedder {named_in(settings)}. {_circumstances()}"
    in_force = (f"`{name}` {attrgetter(name)(settings)}" for name in _PARAMETERS)
    yield f"Preset: {settings.preset or 'none'}. In force: {', '.join(in_force)}."
    if experiment.model:
        money = "unknown" if spent.money is None else f"${spent.money:,.4f}"
        yield (
            f"Temperature {TEMPERATURE:g}, for category 5 {ADVERSARIAL_TEMPERATURE:g}. Paid for: {spent.calls:,} "
            f"requests, {spent.input_tokens:,} tokens read and {spent.output_tokens:,} written, price {money}."
        )


def _circumstances() -> str:
    found = []
    for package in _SHOWN:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"{date.today():%Y-%m-%d}, {', '.join(found)}, Python {platform.python_version()}, {os.cpu_count()} cores."  # noqa: DTZ011


def _retrieval(summary: Summary, plots: Sequence[str]) -> Iterator[str]:
    k = summary.experiment.ks[0]
    yield "## Retrieval"
    yield (
        f"Recall: the share of a question's evidence turns among the first {k} sources of {k} notes; Hit rate: "
        "whether any is among them. The last two columns are MemFly's (table 3, Qwen3-8B, all ten conversations)."
    )
    body = [
        (
            one.name,
            summary.value(one.name, RECALL),
            summary.value(one.name, HIT),
            *summary.by_category(one.name, RECALL),
            ablation("Recall", one.name),
            ablation("Hit rate", one.name),
        )
        for one in summary.experiment.variants
        if one.name != FULL_CONTEXT
    ]
    by_category = (f"Recall, {name}" for name in _NAMED)
    yield table(("", f"Recall@{k}", f"Hit rate@{k}", *by_category, "MemFly: Recall", "Hit rate"), body)
    yield from _images(plots, "ablations.png")
    yield "### Sweep of k"
    sweep = [
        (
            _label(name, k),
            summary.value(name, RECALL, ALL, k),
            summary.value(name, HIT, ALL, k),
            *summary.by_category(name, RECALL, k),
            *summary.latency(name, SEARCH, k),
            *summary.latency(name, TOTAL, k),
        )
        for name in SWEPT
        for k in sorted({*SWEEP, *summary.experiment.ks})
        if summary.value(name, RECALL, ALL, k) is not None
    ]
    times = ("Search, ms: P50", "P95", "with the answer: P50", "P95")
    yield table(("", "Recall@k", "Hit rate@k", *(f"Recall, {name}" for name in _NAMED), *times), sweep)
    yield "As many questions as `llm.concurrency` says were asked at once; a reply that was kept took no time."
    yield from _images(plots, "sweep.png")


def _answers(summary: Summary, plots: Sequence[str]) -> Iterator[str]:
    yield "## Answers"
    for measure in ("F1", "BLEU-1", *((JUDGE,) if summary.experiment.judge else ())):
        yield f"### {'Right, by the judge' if measure == JUDGE else measure}"
        yield _by_category(summary, measure)
    yield from _images(plots, "answers.png")
    if len(ks := summary.experiment.ks) > 1:
        yield "### k by category"
        yield "The k of the best F1, beside that of MLA-ARC (table 8)."
        best = [-max((summary.value(MEMORY, "F1", one, k) or 0.0, -k) for k in ks)[1] for one in _NUMBERS]
        yield table(("", *_NAMED), [(MEMORY, *best), *((f"MLA-ARC, {model}", *of) for model, *of in _file()["k"])])
    yield "Tokens that an answer took to read, on average:"
    shown = [(_label(name, k), summary.value(name, TOKENS, ALL, k)) for name, k in _columns(summary)]
    yield table(("", "tokens"), [(name, f"{tokens:,.0f}") for name, tokens in shown if tokens is not None])


def _wording(summary: Summary) -> Iterator[str]:
    yield "## The measures of MLA-ARC"
    yield "METEOR is without WordNet's synonyms; SBERT is the cosine of this run's embedder."
    for measure in (*MEASURES[2:], SBERT):
        yield f"### {measure}"
        yield _by_category(summary, measure)


def _by_category(summary: Summary, measure: str) -> str:
    """Return a table of this run's columns and the papers' rows, by category."""
    body: list[Sequence[object]] = [
        (
            f"**{_label(name, k)}**",
            *summary.by_category(name, measure, k),
            summary.value(name, measure, ALL, k),
            summary.value(name, measure, BUT_ADVERSARIAL, k),
        )
        for name, k in _columns(summary)
    ]
    body += [
        (f"{row.system}, {row.model} ({row.source})", *row.values, row.average, row.but_adversarial)
        for row in rows(measure, summary.experiment.model)
    ]
    return table(("", *_NAMED, "all", "1 to 4"), body)


def _columns(summary: Summary) -> list[tuple[str, int]]:
    """Return what the papers' rows stand beside, with its k: what is measured at several, and what is at one."""
    there, ks = {one.name for one in summary.experiment.variants}, summary.experiment.ks
    every = [*((name, k) for name in SWEPT for k in ks), (SLM, ks[0]), (FULL_CONTEXT, 0)]
    return [one for one in every if one[0] in there]


def _label(name: str, k: int) -> str:
    return f"{name}, k = {k}" if k else name


def _ablations(summary: Summary, plots: Sequence[str]) -> Iterator[str]:
    left_out = [one.name for one in summary.experiment.variants if one.name not in (RAG, FULL_CONTEXT)]
    if len(left_out) == 1:
        return
    yield "## Ablations"
    yield "Over all questions; MemFly's are those of its table 3 (Qwen3-8B)."
    theirs = ("F1", "BLEU-1")
    measures = (*theirs, JUDGE) if summary.experiment.judge else theirs
    body = [
        (name, *(summary.value(name, m) for m in measures), *(ablation(m, name) for m in theirs)) for name in left_out
    ]
    yield table(("", *measures, *(f"MemFly: {m}" for m in theirs)), body)
    yield "MemFly gives two values of BLEU-1 for the same run: 36.85 in table 3, 34.51 in table 2."
    yield "### F1 by category"
    yield table(("", *_NAMED), [(name, *summary.by_category(name, "F1")) for name in left_out])
    yield from _images(plots, "parts.png")


def _differences(summary: Summary) -> Iterator[str]:
    """Tell how sure each difference is."""
    told: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in summary.compared:
        of = one.difference
        shown = f"{of.mean:+.1f} [{of.low:+.1f}, {of.high:+.1f}], p = {of.p:.3f}, {of.questions:,}"
        told.setdefault((one.variant, one.against, one.measure), {})[one.category] = shown
    yield "## Differences"
    yield (
        f"A paired bootstrap over questions, {RESAMPLES:,} draws: the difference, its 95 % interval, two-sided p, not "
        "corrected for how many are looked at, and the questions that both were asked. Questions of "
        "one conversation are alike, so the intervals are rather too narrow."
    )
    body = [(*key, by.get(ALL), by.get(BUT_ADVERSARIAL)) for key, by in told.items()]
    yield table(("", "against", "measure", "all", "1 to 4"), body)


def _faults(summary: Summary) -> Iterator[str]:
    questions = summary.questions()[ALL]
    for (variant, part), times in sorted(summary.unaided.items()):
        yield f"In {variant}, for {times:,} of {questions:,} questions: {part}."
    if summary.unusable:
        yield f"Of {summary.unusable} requests nothing usable came back: they count as wrong."
    for memory, reasons in summary.fallbacks.items():
        yield f"In the memory {memory} parts were made without the model: {' '.join(reasons)}"


def _images(plots: Sequence[str], name: str) -> Iterator[str]:
    if name in plots:
        yield f"![{name.removesuffix('.png')}]({name})"
