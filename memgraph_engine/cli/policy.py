"""`memgraph-engine policy`: classes that say how long notes can be read."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import printed
from memgraph_engine.cli.group import Commands

if TYPE_CHECKING:
    from memgraph_engine.lifecycle.policies import Policy

policy_app = Commands("policy", "Policies: how long notes can be read.", ("set", "apply"))


@policy_app.command()
@printed
def check(file: Annotated[str, "FILE: A policy file, or default or memoryarchitect."]) -> Iterator[object]:
    """Check a policy file.

    What is wrong is told with its line and column.
    """
    from memgraph_engine.lifecycle.file import policies

    found = policies(file)
    yield {"default": found.default, "classes": list(found.classes), "rules": len(found.rules)}
    for policy in found.classes.values():
        default = " (the default)" if policy.name == found.default else ""
        typer.echo(f"{policy.name}{default}: {_life(policy)}{_kept(policy)}")
    typer.echo(f"{show.count(len(found.rules), 'rule')}.")


def _life(policy: "Policy") -> str:
    if policy.ttl is None:
        return "has no end"
    end = "erased" if policy.at_end == "erase" else "archived"
    kept = f", and erased after {_duration(policy.archive)} more" if policy.archive else ""
    lasts = _duration(policy.ttl)
    time = f"as long as its session, which ends after {lasts} without a turn" if policy.session else f"for {lasts}"
    return f"can be read {time}, then is {end}{kept}"


def _duration(time: timedelta) -> str:
    """Return a time in the largest unit of which it is a whole number.

    >>> _duration(timedelta(hours=24)), _duration(timedelta(minutes=90))
    ('1 day', '90 minutes')
    """
    units = ("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1))
    name, one = next((unit for unit in units if not time % unit[1]), ("second", timedelta(seconds=1)))
    return show.count(time // one, name)


def _kept(policy: "Policy") -> str:
    models = "" if policy.models else "; no chat model sees it"
    return models + ("; it is found only where it is asked for" if policy.asked else "")
