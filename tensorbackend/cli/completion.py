"""Prints a script that lets a shell complete this command line.

    tensorbackend completion bash >> ~/.bash_completion
    tensorbackend completion zsh > ~/.zfunc/_tensorbackend
    tensorbackend completion fish > ~/.config/fish/completions/tensorbackend.fish
    tensorbackend completion tcsh > ~/.tensorbackend.tcsh   # and in ~/.tcshrc: source ~/.tensorbackend.tcsh

In zsh, put ~/.zfunc into fpath before compinit, or eval "$(tensorbackend completion zsh)" after it.

It completes subcommands, options, files, backends, dtypes and ops. Only bash completes the second value of --op and
--dtype: elsewhere repeat the option. The names are fixed when the script is printed: print it again after you install a
backend. The exit status is 0, or 2 if shtab, which writes the script, is not installed.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator

from ..declarations.op_specs import OPS
from ..dtypes import ALL_DTYPES
from ..errors.remedies import install_remedy
from ..select import backends
from . import command_line
from ._common import mistake

SHELLS = ("bash", "zsh", "fish", "tcsh")


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: Namespace) -> int:
    """Prints the script."""
    try:
        import shtab
    except ModuleNotFoundError:
        text = "expected shtab, which writes the script, to be installed"
        return mistake("completion", f"{text}; {install_remedy('cli')}")
    parser = command_line()
    for action in _actions(parser):
        if action.metavar == "FILE" or action.dest == "function":
            action.complete = shtab.FILE  # type: ignore[attr-defined] # which shtab reads
        elif action.dest in ("name", "names"):
            action.choices = backends()
        elif action.dest == "dtype":
            action.choices = [dtype.name for dtype in ALL_DTYPES]
        elif action.dest == "op":
            action.choices = sorted(OPS)
    print(shtab.complete(parser, options.shell))
    return 0


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """The arguments of a parser and of its subcommands."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for subparser in action.choices.values():
                yield from _actions(subparser)
        else:
            yield action
