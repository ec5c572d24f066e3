"""How far the runs of one experiment scatter: the mean of each figure, and its deviation (LightMem, table 1)."""

import argparse
import json
import sys
from pathlib import Path
from statistics import mean, stdev

from memgraph_engine.evaluation.report import table


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("folder", type=Path, nargs="+", help="the folder of a run of eval locomo; two at least")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Read the figures of the runs; return the mean and the sample deviation of each, and a table of them.

    Exits with a sentence where a folder holds no figures, or another run's.
    """
    runs = [_figures(folder) for folder in given.folder]
    if len(runs) < 2:
        sys.exit("One run does not scatter: name the folders of two at least, each made with an --out of its own.")
    if others := [folder for folder, one in zip(given.folder, runs, strict=True) if one.keys() != runs[0].keys()]:
        sys.exit(f"{others[0]} has other figures than {given.folder[0]}: they are no runs of one experiment.")
    spread = {name: (mean(one[name] for one in runs), stdev(one[name] for one in runs)) for name in sorted(runs[0])}
    body = [(name, f"{middle:.2f} ± {apart:.2f}") for name, (middle, apart) in spread.items()]
    told = {
        f"{name}.{what}": value for name, two in spread.items() for what, value in zip(("mean", "sd"), two, strict=True)
    }
    return told, table(("", f"{len(runs)} runs"), body)


def _figures(folder: Path) -> dict[str, float]:
    try:
        figures: dict[str, float] = json.loads((folder / "figures.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"{folder} holds no figures of a run: {error}.")
    return figures
