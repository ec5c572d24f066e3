"""`memgraph-engine eval`: the papers' experiments on this engine."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, printed
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.show import bar
from memgraph_engine.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memgraph_engine.cost import Cost
    from memgraph_engine.evaluation.answering import Patience
    from memgraph_engine.evaluation.estimate import Estimate
    from memgraph_engine.evaluation.experiment import Experiment
    from memgraph_engine.evaluation.locomo import Conversation
    from memgraph_engine.evaluation.run import Session
    from memgraph_engine.evaluation.summary import Summary
    from memgraph_engine.settings import Settings

eval_app = Commands("eval", "The experiments of the papers, on this engine.")

_ALL = "all"
_File = Annotated[
    Path,
    typer.Option(help="The LoCoMo file.", envvar="MEMGRAPH_ENGINE_LOCOMO", exists=True, dir_okay=False, readable=True),
]
_Yes = Annotated[bool, "--yes -y: Don't ask, whatever it costs."]


@eval_app.command()
@printed
def locomo(
    on: Target,
    file: _File,
    model: Annotated[str, "NAME: The model that constructs and answers; without one, only retrieval is measured."] = "",
    judge: Annotated[str, "NAME: A model that judges the answers; else that of the role `judging`."] = "",
    ablation: Annotated[
        list[str] | None,
        "NAME: Measure without a part, e.g. without-topics, or by blocks; can be repeated; `all` means each.",
    ] = None,
    preset: Annotated[
        str | None, "NAME: Measure a memory with the settings of a paper, e.g. memfly (docs/papers.md)."
    ] = None,
    top_k: Annotated[list[int] | None, "--top-k -n N: Notes that answers are made from (20); can be repeated."] = None,
    full_context: Annotated[
        bool, typer.Option(help="Measure the baseline that reads whole conversations, which is most of the cost.")
    ] = True,
    out: Annotated[Path, "DIR: The folder of results and report; a run that was broken off continues there."] = Path(
        "reports/locomo"
    ),
    max_cost: Annotated[
        float, "DOLLARS: Ask before a run that may cost more; stop any other run at this cost.", {"min": 0}
    ] = 1.0,
    yes: _Yes = False,
    estimate: Annotated[bool, "Only estimate the cost."] = False,
    forget: Annotated[bool, "Only remove what a broken-off run left in the database."] = False,
) -> Iterator[object]:
    """Measure retrieval and answers on LoCoMo.

    It compares with ablations, baselines and the papers' numbers.
    The memories of a run have tenants of their own and are removed as it goes on. What was asked and answered is kept
    in --out: the same command again asks for nothing twice. Ablations of the construction build a memory each.
    """
    from memgraph_engine.evaluation import run
    from memgraph_engine.llm.roles import chat_named

    settings = _settings(model, preset)
    if forget:
        removed = run.forget(out, settings)
        yield {"removed": removed}
        typer.echo("This run is removed from the database." if removed else "There is no such run.")
        return
    judge = (judge or settings.llm.roles.judging.model or "") if model else ""
    experiment = _experiment(file, model, judge, ablation or [], top_k or [], full_context=full_context)
    llm, judging = (chat_named(name, settings.llm) if name else None for name in (model, judge))
    with run.session(file, experiment, out, settings, llm=llm, judge=judging) as one:
        expected = one.estimate()
        if estimate:
            parts = {name: getattr(expected, name) for name in ("construction", "answers", "judgements", "total")}
            yield parts
            show.facts({name: _cost(cost) for name, cost in parts.items()})
            return
        _agree(one, expected, max_cost, yes=yes)
        failed = _run(one)
        summary = one.write()
    on.failed = bool(failed.failures)
    if failed.failures:
        count = show.count(failed.failures, "request")
        typer.echo(f"{count} failed, to be made again by the same command: {show.clean(failed.reason)}", err=True)
    yield {
        "folder": one.folder,
        "questions": summary.questions(),
        "figures": summary.flat(),
        "differences": summary.compared,
        "spent": one.replies.spent,
        "failures": failed.failures,
    }
    _print(summary)
    typer.echo(f"The report: {one.folder / 'report.md'}")


@eval_app.command()
@printed
def export_selector(
    file: _File,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.", dir_okay=False)],
    sample_id: Annotated[list[str] | None, "ID: Of this conversation (all); can be repeated."] = None,
    top_k: Annotated[int, "--top-k -n N: Notes that a selector keeps.", {"min": 1, "max": 100}] = 10,
    model: Annotated[
        str, "NAME: The model that constructs notes and makes queries of questions; without one there are none."
    ] = "",
    max_cost: Annotated[float, "DOLLARS: Stop when the model has cost so much.", {"min": 0}] = 1.0,
    yes: _Yes = False,
) -> Iterator[object]:
    """Write examples to train a selector of notes on.

    A line of JSON for each question: its queries, the notes that a second stage would read, and which of them answer.
    Give the conversations that you train on, and measure by others. Nothing is trained here. A file that is there is
    replaced when the new one is whole. What is read of LoCoMo stands in it: its licence holds for it, too.
    """
    from memgraph_engine.evaluation import examples
    from memgraph_engine.llm.roles import chat_named

    chosen = _chosen(file, out, sample_id or [])
    settings = _settings(model)
    llm = chat_named(model, settings.llm) if model else None
    limit = None if yes or not model else max_cost
    steps = sum(len(one.turns) + len(one.questions) for one in chosen)
    with bar("Exporting", lambda: steps) as running:
        done = examples.write(out, chosen, top_k, settings, llm=llm, limit=limit, advance=running.advance)
    show.fallbacks(done.fallbacks)
    yield done
    typer.echo(
        f"Wrote {show.count(done.examples, 'example')} of {show.count(done.conversations, 'conversation')} to "
        f"{done.path}; {done.answerable:.0%} have a note to keep. Left out, since they name no turn: {done.left_out:,}."
    )


def _chosen(file: Path, out: Path, ids: "Sequence[str]") -> "Sequence[Conversation]":
    """Return the conversations that are named, or all; raises for an unknown one, and for a file that can't be out."""
    from memgraph_engine.evaluation.experiment import read

    if not out.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {out.parent}.", param_hint="--out")
    if out.exists() and out.samefile(file):
        raise typer.BadParameter("it is the LoCoMo file itself.", param_hint="--out")
    every = {one.id: one for one in read(file)}
    if unknown := [one for one in ids if one not in every]:
        raise typer.BadParameter(
            f"there is no {', '.join(unknown)} in {file}; there are {', '.join(every)}.", param_hint="--sample-id"
        )
    return [every[one] for one in dict.fromkeys(ids or every)]


