"""Runs a function without data: shows its shape errors, FLOPs and memory, on one device or on each of a mesh.

    tensorbackend dryrun train:step 'f32[batch=32, feature=784]' 's64[batch=32]' --gradient --fits 141GB
    tensorbackend dryrun train:step ... --mesh data=4,model=2 --layout batch=data,hidden=model --machine h200
    tensorbackend dryrun train:step ... --mesh data=4,model=2 --search batch,hidden --fits 141GB
    tensorbackend dryrun model.onnx 'x=f32[batch=8, 3, 640, 640]' --gradient --fits 8GB
    tensorbackend dryrun model.py:loss model.py:weights 'x=f32[batch=?, 128]' --gradient --fits 24GB

FUNCTION is `module:name`, `file.py:name` or an ONNX model, whose arguments may be given by name and whose gradient is
that of the sum of its outputs by all of its parameters. An argument is
  - a template, such as f32[batch=32, 784];
  - JSON with templates as its strings, for containers: {"w": "f32[784, 10]", "b": "f32[10]"};
  - an object of a module, such as train:parameters: templates, tensors, containers of them, or a function without
    parameters that returns them;
  - a number, true, false or null, which is passed to the function unchanged,
and may have the name of a parameter, as in x=f32[32, 784]. A size of ? is open: the largest one whose peak fits in the
size of --fits is found, in all arguments that have it, and everything is shown for that. Where a program needs some
samples, it is found among multiples of the first power of 2 for which it runs.
With --mesh, everything is shown and judged for one device of the mesh; the devices need not exist. A rule such as
batch=data+model names several mesh axes. --search tries the names on all mesh axes, and --by xla shows XLA's own
figures next to ours.
The exit status is 0, but 1 if the peak does not fit in the size of --fits, and 2 for a mistake in the arguments or in
the program, which is shown with its line.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, TensorBackendError, expected
from ._common import PLACE, mistake, onnx_plugin, place, print_table, write_json
from ._progress import progress, steps

if TYPE_CHECKING:
    from ..costs.mesh.search import LayoutSearch
    from ..costs.program import By
    from ..costs.report import DryRun

ALIVE_SHOWN = 10
"""How many of the tensors alive at the peak are printed; the JSON has more."""


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    add = parser.add_argument
    add("function", metavar="FUNCTION", help="module:name, file.py:name or model.onnx")
    add("templates", nargs="*", metavar="ARGUMENT", help="a template, JSON, a place such as train:parameters")
    add("--gradient", action="store_true", help="the value and the gradient with respect to the first argument")
    add("--fits", metavar="SIZE", help="whether the peak is at most SIZE, such as 141GB or 80GiB, as exit status")
    add("--optimised", action="store_true", help="shows and checks the rewritten graph instead of eager order")
    add("--mesh", metavar="AXES", help="a mesh, such as data=4,model=2")
    add("--layout", metavar="RULES", help="mesh axes that divide named axes, such as batch=data,hidden=model")
    add("--search", metavar="NAMES", help="tries layouts of these named axes, such as batch,hidden, and ranks them")
    add("--machine", default="h100", help="the machine of predicted times: h100 (default) or h200")
    add(
        "--by",
        choices=("node", "op", "line", "xla"),
        help="a row a node, op or line (default: node up to 50, else op); xla: XLA's figures of each device",
    )
    add("--top", type=int, default=20, metavar="N", help="maximum number of rows (default: 20)")
    add("--json", metavar="FILE", help="writes all of it for programs, - for standard output")
    add("--chart", metavar="FILE", help="draws memory over time to FILE.html or FILE.png")


def run(options: Namespace) -> int:
    """Runs the function on templates, and prints totals, the peak and the table."""
    from ..costs import parse_bytes, show_bytes
    from ..costs.dry_run import dry_run, source_of, target, user_line
    from ..costs.largest import search
    from ..costs.mesh.search import search_layouts

    try:
        limit = None if options.fits is None else parse_bytes(options.fits)
        _check_files(options)
        placing = _mesh_options(options)
        target(**placing)
        is_open = any("?" in text for text in options.templates)
        if is_open and (limit is None or options.search is not None):
            raise ArgumentError(expected("--fits, and no --search, together with a size of ?", "such as --fits 24GB"))
        function, inputs, keywords = _program(options, 1)
    except TensorBackendError as error:
        return mistake("dryrun", error)

    def report_of(size: int) -> DryRun:
        function, inputs, keywords = _program(options, size)
        return dry_run(function, *inputs, gradient=options.gradient, **placing, **keywords)

    try:
        if options.search is not None:
            names = options.search.split(",")
            place = {name: placing[name] for name in ("mesh", "machine")}
            count = (len(placing["mesh"].names) + 1) ** len(names)
            with progress(count) as advance:
                tried = search_layouts(
                    function,
                    *inputs,
                    gradient=options.gradient,
                    names=names,
                    fits=limit,
                    each_tried=lambda one: advance(one.rules(), f"peak {show_bytes(one.peak)}"),
                    **place,
                    **keywords,
                )
            return _show_search(tried, options)
        if is_open and limit is not None:
            size, unit = search(lambda size: report_of(size).fits(limit, optimised=options.optimised), steps())
            report = report_of(max(size, unit))
            among = f" among multiples of {unit}, the first power of 2 that runs," if unit > 1 else ""
            found = f"the largest size{among} that fits in {options.fits} is {size}" if size else "no size fits"
            print(found, file=sys.stderr if options.json == "-" else sys.stdout)
        else:
            report = report_of(1)
    except Exception as error:  # whatever the user's program raises
        line = user_line(error.__traceback__)
        where = "" if line is None else f"{line.file}:{line.number}, in {line.function}\n    {source_of(line)}\n"
        kind = "" if isinstance(error, TensorBackendError) else f"{type(error).__name__}: "
        return mistake("dryrun", f"{where}{kind}{error}")
    if options.json is not None:
        _write(report, options.json)
    if options.chart is not None:
        try:
            report.chart(options.chart, limit=limit)
        except TensorBackendError as error:
            return mistake("dryrun", error)
    if options.json != "-":
        try:
            _print(report, options)
        except TensorBackendError as error:  # no JAX for --by xla
            return mistake("dryrun", error)
    if limit is None:
        return 0
    program = report.shown_program(options.optimised)
    fits, peak = report.fits(limit, optimised=options.optimised), program.peak.memory
    said = "fits in" if fits else "does not fit in"
    print(f"{program.name}: the peak of {show_bytes(peak)} {said} {options.fits}", file=sys.stderr)
    return 0 if fits else 1


def _program(options: Namespace, size: int) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function and its arguments by position and by name, with a size in place of each open one."""
    texts = [text.replace("?", str(size)) for text in options.templates]
    if options.function.endswith(".onnx"):
        return *onnx_plugin("command").program(options.function, texts, gradient=options.gradient), {}
    inputs: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and name.isidentifier():
            keywords[name] = _argument(value)
        else:
            inputs.append(_argument(text))
    return place(options.function), inputs, keywords


