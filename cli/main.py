"""The application: assembles the commands and turns errors into one line."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from cschoice import __version__
from cschoice.errors import ConfigError, CschoiceError, InvalidParameter, InvalidTable
from cschoice.registry import LeftOutWarning

from .commands import Loaded, summaries
from .console import complain


class _Boundary(TyperGroup):
    """Shows a user's mistake as one line; any other error is a bug and shows its traceback."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = Loaded()

    def format_help(self, *place: Any) -> None:
        """Write the help, for which no command need be loaded."""
        self.commands = summaries()
        super().format_help(*place)
        self.commands = Loaded()

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        _stop_cleanly()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal may not know every character
        words = sys.argv[1:] if args is None else args
        try:
            _check_encoding(words)
            with warnings.catch_warnings():
                warnings.simplefilter("default", LeftOutWarning)
                warnings.showwarning = _warn
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, **extra
                )
        except (CschoiceError, typer.TyperException) as error:
            for problem in _problems(error, words):
                complain(problem)
            code = 2
        except typer.Abort:
            code = 130
        except MemoryError as error:
            complain(f"not enough memory ({' '.join(str(error).split())}): use smaller numbers")
            code = 2
        except OSError as error:  # files have errors of their own; without a name it is the output
            name = f"use {error.filename}" if error.filename else "write the answer"
            complain(f"cannot {name}: {error.strerror or error}")
            code = 2
        if code == 130:
            complain("interrupted: nothing half-written was kept, what was finished stays")
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _check_encoding(words: Sequence[str]) -> None:
    """Refuse names that are not UTF-8: no table, document or report could hold them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise InvalidParameter(f"'{word}' is not UTF-8: give another name") from error


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001 - the signature is Python's
    line: str | None = None,
) -> None:
    """Print a warning of something left out in one line, and any other as Python does."""
    if issubclass(category, LeftOutWarning):
        complain(str(message), "warning")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _problems(error: Exception, args: Sequence[str]) -> list[str]:
    """Return the problems, one line each; a study can have several at once."""
    if isinstance(error, ConfigError | InvalidTable):
        return list(error.problems)
    if isinstance(error, CschoiceError):
        return [" ".join(str(error).split())]
    # A word on the command line: say which one, and where the allowed ones stand.
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    for option in getattr(getattr(error, "param", None), "opts", []):
        if option in args[:-1]:
            message += f", got '{args[list(args).index(option) + 1]}'"
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "cschoice"
    return [f"{' '.join(message.split())}; see '{command} --help'"]


def _stop_cleanly() -> None:
    """Let the signals that end a process unwind like Ctrl-C: temporary files are removed."""

    def interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), interrupt)


app = typer.Typer(
    name="cschoice",
    cls=_Boundary,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Learn context-dependent choice functions: what is chosen depends on what else is "
    "on offer.\n\nStart with [bold]cschoice show datasets[/bold] and "
    "[bold]cschoice generate medoid[/bold], or with your own data: "
    "[bold]cschoice import --help[/bold].",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cschoice {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", help="Show the version.", callback=_show_version)
    ] = False,
) -> None:
    """Show the help when no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
