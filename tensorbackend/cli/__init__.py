"""The command line: `tensorbackend COMMAND`, or `python -m tensorbackend COMMAND`.

Each module here is a subcommand of its name. Its docstring is the help, `arguments` declares its arguments, and `run`
runs it and returns the exit status: 0 for success, 1 for a negative answer. The status of a mistake on the command line
is 2. A module whose name starts with an underscore is not a subcommand. Slow imports are inside `run`.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from ..errors import TensorBackendError


def command_line() -> ArgumentParser:
    """The parser of the command line, with all subcommands."""
    parser = ArgumentParser("tensorbackend", description="Array backends behind one tensor library.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_")):
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
    options = command_line().parse_args(arguments)
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
