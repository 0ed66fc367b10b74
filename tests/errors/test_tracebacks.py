"""What Python, threads, IPython and pytest show of an error: only the user's frames."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.display import ends
from tensorbackend.errors import DTypeError
from tensorbackend.errors.tracebacks import advise, render_for_ipython, shorten_tracebacks, visible

x = tb.ones((2, 3), names=("a", "b"))


def product(x: tb.Tensor) -> tb.Tensor:
    return x @ x


def divide(x: tb.Tensor) -> Any:
    return 1 / 0


# Each call is on a line of its own. The traceback must end in its lambda, or in the functions of its list.
CALLS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "operator": (lambda: x + tb.ones((3, 3)), []),
    "op": (lambda: tb.sum(x, axis="c"), []),
    "method": (lambda: x.sum("c"), []),
    "an argument of a wrong kind": (lambda: tb.sum("text"), []),  # type: ignore[arg-type]
    "index": (lambda: x[7], []),
    "door": (lambda: tb.inspect(x, limit="many"), []),  # type: ignore[arg-type]
    "transform": (lambda: tb.jit("text"), []),  # type: ignore[call-overload]
    "jit": (lambda: tb.jit(product)(x), ["product"]),
    "vmap of grad": (lambda: tb.jit(tb.vmap(tb.grad(product)))(tb.ones((4, 2, 3))), ["product"]),
    "an error of the user's": (lambda: tb.jit(tb.grad(divide))(x), ["divide"]),
    "scan": (lambda: tb.scan(lambda carry, row: product(carry), x, x), ["<lambda>", "product"]),
    "map": (lambda: tb.map(x, function=lambda element: tb.reshape(element, (3,))), ["<lambda>"]),
}


def caught(call: Any) -> BaseException:
    with pytest.raises(Exception) as raised:  # noqa: PT011 # any error
        call()
    return raised.value


@pytest.mark.parametrize("name", CALLS)
def test_a_traceback_ends_at_the_users_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBACKEND_TRACEBACK")
    call, inner = CALLS[name]
    error = caught(call)
    with shorten_tracebacks(error):
        assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["caught", "<lambda>", *inner]
        assert "tensorbackend/" not in "".join(traceback.format_exception(error))


def shown(program: str, setting: str = "") -> str:
    """Run a program and return what it writes to standard error."""
    child = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "TENSORBACKEND_TRACEBACK": setting},
        check=False,
    )
    return child.stderr


THREAD = """
import sys, threading
import tensorbackend as tb
def work(): tb.ones((2, 3)) + tb.ones((3, 3))
def later(kind, error, trace): print("mine", kind.__name__, file=sys.stderr)
thread = threading.Thread(target=work); thread.start(); thread.join()
try:
    work()
except ValueError:
    sys.excepthook(*sys.exc_info())
