"""The figures of a report, drawn: what a variant gains or costs, the sweep of k, answers by category."""

from pathlib import Path
from typing import TYPE_CHECKING

from memgraph_engine.evaluation.experiment import SWEEP
from memgraph_engine.evaluation.locomo import CATEGORIES
from memgraph_engine.evaluation.report import ablation, rows
from memgraph_engine.evaluation.summary import ALL, RECALL, Summary
from memgraph_engine.evaluation.variants import FULL_CONTEXT, MEMORY, RAG, SWEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

_OURS, _THEIRS = "#1f5f8b", "#c8892b"
_CATEGORY_COLOURS = ("#1f5f8b", "#c8892b", "#4c8c4a", "#8c4a7d", "#7a7a7a")
_GREY, _GREYS = "#555555", ("black", "#555555", "#888888", "#bbbbbb")


def draw(summary: Summary, folder: Path) -> list[str]:
    """Write the plots that there are figures for into a folder; return their names."""
    parts = len(_left_out(summary))
    drawn = [("sweep.png", _sweep, (6.4, 4.0))]
    drawn += [("ablations.png", _ablations, (6.4, 1.4 + 0.42 * parts))] if parts else []
    if summary.experiment.model:
        drawn += [("answers.png", _answers, (8.4, 5.0))]
        drawn += [("parts.png", _parts, (8.4, 5.0))] if parts else []
    for name, of, size in drawn:
        _write(folder / name, of, summary, size)
    return [name for name, _, _ in drawn]


def _write(file: Path, of: "Callable[[Axes, Summary], None]", summary: Summary, size: tuple[float, float]) -> None:
    from matplotlib.figure import Figure  # not pyplot, which would look for a screen

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    of(axes, summary)
    figure.savefig(file)


def _sweep(axes: "Axes", summary: Summary) -> None:
    """Draw Recall over k: of the memory for each category, and over all questions beside what is swept too."""
    coloured = zip(CATEGORIES.items(), _CATEGORY_COLOURS, strict=True)
    drawn = [(MEMORY, str(number), f"{number} {name}", colour) for (number, name), colour in coloured]
    drawn += [(name, ALL, f"all, {name}", colour) for name, colour in zip(SWEPT, _GREYS, strict=True)]
    for variant, category, label, colour in drawn:
        points = [(k, summary.value(variant, RECALL, category, k)) for k in SWEEP]
        if known := [(k, value) for k, value in points if value is not None]:
            axes.plot(*zip(*known, strict=True), color=colour, label=label, linewidth=2.4 if category == ALL else 1.2)
    axes.set(xlabel="k", ylabel="Recall@k", ylim=(0, 100), xticks=SWEEP, title="Evidence among the first k sources")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="lower right", frameon=False, fontsize=8, ncols=2)


def _left_out(summary: Summary) -> dict[str, str]:
    """Return what is left out by each variant's name, with what that is compared with."""
    plain = (MEMORY, RAG, FULL_CONTEXT)
    return {one.name: one.against for one in summary.experiment.variants if one.name not in plain}


def _ablations(axes: "Axes", summary: Summary) -> None:
    """Draw by how many points of Recall each variant differs from its whole, and the paper's does."""
    pairs = list(_left_out(summary).items())[::-1]
    names = [name for name, _ in pairs]
    ours = [_difference(*(summary.value(one, RECALL) for one in pair)) for pair in pairs]
    theirs = [_difference(*(ablation(RECALL, one) for one in pair)) for pair in pairs]
    for shift, values, colour, label in (
        (0.2, ours, _OURS, f"this run ({summary.experiment.model or 'no LLM'})"),
        (-0.2, theirs, _THEIRS, "MemFly, table 3 (Qwen3-8B)"),
    ):
        known = [(place + shift, value) for place, value in enumerate(values) if value is not None]
        if known:
            at, lengths = zip(*known, strict=True)
            bars = axes.barh(at, lengths, height=0.38, color=colour, label=label)
            axes.bar_label(bars, fmt="%+.1f", fontsize=7, padding=3, color=_GREY)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.margins(x=0.15)
    axes.set(xlabel=f"points of Recall@{summary.experiment.ks[0]}", title="Recall of each variant, against its whole")
    _legend(axes)


def _difference(value: float | None, whole: float | None) -> float | None:
    return None if value is None or whole is None else value - whole


def _answers(axes: "Axes", summary: Summary) -> None:
    """Draw F1 by category: this run's memory and baselines, and beside them what the papers report."""
    ours = [name for name in (MEMORY, RAG, FULL_CONTEXT) if summary.value(name, "F1") is not None]
    theirs = [
        row for row in rows("F1", summary.experiment.model) if None not in row.values and " without " not in row.system
    ]
    groups: list[tuple[str, Sequence[float | None], str]] = [
        (f"this run: {name}", summary.by_category(name, "F1"), colour)
        for name, colour in zip(ours, ("#123f5e", "#2f7fb5", "#9cc6e3"), strict=False)
    ]
    shades = (
        "#f3dcb8",
        "#e3b877",
        "#c8892b",
        "#8f5f17",
        "#c9d8bd",
        "#8fb07a",
        "#4c7a3a",
        "#d8cfe8",
        "#a08cc4",
        "#6a4f9c",
    )
    groups += [
        (f"{row.system}, {row.model} ({row.source})", row.values, shades[place % len(shades)])
        for place, row in enumerate(theirs)
    ]
    _by_category(axes, groups, f"Answers by category ({summary.experiment.model})")


def _parts(axes: "Axes", summary: Summary) -> None:
    """Draw F1 by category of the memory and of each variant (MemFly, figure 2)."""
    names = [MEMORY, *_left_out(summary)]
    groups = [(name, summary.by_category(name, "F1"), f"C{place % 10}") for place, name in enumerate(names)]
    _by_category(axes, groups, f"Answers by category, without each part ({summary.experiment.model})")


def _by_category(axes: "Axes", groups: "Sequence[tuple[str, Sequence[float | None], str]]", title: str) -> None:
    """Draw a bar for each of CATEGORIES and each group: its label, its values and its colour."""
    width = 0.86 / max(1, len(groups))
    for place, (label, values, colour) in enumerate(groups):
        at = [number - 0.43 + width * (place + 0.5) for number in range(len(CATEGORIES))]
        axes.bar(at, [value or 0.0 for value in values], width, color=colour, label=label)
    axes.set_xticks(range(len(CATEGORIES)), [f"{number}\n{name}" for number, name in CATEGORIES.items()])
    axes.set(ylabel="F1", ylim=(0, 100), title=title)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    _legend(axes)


def _legend(axes: "Axes") -> None:
    """Name what is drawn, below it, where it hides nothing."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    if axes.get_legend_handles_labels()[1]:  # else nothing is known yet
        figure.legend(loc="outside lower center", frameon=False, fontsize=8, ncols=2)
