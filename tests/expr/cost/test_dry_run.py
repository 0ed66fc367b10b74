"""Dry runs: what they count, when values are alive, and what the report and the command show."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend.cli import main
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.errors import ArgumentError, OperandError, ShapeError
from tensorbackend.expr.cost.estimate import Estimator
from tensorbackend.expr.cost.flops import rule_of
from tensorbackend.expr.cost.memory import Timeline, timeline
from tensorbackend.expr.cost.work import Work

from ...peak_memory import peak_memory


def work(function: Any, *templates: Any) -> Work:
    """Return the work of the last node of a function's graph."""
    graph = tb.trace(function)(*templates)
    node = graph.nodes[-1]
    return Estimator().work(node)


def memory(function: Any, *templates: Any, reuse: bool = False) -> Timeline:
    graph = tb.trace(function)(*templates)
    return timeline(graph, Estimator().works(graph), reuse=reuse)


# Counts


def test_every_callback_has_a_rule_or_parts() -> None:
    composites = {spec.callback for spec in OPS.values() if spec.kind == "composite"}
    graphs = {name for name, callback in CALLBACKS.items() if callback.family == "control"}  # their graphs have costs
    called = {"ctc_forward", "ctc_posteriors"}  # functions that are not ops call these
    missing = [name for name in CALLBACKS if rule_of(name) is None and name not in composites | graphs | called]
    assert not missing, f"declare the FLOPs of {missing} in tensorbackend/expr/cost/flops.py"


