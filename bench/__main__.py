"""`python -m bench NAME`: measure the engine on a real Neo4j, and write what was measured."""

import argparse
import json
from pathlib import Path

from bench import (
    blocks,
    code,
    control,
    daily,
    eval_small,
    fleet,
    forget,
    gate,
    hook,
    house,
    lifecycle,
    locomo,
    memory,
    ordinary,
    otel,
    pairs,
    pathways,
    poison,
    re_embed,
    realmem,
    reflection,
    report,
    runs,
    secrets,
    serve,
    speed,
    topics,
)

BENCHES = {
    "blocks": blocks,
    "code": code,
    "control": control,
    "daily": daily,
    "eval-small": eval_small,
    "fleet": fleet,
    "forget": forget,
    "gate": gate,
    "hook": hook,
    "house": house,
    "lifecycle": lifecycle,
    "locomo": locomo,
    "memory": memory,
    "ordinary": ordinary,
    "otel": otel,
    "pairs": pairs,
    "pathways": pathways,
    "poison": poison,
    "re-embed": re_embed,
    "realmem": realmem,
    "reflection": reflection,
    "runs": runs,
    "secrets": secrets,
    "serve": serve,
    "speed": speed,
    "topics": topics,
}


def main() -> None:
    """Run the bench that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    benches = parser.add_subparsers(dest="name", required=True)
    for name, bench in BENCHES.items():
        one = benches.add_parser(name, help=bench.__doc__, description=bench.__doc__)
        one.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, flat")
        one.add_argument("--markdown", type=Path, metavar="FILE", help="write the report there as well")
        bench.arguments(one)
    given = parser.parse_args()
    figures, text = BENCHES[given.name].run(given)
    page = f"{text}\n{report.circumstances(given.name)}\n"
    print(page)
    if given.markdown:
        given.markdown.write_text(page, encoding="utf-8")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
