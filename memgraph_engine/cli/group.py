"""A command that has commands of its own."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer._click.exceptions import NoSuchOption
from typer.core import TyperGroup

from memgraph_engine.cli.options import described
from memgraph_engine.cli.rows import command
from memgraph_engine.interface.arguments import meant

C = TypeVar("C", bound=Callable[..., Any])
_FEW = 12  # commands that are all named


class Commands(typer.Typer):
    """Commands whose options are told in a line each (`options.described`)."""

    def __init__(self, name: str, about: str, rows: Sequence[str] = (), **given: Any) -> None:
        """Begin with commands of the table (`rows.ROWS`)."""
        super().__init__(name=name, help=about, no_args_is_help=True, **{"cls": Group, **given})
        for one in rows:
            self.command(one)(command(f"{name} {one}"))

    def command(self, name: str | None = None, **given: Any) -> Callable[[C], C]:
        """Take a function for a command."""
        take = super().command(name, **given)
        return lambda function: take(described(function))


class Group(TyperGroup):
    """Says of an option in front of the commands which of them take it, and of an unknown command what may be meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of the group itself."""
        option = args[0].partition("=")[0] if args else ""
        if option.startswith("-") and not any(option in own.opts for own in self.get_params(ctx)):
            takers = [name for name, one in self.commands.items() if any(option in own.opts for own in one.params)]
            if takers:
                ctx.fail(f"{option} belongs behind a command of `{ctx.command_path}`: {', '.join(takers)}.")
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands, panel by panel, in columns that are as wide in each."""
        width = max(map(len, self.commands))
        panels = dict[str, list[tuple[str, str]]]()
        for name, one in self.commands.items():
            panel = getattr(one, "rich_help_panel", None) or "Commands"
            panels.setdefault(panel, []).append((name, one.get_short_help_str(formatter.width - 6 - width)))
        for panel, some in panels.items():
            with formatter.section(panel):
                formatter.write_dl(some, col_spacing=width + 2 - max(len(name) for name, _ in some))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named; of an option that it has not say which is meant."""
        try:
            return super().invoke(ctx)
        except NoSuchOption as error:
            known = error.ctx.command.get_params(error.ctx) if error.ctx else []
            names = {str(own.name): one for own in known for one in own.opts if one.startswith("--")}
            near = meant(error.option_name, names)
            error.possibilities = [names[near]] if near else error.possibilities
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}. {self._instead(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _instead(self, ctx: Any, name: str) -> str:
        """Say what may be meant by an unknown command: an option, a command like it, or one of a group."""
        options = [option for own in self.get_params(ctx) for option in own.opts if option == f"--{name}"]
        below = [f"{group} {name}" for group, one in self.commands.items() if name in getattr(one, "commands", ())]
        if some := options or [*get_close_matches(name, self.commands), *below]:
            return f"Did you mean {' or '.join(f'`{ctx.command_path} {one}`' for one in some)}?"
        if len(self.commands) > _FEW:
            return f"`{ctx.command_path} --help` lists the commands."
        return f"The commands of `{ctx.command_path}` are {', '.join(self.commands)}."


class WithDefault(Group):
    """Has one command whose name may be left out: what is none of the others is its first argument, or an option."""

    default = "file"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name in where it is left out."""
        name = args[0] if args else ""
        if not name or name in self.commands or name in ctx.help_option_names:
            return super().parse_args(ctx, args)
        if get_close_matches(name, self.commands) and not Path(name).exists():
            ctx.fail(f"There is no file {name!r}. {self._instead(ctx, name)}")
        return super().parse_args(ctx, [self.default, *args])