print("then", file=sys.stderr)
sys.excepthook = later
work()
"""


def test_python_shows_the_users_line_in_each_thread() -> None:
    text = shown(THREAD)
    before, _, after = text.partition("then")
    assert before.count("in work\n") == before.count("ShapeError: add: expected") == 2
    assert "tensorbackend/" not in before
    assert after == "\nmine ShapeError\n", "a hook of the user's is called instead"


def test_the_environment_asks_for_every_frame() -> None:
    assert "tensorbackend/dispatch/path.py" in shown("import tensorbackend as tb; tb.sum(tb.ones(2), axis=3)", "full")


def test_the_error_keeps_its_frames_its_cause_and_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBACKEND_TRACEBACK")
    error = caught(lambda: tb.inspect(tb.ones(2), limit="many"))  # type: ignore[arg-type]
    before, cause = error.__traceback__, error.__cause__
    assert isinstance(cause, TypeError)
    frames = len(traceback.extract_tb(before))
    with shorten_tracebacks(error):
        assert error.__cause__ is cause
        assert len(traceback.extract_tb(error.__traceback__)) < frames
        assert not any("tensorbackend/" in line for line in traceback.format_exception(error))
    assert error.__traceback__ is before
    assert str(error).startswith("inspect: expected an int")


def test_a_defect_keeps_its_frames() -> None:
    error = caught(lambda: ends(3))  # type: ignore[arg-type]
    assert visible(error) is error.__traceback__
    assert visible(error, defect=False) is not error.__traceback__


def test_a_group_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBACKEND_TRACEBACK")
    error = caught(lambda: tb.ones((2, 3)) + tb.ones((3, 3)))
    with shorten_tracebacks(BaseExceptionGroup("several", [error])):
        assert "tensorbackend/" not in "".join(traceback.format_exception(error))


def test_ipython_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBACKEND_TRACEBACK")

    def structured(kind: type[BaseException], error: BaseException, trace: Any, tb_offset: int) -> list[str]:
        return traceback.format_exception(error)[:-tb_offset]

    module: Any = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(InteractiveTB=SimpleNamespace(structured_traceback=structured))
    monkeypatch.setitem(sys.modules, "IPython", module)
    lines = render_for_ipython(caught(lambda: tb.ones((2, 3)) + tb.ones((3, 3))))
    assert lines
    assert not any("tensorbackend/" in line for line in lines)


@pytest.mark.parametrize(("setting", "count"), [("", 0), ("full", 1)])
def test_pytest_shows_the_same(setting: str, count: int, tmp_path: Path) -> None:
    test = tmp_path / "test_one.py"
    test.write_text("import tensorbackend as tb\n\ndef test_one():\n    tb.ones((2, 3)) + tb.ones((3, 3))\n")
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(test)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        # Telling of a failure would import Hypothesis's plugin, which takes longer than the rest.
        env={**os.environ, "TENSORBACKEND_TRACEBACK": setting, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    assert "ShapeError: add: expected" in child.stdout
    assert min(child.stdout.count("tensorbackend/"), 1) == count


def test_frames_of_a_package_that_counts_as_ours_are_not_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorbackend.errors import tracebacks

    monkeypatch.setattr(tracebacks, "_ours", [*tracebacks._ours])
    for name in ("adapter", "adapters"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "functions.py").write_text("def twice(x):\n    return x + x\n")
    tracebacks.count_as_ours(str(tmp_path / "adapter" / "functions.py"))

    def line(folder: str) -> Any:
        file = tmp_path / folder / "functions.py"
        names: dict[str, Any] = {}
        exec(compile(file.read_text(), str(file), "exec"), names)
        return tb.trace(names["twice"])(tb.ones(2)).nodes[-1].line

    assert line("adapters").file.endswith("functions.py")
    assert Path(line("adapter").file) == Path(__file__)


def test_functions_that_share_code_have_a_name_each() -> None:
    derivatives: list[Any] = [transform(tb.sum) for transform in (tb.jacobian, tb.jacfwd, tb.hessian, tb.jacobian)]
    for name, differentiate in zip(("jacobian", "jacfwd", "hessian", "jacobian"), derivatives, strict=True):
        with pytest.raises(DTypeError, match=f"^{name}: "):
            differentiate(tb.ones(2, dtype="int32"))
    assert derivatives[0].__code__ is derivatives[3].__code__, "a name costs one copy of the code"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("tb.maximum.accumulate(x)", "write tb.cumulative_sum(x, axis=0), tb.cumulative_max(x, axis=0) and the like"),
        ("tb.subtract.outer(x, x)", "write tb.subtract(x[..., None], y) for a vector y"),
        ("tb.add.at(x, 0, 1)", "write tb.indexed_add(x, indices[:, None], updates)"),
        ("tb.add.reduce(x)", "write tb.sum(x, axis=0), tb.max(x, axis=0)"),
        ("x.time", "write x.isel(time=0) for an entry along the axis"),
        ("tb.add.no_such", None),
        ("x.no_such", None),
        ("len.accumulate", None),
    ],
)
def test_an_attribute_that_cannot_answer_is_answered_where_the_error_is_shown(line: str, answer: str | None) -> None:
    with pytest.raises(AttributeError) as raised:
        eval(line, {"tb": tb, "x": tb.ones(2, names=("time",))})
    advise(raised.value)
    advise(raised.value)
    notes = getattr(raised.value, "__notes__", [])
    assert len(notes) == (answer is not None)
    assert answer is None or notes[0].startswith(answer)


def test_python_shows_the_answer() -> None:
    code = "import tensorbackend as tb; tb.maximum.accumulate([1])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "has no attribute 'accumulate'" in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("write tb.cumulative_sum(x, axis=0), tb.cumulative_max(x, axis=0)")