@pytest.mark.parametrize(
    ("function", "templates", "flops", "transcendentals"),
    [
        (tb.add, ("f32[3, 4]", "f32[4]"), 12, 0),
        (tb.exp, ("f32[3, 4]",), 0, 12),
        (tb.pow, ("s64[5]", "s64[5]"), 5, 0),
        (tb.pow, ("f32[5]", "f32[5]"), 0, 5),
        (lambda x: tb.astype(x, "f64"), ("f32[5]",), 5, 0),
        (lambda x: tb.reshape(x, (4, 3)), ("f32[3, 4]",), 0, 0),
        (lambda x: tb.take(x, tb.asarray([0, 2]), axis=0), ("f32[3, 4]",), 0, 0),
        (lambda x: tb.sum(x, axis=0), ("f32[3, 4]",), 8, 0),
        (tb.sum, ("f32[0, 4]",), 0, 0),
        (tb.argmax, ("f32[12]",), 11, 0),
        (lambda x: tb.sort(x, axis=1), ("f32[3, 9]",), 27 * 4, 0),
        (lambda x: tb.cumulative_sum(x, axis=1), ("f32[3, 9]",), 24, 0),
        (tb.matmul, ("f32[3, 4]", "f32[4, 5]"), 2 * 3 * 4 * 5, 0),
        (tb.matmul, ("f32[7, 3, 4]", "f32[7, 4, 5]"), 2 * 7 * 3 * 4 * 5, 0),
        (lambda x: tb.window_sum(x, (1, 3)), ("f32[3, 9]",), 3 * 7 * 2, 0),
        (tb.linalg.cholesky, ("f32[2, 30, 30]",), 2 * 9000, 0),
        (tb.linalg.qr, ("f32[20, 10]",), (12 * 2000 - 4 * 1000) // 3, 0),
        (tb.linalg.eigh, ("f32[10, 10]",), 9000, 0),
        (tb.fft.fft, ("c64[3, 8]",), 5 * 24 * 3, 0),
        (lambda x: tb.map(x, function=lambda element: tb.exp(element) * element + element), ("f32[3, 4]",), 24, 12),
        (lambda x: tb.reduce(x, 1.0, function=lambda a, b: a * b + b), ("f32[3, 4]",), 24, 0),
        (tb.softmax, ("f32[8]",), 7 + 8 + 7 + 8, 8),
    ],
)  # fmt: skip
def test_operations(function: Any, templates: tuple[str, ...], flops: int, transcendentals: int) -> None:
    cost = work(function, *templates)
    assert (cost.flops, cost.transcendentals) == (flops, transcendentals)


@pytest.mark.parametrize("padding", ["valid", "same", ((2, 1), (0, 3))])
@pytest.mark.parametrize(("strides", "dilation", "kernel_dilation"), [(1, 1, 1), (2, 3, 1), (3, 2, 2), (1, 2, 3)])
def test_a_convolution_counts_the_products_that_there_are(
    padding: Any, strides: int, dilation: int, kernel_dilation: int
) -> None:
    options: Any = {
        "strides": strides, "padding": padding, "input_dilation": dilation, "kernel_dilation": kernel_dilation,
    }  # fmt: skip
    cost = work(lambda x, k: tb.conv(x, k, **options), "f64[2, 3, 5, 7]", "f64[4, 3, 2, 3]")
    ones = tb.ones((2, 3, 5, 7), dtype="f64", backend="numpy")
    products = tb.conv(ones, tb.ones((4, 3, 2, 3), dtype="f64", backend="numpy"), **options)
    assert cost.flops == 2 * tb.sum(products).item()


def test_bytes_are_those_of_inputs_and_results() -> None:
    assert work(tb.add, "f32[3, 4]", "f32[4]")[2:4] == (64, 48)
    assert work(lambda x, i: tb.take(x, i, axis=0), "f32[1000, 4]", "s64[2]")[2:4] == (2 * 16 + 16, 32)
    assert work(lambda x: tb.permute_dims(x, (1, 0)), "f32[3, 4]")[2:4] == (0, 0)
    # The bytes of a composite are those of its parts, which are several nodes.
    assert work(tb.softmax, "f32[8]").read > 4 * 32


# Lifetimes of values


def test_values_are_freed_after_their_last_use() -> None:
    chain = memory(lambda x: tb.exp(tb.exp(tb.exp(x))), "f32[250]")
    assert list(chain.memory) == [1000, 2000, 3000, 3000]
    kept = memory(lambda x: tb.exp(tb.exp(y := tb.exp(x))) + y, "f32[250]")
    assert list(kept.memory) == [1000, 2000, 3000, 4000, 4000]


def test_elementwise_ops_may_write_over_what_ends_with_them() -> None:
    assert list(memory(lambda x: tb.exp(tb.exp(tb.exp(x))), "f32[250]", reuse=True).memory) == [1000, 2000, 2000, 2000]
    # An operand in another memory order, a smaller operand and a parameter cannot be written over.
    square = memory(lambda x: (y := tb.exp(x)) + y.T, "f32[10, 10]", reuse=True)
    assert square.memory[-1] == 1200
    assert memory(lambda x, y: tb.sum(x, axis=0) + y, "f32[5, 10]", "f32[5, 10]", reuse=True).memory[-1] == 640


def test_views_take_no_memory_and_hold_on_to_what_they_show() -> None:
    view = memory(lambda x: tb.reshape(tb.exp(x), (250, 1)).T, "f32[250]")
    assert list(view.memory) == [1000, 2000, 2000, 2000]
    assert view.results == 1000
    copied = memory(lambda x: tb.reshape(tb.exp(x).T, (250,)), "f32[10, 25]")
    assert list(copied.memory) == [1000, 2000, 2000, 3000]
    argument_view = memory(lambda x: tb.reshape(x, (250, 1)), "f32[250]")
    assert (argument_view.results, argument_view.shares) == (0, (0,))


@pytest.mark.parametrize(
    ("function", "shares"),
    [
        (lambda x: tb.reshape(x, (3, 2)), True),
        (lambda x: tb.reshape(x.T, (6,)), False),
        (lambda x: x.T, True),
        (lambda x: x[1:, ::2], True),
        (lambda x: tb.flip(x), True),
        (lambda x: tb.broadcast_to(x, (4, 2, 3)), True),
        (lambda x: tb.squeeze(x[:1], axis=0), True),
        (lambda x: tb.bitcast(x, "s32"), True),
        (lambda x: tb.astype(x, "f32"), True),
        (lambda x: tb.concatenate([x, x]), False),
        (lambda x: tb.split(x, 3, axis=1)[1], True),
        (lambda x: tb.pad(x, ((1, 1), (0, 0))), False),
    ],
)
def test_what_shares_memory_is_what_shares_it_on_numpy(function: Any, shares: bool) -> None:
    x = tb.reshape(tb.arange(6, dtype="f32", backend="numpy"), (2, 3))
    assert numpy.shares_memory(function(x).data, x.data) == shares
    assert (memory(function, x).shares[0] == 0) == shares


def test_parts_of_a_composite_need_memory_too() -> None:
    softmax = memory(tb.softmax, "f32[250]")
    # Next to the result, the workspace holds the differences, or the powers and their sum.
    assert softmax.works[-1].workspace == softmax.memory[-1] - 2000
    assert softmax.works[-1].workspace >= 1000


def test_parameters_captured_tensors_and_results_are_told_apart() -> None:
    held = tb.ones((50,), dtype="f32", backend="numpy")
    dry_run = tb.dry_run(lambda x, unused: (x + held, tb.sum(x)), "f32[50]", "f32[1000]")
    timeline = dry_run.eager.timeline
    assert (timeline.parameters, timeline.captured, timeline.results) == (4200, 200, 204)
    assert dry_run.peak.memory == 4200 + 200 + 204
    assert sum(dry_run.peak.by_kind().values()) == dry_run.peak.memory
    totals = [sum(sizes) for sizes in zip(*timeline.by_kind().values(), strict=True)]
    assert totals == list(timeline.memory)


def test_the_peak_says_where_it_is_and_what_is_there() -> None:
    def program(x: tb.Tensor) -> tb.Tensor:
        wide = tb.broadcast_to(x, (100, 250)) * 2.0
        return tb.sum(wide)

    peak = tb.dry_run(program, "f32[250]").peak
    assert peak.op == "multiply"
    assert peak.line is not None
    assert (Path(peak.line.file).name, peak.line.function) == ("test_dry_run.py", "program")
    assert [(block.kind, block.name, block.nbytes) for block in peak.alive] == [
        ("intermediate", "multiply", 100_000),
        ("parameter", "x", 1000),
        ("intermediate", "constant", 4),
    ]


def test_the_optimised_graph_is_rewritten() -> None:
    dry_run = tb.dry_run(lambda x: tb.exp(x) + tb.exp(x) * tb.sqrt(tb.asarray(2.0)), "f32[250]")
    assert dry_run.eager.transcendentals == 501
    assert dry_run.optimised.transcendentals == 250
    assert dry_run.optimised.peak.memory < dry_run.eager.peak.memory


def test_control_flow_counts_each_turn() -> None:
    def step(carry: tb.Tensor, x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        return tb.exp(carry) * x, carry

    loop = work(lambda x, xs: tb.scan(step, x, xs), "f32[10]", "f32[7, 10]")
    assert (loop.flops, loop.transcendentals, loop.open) == (70, 70, False)
    assert loop.workspace == 280  # the rows, until they are stacked at the end

    bounded = work(lambda x: tb.fori_loop(0, 7, lambda i, x: tb.exp(x), x), "f32[10]")
    assert (bounded.transcendentals, bounded.open) == (70, False)
    endless = work(lambda x: tb.while_loop(lambda x: tb.sum(x) > 0, lambda x: tb.exp(x), x), "f32[10]")
    assert (endless.transcendentals, endless.open) == (10, True)
    dry_run = tb.dry_run(lambda x: tb.while_loop(lambda x: tb.sum(x) > 0, lambda x: tb.exp(x), x), "f32[10]")
    assert "counted as one iteration" in repr(dry_run)

    chosen = work(lambda x: tb.cond(tb.sum(x) > 0, lambda x: tb.exp(tb.exp(x)), lambda x: x * 2.0, x), "f32[10]")
    assert (chosen.flops, chosen.transcendentals) == (0, 20)  # the counts of the costlier branch


# Nothing is allocated


def test_terabytes_take_no_memory() -> None:
    def program(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.mean(tb.softmax(tb.tanh(x @ w) + tb.ones((10**6, 10**6), dtype="f32"), axis=-1))

    def dry_run() -> Any:
        return tb.dry_run(program, "f32[row=1000000, k=1000000]", "f32[k=1000000, column=1000000]")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak_memory(dry_run) < 3_000_000
    report = dry_run()
    assert report.peak.memory > 10**13
    assert report.flops > 2 * 10**18
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


# Mistakes


def test_a_mistake_has_the_users_line() -> None:
    def wrong(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        y = tb.exp(x)
        return y @ w

    with pytest.raises(ShapeError) as error:
        tb.dry_run(wrong, "f32[batch=2, k=3]", "f32[k=4, n=5]")
    (note,) = error.value.__notes__
    assert "test_dry_run.py" in note
    assert note.endswith("return y @ w")
    assert "f32[batch: 2][k: 3]" in str(error.value)
    assert "f32[k: 4][n: 5]" in str(error.value)


def test_a_template_from_outside_is_a_mistake() -> None:
    w = tb.template((3,), "f32")
    with pytest.raises(OperandError, match="pass it as an argument"):
        tb.dry_run(lambda x: x + w, "f32[3]")


# The report


def report() -> Any:
    return tb.dry_run(lambda x, w: tb.softmax(tb.exp(x @ w)), "f32[batch=32, k=784]", "f32[k=784, n=10]")


def test_rows_in_order() -> None:
    rows = report().eager.rows
    assert [row.op for row in rows] == ["matmul", "exp", "softmax"]
    assert rows[0].flops == 2 * 32 * 784 * 10
    assert rows[0].results == (tb.Template((32, 10), "f32", ("batch", "n")),)
    assert max(row.memory for row in rows) == report().peak.memory


def test_the_text_has_totals_and_ops() -> None:
    text = repr(report())
    for part in ("eager", "optimised", "matmul", "softmax", "f32[batch: 32][n: 10]", "test_dry_run.py"):
        assert part in text
    lines = report().text("line").splitlines()
    assert len(lines) == 4
    assert report().text("node", 1).splitlines()[-1] == "and 2 more"


def test_json_holds_all(tmp_path: Path) -> None:
    dry_run = report()
    dry_run.write_json(tmp_path / "run.json")
    programs = json.loads((tmp_path / "run.json").read_text())["programs"]
    eager, optimised = programs
    assert (eager["program"], optimised["program"]) == ("eager", "optimised")
    assert eager["flops"] == dry_run.flops
    assert eager["memory"]["peak"] == dry_run.peak.memory
    assert [row["op"] for row in eager["rows"]] == ["matmul", "exp", "softmax"]


def test_fits() -> None:
    dry_run = tb.dry_run(lambda x: x, "f32[250000]")
    assert dry_run.fits("1MB")
    assert dry_run.fits(10**6)
    assert not dry_run.fits("999 kB")
    assert not dry_run.fits("0.9 MiB")
    assert dry_run.fits("1 MiB", optimised=True)
    for size in ("141", "GB", "141 XB", "-1GB"):
        with pytest.raises(ArgumentError, match="expected a size such as 141GB"):
            dry_run.fits(size)


def test_a_page_needs_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    report().chart(path, limit="200kB")
    page = path.read_text()
    assert page.count("<polygon") >= 2
    assert "200 kB" in page
    assert "f32[batch: 32][n: 10]" in page
    for outside in ("src=", "href=", "@import", "url("):
        assert outside not in page
    with pytest.raises(ArgumentError, match=r"\.html or \.png"):
        report().chart(tmp_path / "run.pdf")


def test_a_notebook_shows_the_chart() -> None:
    shown = report()._repr_html_()
    assert shown.startswith("<svg")
    assert "<lambda>" not in shown
    assert "&lt;lambda&gt;" in shown


def test_transformed_functions() -> None:
    def square(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.exp(x) * x)

    assert tb.dry_run(tb.jit(square), "f32[250]").eager.transcendentals == 250
    assert tb.dry_run(tb.vmap(square), "f32[4, 250]").eager.transcendentals == 1000
    gradients = tb.dry_run(square, "f32[250]", gradient=True)
    assert gradients.gradient
    assert gradients.eager.timeline.results == 1004
    assert [block.name for block in gradients.peak.alive if block.kind == "parameter"] == ["x"]
    second = tb.dry_run(tb.grad(lambda x: tb.sum(tb.grad(square)(x))), "f32[250]")
    assert second.flops > gradients.flops


def test_long_programs_are_drawn_in_steps() -> None:
    from tensorbackend.expr.cost.chart import STEPS, svg

    def program(x: tb.Tensor) -> tb.Tensor:
        for _ in range(2 * STEPS):
            x = tb.exp(x)
        return x

    dry_run = tb.dry_run(program, "f32[250]")
    assert STEPS / 2 <= svg(dry_run).count("<rect") / 2 <= STEPS


def test_without_matplotlib_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ArgumentError, match=r"pip install 'tensorbackend\[chart\]'"):
        report().chart(tmp_path / "run.png")


# The command

PROGRAM = """
import tensorbackend as tb

parameters = {"w": "f32[feature=784, class=10]", "b": "f32[class=10]"}

def loss(parameters, x, scale=1.0):
    logits = x @ parameters["w"] + parameters["b"]
    return tb.mean(tb.logsumexp(logits * scale, axis="class"))

def wrong(parameters, x):
    return parameters["w"] @ x

def broken(x):
    return x["no such key"]
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"program_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return name


X = "f32[batch=32, feature=784]"


def test_the_command_prints_totals_and_rows(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", f"{program}:loss", f"{program}:parameters", X]) == 0
    out = capsys.readouterr().out
    for part in ("eager", "optimised", "matmul", f"{program}.py:7", "alive at the peak", "parameters['w']"):
        assert part in out


def test_arguments_of_the_command(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    trees = '{"w": "f32[feature=784, class=10]", "b": "f32[class=10]"}'
    assert main(["dryrun", f"{program}.py:loss", trees, X, "2.5", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["programs"][0]["flops"] > 2 * 32 * 784 * 10
    assert (
        main(["dryrun", f"{program}:loss", f"{program}:parameters", X, "--optimised", "--by", "line", "--top", "2"])
        == 0
    )
    assert "--top" in capsys.readouterr().out


def test_the_exit_status_says_whether_it_fits(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["dryrun", f"{program}:loss", f"{program}:parameters", X, "--fits"]
    assert main([*command, "141GB"]) == 0
    assert "fits in 141GB" in capsys.readouterr().err
    assert main([*command, "100kB"]) == 1
    assert "does not fit in 100kB" in capsys.readouterr().err


def test_files_of_the_command(program: str, tmp_path: Path) -> None:
    files = ["--json", "run.json", "--chart", "run.html", "--fits", "1GB"]
    assert main(["dryrun", f"{program}:loss", f"{program}:parameters", X, *files]) == 0
    assert json.loads((tmp_path / "run.json").read_text())["function"] == "loss"
    assert "<svg" in (tmp_path / "run.html").read_text()


def test_a_users_mistake_shows_the_line_and_both_templates(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", f"{program}:wrong", f"{program}:parameters", X]) == 2
    error = capsys.readouterr().err
    assert f"{program}.py:11, in wrong" in error
    assert 'return parameters["w"] @ x' in error
    assert "f32[feature: 784][class: 10]" in error
    assert "f32[batch: 32][feature: 784]" in error
    assert "Traceback" not in error
    assert main(["dryrun", f"{program}:broken", "{}"]) == 2
    assert "KeyError: 'no such key'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["{program}", X],
        ["{program}:none", X],
        ["no_such_module:loss", X],
        ["no_such_file.py:loss", X],
        ["{program}:loss", "f32[batch"],
        ["{program}:loss", X, "--fits", "much"],
        ["{program}:loss", X, "--chart", "run.pdf"],
        ["{program}:loss", X, "--chart", "no_such_folder/run.html"],
        ["{program}:loss", X, "--json", "no_such_folder/run.json"],
        ["{program}:loss", X, "--top", "0"],
    ],
)
def test_mistakes_on_the_command_line(program: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dryrun", *(argument.format(program=program) for argument in arguments)]) == 2
    assert capsys.readouterr().err.startswith("tensorbackend dryrun: expected ")
