"""Shows an ONNX model: its inputs and outputs, parameters, operators, and what each node costs.

    tensorbackend onnx model.onnx
    tensorbackend onnx model.onnx 'x=f32[1, 3, 640, 640]' --top 10
    tensorbackend onnx model.onnx 'x=f32[1, 3, 640, 640]' --fits 24GB --json -

Costs need a template for each input, except for those whose sizes the file has; by name, or in the file's order. The
exit status is 0, but 1 if operators are missing, which are all named, or if the peak does not fit in the size of
--fits, and 2 for a mistake in the arguments.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..errors import ArgumentError, TensorBackendError, UnsupportedOp, expected
from ._common import mistake, onnx_plugin, print_table, write_json


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("model", metavar="FILE", help="an ONNX model")
    parser.add_argument("templates", nargs="*", metavar="INPUT", help="a template, such as x=f32[1, 3, 640, 640]")
    parser.add_argument("--fits", metavar="SIZE", help="whether the peak is at most SIZE, such as 24GB or 80GiB")
    parser.add_argument("--json", metavar="FILE", help="writes all of it for programs, - for standard output")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="maximum number of rows (default: 20)")


def run(options: Namespace) -> int:
    """Prints the tables, each under a line that says what it has, and whether the model fits."""
    from ..costs import parse_bytes, show_bytes

    try:
        limit = None if options.fits is None else parse_bytes(options.fits)
        if options.json not in (None, "-") and not Path(options.json).parent.is_dir():
            raise ArgumentError(expected("a JSON file in an existing folder", json=options.json))
        described = onnx_plugin("command").describe(options.model, options.templates, needs_costs=limit is not None)
    except UnsupportedOp as error:
        return mistake("onnx", error, 1)
    except (ArgumentError, OSError, TensorBackendError) as error:
        return mistake("onnx", error)
    if options.json is not None:
        write_json(options.json, described.to_json())
    if options.json != "-":
        for heading, columns, rows in described.tables(options.top):
            print(heading)
            if rows:
                print_table(columns, rows)
            print()
    if limit is None:
        return 0
    fits, peak = described.costs.fits(limit), described.costs.shown_program(False).peak.memory
    said = "fits in" if fits else "does not fit in"
    print(f"{options.model}: the peak of {show_bytes(peak)} {said} {options.fits}", file=sys.stderr)
    return 0 if fits else 1
