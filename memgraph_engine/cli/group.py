"""A command that has commands of its own."""

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """Says of an option in front of the commands which of them take it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options of the group itself."""
        option = args[0].partition("=")[0] if args else ""
        if not any(option in own.opts for own in self.get_params(ctx)):
            takers = [name for name, one in self.commands.items() if any(option in own.opts for own in one.params)]
            if takers:
                ctx.fail(f"{option} belongs behind a command of `{ctx.command_path}`: {', '.join(takers)}.")
        return super().parse_args(ctx, args)
