"""Shows an ONNX model: its inputs and outputs, parameters, operators, and what each node costs.

    tensorbackend onnx model.onnx
    tensorbackend onnx model.onnx 'x=f32[1, 3, 640, 640]' --top 10

Costs need a template for each input, except for those whose sizes the file has; by name, or in the file's order. The
exit status is 0, but 1 if operators are missing, which are all named, and 2 for a mistake in the arguments.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ..errors import ArgumentError, TensorBackendError, UnsupportedOp
from ._plugin import onnx_plugin
from ._table import print_table


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("model", metavar="FILE", help="an ONNX model")
    parser.add_argument("templates", nargs="*", metavar="INPUT", help="a template, such as x=f32[1, 3, 640, 640]")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="maximum number of rows (default: 20)")


def run(options: Namespace) -> int:
    """Prints the tables, each under a line that says what it has."""
    try:
        command = onnx_plugin("command")
        tables = command.described(options.model, options.templates, options.top)
    except UnsupportedOp as error:
        print(f"tensorbackend onnx: {error}", file=sys.stderr)
        return 1
    except (ArgumentError, OSError, TensorBackendError) as error:
        print(f"tensorbackend onnx: {error}", file=sys.stderr)
        return 2
    for heading, columns, rows in tables:
        print(heading)
        if rows:
            print_table(columns, rows)
        print()
    return 0