def _mesh_options(options: Namespace) -> dict[str, Any]:
    """The mesh, the layout and the machine, as `dry_run` takes them."""
    from ..mesh import Mesh

    for name in ("layout", "search"):
        if getattr(options, name) is not None and options.mesh is None:
            raise ArgumentError(expected(f"--mesh together with --{name}", "such as --mesh data=4,model=2"))
    if options.by == "xla" and options.mesh is None:
        raise ArgumentError(expected("--mesh together with --by xla", "such as --mesh data=4,model=2"))
    if options.search is not None and (options.layout, options.by, options.chart) != (None, None, None):
        raise ArgumentError(expected("--search without --layout, --by and --chart", search=options.search))
    mesh = layout = None
    if options.mesh is not None:
        sizes = _pairs("mesh", options.mesh, "data=4,model=2")
        if not all(size.isdecimal() for size in sizes.values()):
            raise ArgumentError(expected("sizes by name, such as --mesh data=4,model=2", mesh=options.mesh))
        mesh = Mesh({name: int(size) for name, size in sizes.items()})
    if options.layout is not None:
        rules = _pairs("layout", options.layout, "batch=data,hidden=model")
        layout = {name: axes.split("+") if "+" in axes else axes for name, axes in rules.items()}
    return {"mesh": mesh, "layout": layout, "machine": options.machine}


def _pairs(option: str, text: str, example: str) -> dict[str, str]:
    """Pairs such as data=4,model=2, each name once."""
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value) or name in pairs:
            raise ArgumentError(expected(f"pairs of different names, such as --{option} {example}", **{option: text}))
        pairs[name] = value
    return pairs


def _show_search(tried: LayoutSearch, options: Namespace) -> int:
    """Prints or writes the ranking; the status says whether any layout fits."""
    from ..costs import show_bytes
    from ..costs.mesh.search import RANKED

    if options.json is not None:
        write_json(options.json, tried.to_json())
    if options.json != "-":
        rows = tried.table()
        print_table(RANKED, rows, options.top, f": --top {len(rows)} shows all")
    if options.fits is None or tried.fits:
        return 0
    print(f"no layout fits in {options.fits}: the smallest peak is {show_bytes(tried.best.peak)}", file=sys.stderr)
    return 1


def _check_files(options: Namespace) -> None:
    """Raises `ArgumentError` before the work for options that would otherwise fail after it."""
    if options.top < 1:
        raise ArgumentError(expected("--top of at least 1", top=options.top))
    chart = options.chart
    if chart is not None and (Path(chart).suffix not in (".html", ".png") or not Path(chart).parent.is_dir()):
        raise ArgumentError(expected("a chart named .html or .png in an existing folder", chart=chart))
    if options.json not in (None, "-") and not Path(options.json).parent.is_dir():
        raise ArgumentError(expected("a JSON file in an existing folder", json=options.json))


def _argument(text: str) -> Any:
    """An argument of the function; templates remain text, which `trace` parses."""
    if PLACE.fullmatch(text):
        argument = place(text)
        return argument() if callable(argument) else argument
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        from ..rules.template_text import parse_template

        return parse_template(text)


def _write(report: DryRun, path: str) -> None:
    if path == "-":
        write_json(path, report.to_json())
    else:
        report.write_json(path)
        print(f"wrote {path}")


def _print(report: DryRun, options: Namespace) -> None:
    from ..costs import show_bytes
    from ..costs.mesh.divided import COLLECTIVES, LAYOUTS
    from ..costs.program import ALIVE, COLUMNS

    program = report.shown_program(options.optimised)
    print(report.summary(), end="\n\n")
    if report.on_mesh is not None:
        if options.by == "xla":
            compiled = report.on_mesh.xla()
            print(report.on_mesh.compare(compiled))
            return
        for columns, cells in ((COLLECTIVES, report.on_mesh.table()), (LAYOUTS, report.on_mesh.layouts())):
            print_table(columns, cells, options.top)
            print()
    by: By = options.by or ("node" if program.ops <= 50 else "op")
    rows = program.table(by)
    print_table(COLUMNS, rows, options.top, f": --top {len(rows)} shows all, --by node|op|line other rows")
    peak = program.peak
    print(f"\nalive at the peak of {show_bytes(peak.memory)}, {peak.op} {peak.line or ''}")
    print_table(ALIVE, peak.table(), ALIVE_SHOWN)
    if options.chart is not None:
        print(f"wrote {options.chart}")
