"""The command line: `tensorbackend COMMAND`, or `python -m tensorbackend COMMAND`.

Each module here is a subcommand of its name. Its docstring is the help, `arguments` declares its arguments, and `run`
runs it and returns the exit status: 0 for success, 1 for a negative answer. The status of a mistake on the command line
is 2. A module whose name starts with an underscore is not a subcommand. Slow imports are inside `run`.
"""

from __future__ import annotations

import os
import sys
from argparse import Action, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from ..errors import TensorBackendError, expected


def commands() -> list[str]:
    """The names of the subcommands."""
    return sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


class _ShowVersion(Action):
    """Prints the version of the package, as it was installed, and exits."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            installed = version("tensorbackend")
        except PackageNotFoundError:  # the package runs from its sources
            installed = "of a source tree"
        print(f"tensorbackend {installed}")
        parser.exit()


def command_line() -> ArgumentParser:
    """The parser of the command line, with all subcommands."""
    parser = ArgumentParser("tensorbackend", description="Array backends behind one tensor library.")
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in commands():
        command = import_module(f".{name}", __name__)
        description = command.__doc__ or ""
        subparser = subparsers.add_parser(
            name,
            help=description.partition("\n")[0].rstrip("."),
            description=description,
            formatter_class=RawDescriptionHelpFormatter,
        )
        command.arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a subcommand on the arguments of the command line, and returns its exit status.

    An error that tensorbackend raises on purpose is printed in one line on standard error; the status is then 1.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given and not given[0].startswith("-") and given[0] not in commands():
        print(f"tensorbackend: {expected('a command', _nearest(given[0]), command=given[0])}", file=sys.stderr)
        return 2
    options = command_line().parse_args(given)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except TensorBackendError as error:
        print(f"tensorbackend: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader, such as head, has closed the pipe. Without this, Python would complain about it again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _nearest(name: str) -> str:
    """What to write in place of a command that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, commands(), 1)
    return f"did you mean {near[0]}?" if near else f"choose one of {', '.join(commands())}"