def _settings(model: str, preset: str | None = None) -> "Settings":
    from memgraph_engine.settings import Settings

    return Settings.load(llm={"model": model}, **({} if preset is None else {"preset": preset}))


def _experiment(
    file: Path, model: str, judge: str, ablations: "Sequence[str]", ks: "Sequence[int]", *, full_context: bool
) -> "Experiment":
    from memgraph_engine.evaluation.experiment import K_FINAL, Experiment, read
    from memgraph_engine.evaluation.variants import ABLATIONS

    if unknown := [name for name in ablations if name not in ABLATIONS and name != _ALL]:
        raise typer.BadParameter(
            f"there is no {', '.join(unknown)}; there are {', '.join(ABLATIONS)}, and all.", param_hint="--ablation"
        )
    if any(one < 1 or one > 1000 for one in ks):
        raise typer.BadParameter("it must be from 1 to 1,000.", param_hint="--top-k")
    chosen = tuple(ABLATIONS if _ALL in ablations else dict.fromkeys(ablations))
    return Experiment(read(file), model, judge, tuple(dict.fromkeys(ks)) or (K_FINAL,), chosen, full_context)


def _agree(one: "Session", expected: "Estimate", most: float, *, yes: bool) -> None:
    """Ask the user about a run that may cost more than the limit; any other run keeps to the limit."""
    total = expected.total
    if not total.calls:
        return
    typer.echo(f"Still to be paid for, about: {_cost(total)}.", err=True)
    if yes:
        return
    if total.money is not None and total.money <= most:
        one.replies.limit = (one.replies.spent.money or 0.0) + most
        return
    why = "Its price is not known" if total.money is None else f"That is more than ${most:,.2f}"
    if not sys.stdin.isatty():
        raise InvalidInput(f"{why}: say --yes, or --max-cost with more.")
    typer.confirm(f"{why}. Go on?", abort=True, err=True)


def _run(one: "Session") -> "Patience":
    with bar("Evaluating", lambda: 1) as running:

        def begin(steps: int) -> "Callable[[int], None]":
            running.expect(steps)
            return running.advance

        try:
            return one.run(begin)
        except BaseException:
            running.tell(f"Stopped. What is done is kept in {one.folder}; run the same command again to go on.")
            raise


def _print(summary: "Summary") -> None:
    """Print the means over all questions, a line for each variant."""
    from memgraph_engine.evaluation.summary import ALL, HIT, JUDGE, RECALL

    experiment = summary.experiment
    measures = [RECALL, HIT, *(("F1", "BLEU-1") if experiment.model else ()), *((JUDGE,) if experiment.judge else ())]
    rows = [("", *measures)]
    for variant in experiment.variants:
        for k in experiment.answered(variant):
            values = [summary.value(variant.name, measure, ALL, k) for measure in measures]
            name = f"{variant.name}, k = {k}" if k else variant.name
            rows.append((name, *("" if value is None else f"{value:.1f}" for value in values)))
    show.table(rows)


def _cost(cost: "Cost") -> str:
    return (
        f"{show.count(cost.calls, 'request')}, {cost.input_tokens:,} tokens read, {cost.output_tokens:,} written, "
        f"{show.money(cost)}"
    )
