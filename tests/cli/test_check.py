"""`tensorbackend check`: exit statuses, what is printed, and the reports."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.cli import main
from tensorbackend.dtypes import bool_
from tensorbackend.protocol import Payload
from tensorbackend.protocol.callbacks import limited_to
from tensorbackend.testing import FLUSHED, Divergence, Invocation, about_subnormals, check_pair, check_pairs
from tensorbackend.testing.report import Report
from tensorbackend.testing.subnormals import flush_subnormals

HOSTILE = "</pre><script>alert(1)</script> & \"quoted\" 'too' $title"


class CheckedBackend(BinaryBackend):
    """A backend with a wrong op, one that raises, one that diverges, one of few dtypes, and one that is missing."""

    name = "checked_by_command"
    dispatch_priority = 1

    def exp(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return BinaryBackend.add(self, out, x, x)

    def floor(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        raise ValueError(HOSTILE)

    def multiply(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
        data = BinaryBackend.multiply(self, out, flush_subnormals(x1), flush_subnormals(x2))
        return flush_subnormals(tb.from_binary(data, out, "binary")).data

    @limited_to("float32")
    def sqrt(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return BinaryBackend.sqrt(self, out, x)

    sin = tb.Backend.sin

    def divergences(self) -> list[Divergence]:
        call = Invocation("multiply", tuple(tb.tensor([x], backend="binary") for x in (1e-40, 1e20)), {})
        return [Divergence(f"subnormals are zeros {HOSTILE}", call, FLUSHED, when=about_subnormals)]


tb.register_backend(CheckedBackend)
NAME = CheckedBackend.name
OPS = ["exp", "floor", "multiply", "sqrt", "sin", "bitwise_and", "transport", "linalg.qr"]
WANTED = {
    "exp": "fail",
    "floor": "fail",
    "multiply": "divergence",
    "sqrt": "unsupported",
    "sin": "unsupported",
    "bitwise_and": "refused",
    "transport": "pass",
    "linalg.qr": "pass",
}


@pytest.fixture(scope="module")
def report() -> Report:
    pairs = list(
        check_pairs(CheckedBackend(), [op_name.removeprefix("linalg.") for op_name in OPS], [tb.float64], examples=20)
    )
    return Report.of(CheckedBackend(), pairs, examples=20, seed=0, seconds=1.5)


def test_every_status(report: Report) -> None:
    assert {pair.op: pair.status for pair in report.pairs} == WANTED
    assert report.totals == {"pass": 2, "divergence": 1, "unsupported": 2, "refused": 1, "fail": 2}
    assert report.summary.startswith(f"{NAME}: 8 ops, 8 pairs of op and dtype, ")


def test_what_is_told_of_a_pair(report: Report) -> None:
    pairs = {pair.op: pair for pair in report.pairs}
    assert (pairs["exp"].kind, pairs["floor"].kind) == ("value", "exception")
    assert "ulps away where 4 are allowed" in pairs["exp"].detail
    line = CheckedBackend.floor.__code__.co_firstlineno + 1
    assert pairs["floor"].detail == f"raises ValueError: {HOSTILE}, in floor at test_check.py:{line}"
    assert "tb.exp(tb.tensor(" in pairs["exp"].script
    assert pairs["multiply"].reasons == (f"subnormals are zeros {HOSTILE}",)
    assert "expected a dtype that sqrt of the backend" in pairs["sqrt"].reasons[0]
    assert "expected a backend that has sin" in pairs["sin"].reasons[0]
    assert {pairs["exp"].family, pairs["linalg.qr"].family, pairs["transport"].family} == {
        "elementwise",
        "linalg",
        "core",
    }
    assert all(pair.examples > 0 for pair in report.pairs)
    assert (pairs["transport"].judged, pairs["sin"].judged) == (20, 0)
    assert pairs["floor"].judged == 1


def test_the_script_shows_the_failure(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    (failed,) = [pair for pair in report.pairs if pair.op == "exp"]
    exec(failed.script, {})
    assert f"f64 {NAME} " in capsys.readouterr().out


def test_the_script_of_a_class_in_a_file_runs_in_a_new_process(tmp_path: Path) -> None:
    lines = (
        "from tensorbackend.backends.binary import BinaryBackend",
        "class Boxed(BinaryBackend):",
        "    name = 'boxed'",
        "    dispatch_priority = 1",
        "    def exp(self, out, x, /):",
        "        return self.sin(out, x)",
    )
    (tmp_path / "boxed.py").write_text("\n".join(lines))
    shown = subprocess.run(
        [sys.executable, "-m", "tensorbackend", "check", "boxed.py:Boxed", "--op", "exp", "--dtype", "f64"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown.returncode == 1, shown.stderr
    program = shown.stdout[shown.stdout.index("import tensorbackend as tb") :]
    program = program[: program.index("\n", program.index("print("))]
    again = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert "boxed" in again.stdout


def test_methods_that_nothing_calls_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    @tb.register_backend
    class Misnamed(BinaryBackend):
        name = "misnamed"
        dispatch_priority = 1

        def maximum(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload: ...

    told = "Misnamed defines maximum, which nothing calls: define max"
    assert main(["check", "misnamed", "--op", "add", "--dtype", "f32", "--examples", "1"]) == 1
    assert told in capsys.readouterr().out
    assert main(["info", "misnamed"]) == 0
    assert f"misnamed: {told}" in capsys.readouterr().out


def test_the_same_seed_draws_the_same_calls() -> None:
    def script(start: int) -> Any:
        return check_pair(CheckedBackend(), "exp", tb.float32, examples=5, start=start).script

    assert script(1) == script(1)


def test_a_callback_that_fails_at_times() -> None:
    class Moody(BinaryBackend):
        name = "moody"
        dispatch_priority = 1
        calls = 0

        def exp(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
            Moody.calls += 1
            if Moody.calls % 7 == 6:
                raise KeyError("a mood")
            return BinaryBackend.exp(self, out, x)

    pair = check_pair(Moody(), "exp", tb.float32, examples=40)
    assert (pair.status, pair.kind) == ("fail", "exception")
    assert re.fullmatch(r"raises KeyError: 'a mood', in exp at test_check.py:\d+, but not each time", pair.detail)
    assert "tb.exp(" in pair.script


def test_a_dtype_of_another_operand_is_not_held_against_a_pair() -> None:
    class FewDtypes(BinaryBackend):
        name = "few_dtypes"
        dispatch_priority = 1
        dtypes = frozenset({bool_, tb.float32, tb.int64})

    assert check_pair(FewDtypes(), "add", tb.float32, examples=40).status == "pass"
    assert check_pair(FewDtypes(), "add", tb.float64, examples=20).status == "unsupported"
    assert check_pair(FewDtypes(), "transport", tb.float64, examples=20).status == "unsupported"


class Texts(HTMLParser):
    """A parser that collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    parsed = Texts()
    parsed.feed(page)
    assert [tag for tag, _ in parsed.tags].count("script") == 1, "nothing hostile became a tag"
    assert HOSTILE in parsed.text
    assert "<script>alert" not in page
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe"), "the page needs no other file"
        assert not attributes.get("src")
        assert (attributes.get("href") or "#").startswith("#")
    anchors = {attributes["href"] for tag, attributes in parsed.tags if tag == "a"}
    places = {f"#{attributes['id']}" for _, attributes in parsed.tags if "id" in attributes}
    assert anchors <= places
    assert {"fail 1", "fail 2", "divergence 1", "unsupported", "refused", "pass"} <= set(
        re.findall(r">([a-z]+(?: \d)?)<", page)
    )
    assert "$" not in re.sub(re.escape("$title"), "", page), "every place of the page is filled"


def test_the_report_for_programs(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["totals"] == report.totals
    assert (document["backend"], document["device"], document["examples"], document["seed"]) == (NAME, "cpu", 20, 0)
    assert document["pairs"][0] == {**report.pairs[0]._asdict(), "reasons": []}
    assert "python" in document["versions"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    arguments = ["--dtype", "f32", "s8", "--examples", "8", "--report", str(path)]
    assert main(["check", NAME, "--op", "add", "--op", "linalg.qr", "qr", *arguments]) == 0
    out = capsys.readouterr().out
    assert f"{NAME}: 2 ops, 4 pairs of op and dtype" in out
    assert "elementwise" in out
    assert [(pair["op"], pair["dtype"]) for pair in json.loads(path.read_text())["pairs"]] == [
        ("add", "float32"), ("add", "int8"), ("linalg.qr", "float32"), ("linalg.qr", "int8"),
    ]  # fmt: skip
    assert main(["check", NAME, "--op", "exp", *arguments]) == 1
    out = capsys.readouterr().out
    assert "exp of float32: value: expected" in out
    assert "import tensorbackend as tb" in out


class CountsBytes(BinaryBackend):
    """A backend whose `to_binary` takes the limit for a number of bytes."""

    name = "counts_bytes_of_check"
    dispatch_priority = 1

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        return super().to_binary(x, x.size)[:limit]


tb.register_backend(CountsBytes)


def test_failures_by_one_error_are_one_and_end_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tensorbackend.cli.check.ALIKE", 4)
    arguments = ["check", CountsBytes.name, "--dtype", "f32", "f64", "s32", "--examples", "3"]
    ops = ["--op", "transport", "add", "negative", "sign"]
    assert main([*arguments, *ops]) == 1
    out = capsys.readouterr().out
    assert "transport of float32: exception: ContractError: to_binary: expected 4 bytes" in out
    assert "its limit counts elements" in out
    assert "stopped after 4 of 12 pairs" in out
    assert "stopped, as 4 failures are the same error" in out
    assert main([*arguments, *ops, "--keep-going"]) == 1
    out = capsys.readouterr().out
    assert (
        "the same error in 12 pairs of op and dtype, such as transport of float64, add of float32, negative of" in out
    )
    assert out.count("ContractError") == 1
    assert "stopped" not in out


def test_failures_by_different_errors_do_not_end_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tensorbackend.cli.check.ALIKE", 2)
    assert main(["check", NAME, "--op", "floor", "add", "exp", "--dtype", "f32", "f64", "--examples", "5"]) == 1
    out = capsys.readouterr().out
    assert "stopped after 2 of 6 pairs" in out  # floor raises the same twice
    assert main(["check", NAME, "--op", "exp", "floor", "add", "--dtype", "f64", "--examples", "5"]) == 1
    assert "stopped" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere"], "expected the name of a backend, got name='nowhere'"),
        (["numpy", "--op", "sine"], "expected the public name of an op, got op='sine'; did you mean sin"),
        (["numpy", "--dtype", "f33"], "expected a dtype, got dtype='f33'"),
        (["numpy", "--examples", "0"], "expected --examples of at least 1, got examples=0"),
        (["numpy", "--jobs", "0"], "expected --jobs of at least 1, got jobs=0"),
        (["numpy", "--report", "report.pdf"], "expected a report named .html or .json in an existing folder"),
        (["numpy", "--report", "nowhere/report.html"], "expected a report named .html or .json in an existing folder"),
        (["numpy", "--device", "cuda"], "expected a device of the backend 'numpy', got device='cuda'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_on_the_command_line(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tensorbackend check: ")
    assert text in captured.err


def test_several_processes_find_the_same() -> None:
    backend = tb.get_backend("numpy")
    names, dtypes = ["add", "sort"], [tb.int8, tb.bfloat16]
    one = list(check_pairs(backend, names, dtypes, examples=5))
    two = list(check_pairs(backend, names, dtypes, examples=5, jobs=2))
    assert sorted(pair._replace(seconds=0) for pair in one) == sorted(pair._replace(seconds=0) for pair in two)


@pytest.mark.parametrize(("missing", "status", "text"), [
    ("hypothesis", 2, "pip install '.[test]'"),
    ("rich", 0, "pip install '.[cli]'"),
])  # fmt: skip
def test_an_extra_that_is_missing(missing: str, status: int, text: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from tensorbackend.cli import main\n"
        "sys.exit(main(['check', 'numpy', '--op', 'add', '--dtype', 'f32', '--examples', '2']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert text in done.stderr


def test_a_run_that_nobody_watches_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tensorbackend.cli._progress.PAUSE", 0.0)
    assert main(["check", NAME, "--op", "exp", "sin", "--dtype", "float32", "--examples", "3"]) == 1
    assert "2 of 2, 1 failed, about 0 s left, now sin of float32" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sent", "status", "jobs"), [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 1), (signal.SIGTERM, 143, 2)], ids=str
)
def test_a_run_that_is_stopped_tells_what_it_has(sent: signal.Signals, status: int, jobs: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = (
        "import sys\nfrom tensorbackend.cli import _progress, main\n"
        "if __name__ == '__main__':\n    _progress.PAUSE = 0\n"
        f"    sys.exit(main(['check', 'numpy', '--examples', '1', '--jobs', '{jobs}', '--report', {str(report)!r}]))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert "left, now" in running.stderr.readline()
        running.send_signal(sent)
        printed, _ = running.communicate(timeout=60)
    assert running.returncode == status
    assert "numpy: stopped after" in printed
    document = json.loads(report.read_text())
    assert 0 < len(document["pairs"]) < document["asked"]


def test_a_stop_that_something_swallowed_is_raised_at_the_next_call() -> None:
    calls = 0

    def proceed() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(check_pairs(tb.get_backend("numpy"), ["add"], [tb.int8], examples=5, proceed=proceed))
    assert calls == 3


def test_a_quick_run_takes_one_dtype_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy", "--quick", "--op", "add"]) == 0
    assert "1 ops, 5 pairs of op and dtype, 5" in capsys.readouterr().out
    assert main(["check", "numpy", "--quick", "--op", "reshape", "transport"]) == 0  # and narrow ones
    assert "2 ops, 14 pairs of op and dtype, 14" in capsys.readouterr().out


def test_ops_that_compute_meet_narrow_dtypes_only_where_nothing_else_is_asked() -> None:
    def pairs(*dtypes: tb.dtypes.DType) -> list[tuple[str, str, str]]:
        found = check_pairs(tb.get_backend("numpy"), ["add", "reshape"], dtypes, examples=3)
        return [(pair.op, pair.dtype, pair.status) for pair in found]

    assert pairs(tb.float32, tb.dtypes.int4) == [
        ("add", "float32", "pass"),
        ("reshape", "float32", "pass"),
        ("reshape", "int4", "pass"),
    ]
    assert pairs(tb.dtypes.int4) == [("add", "int4", "refused"), ("reshape", "int4", "pass")]


def test_a_mistake_with_a_narrow_dtype_is_found() -> None:
    class Turned(type(tb.get_backend("numpy"))):  # type: ignore[misc] # a class that is found at run time
        name = "turned"

        def reshape(self, out: tb.Template, x: tb.Tensor, /) -> Any:
            return x.data.reshape(-1)[::-1].reshape(out.shape)

    (pair,) = check_pairs(Turned(), ["reshape"], [tb.dtypes.float8_e4m3fn], examples=20)
    assert (pair.status, pair.kind) == ("fail", "value")


def test_programs_in_place_of_ops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "programs.json"
    assert main(["check", "numpy", "--programs", "12", "--dtype", "f32", "--report", str(path)]) == 0
    assert "numpy: 6 kinds of programs, 6 pairs of kind and dtype, " in capsys.readouterr().out
    document = json.loads(path.read_text())
    assert {pair["family"] for pair in document["pairs"]} == {"programs"}
    assert {pair["status"] for pair in document["pairs"]} == {"pass"}


def test_programs_of_one_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy", "--programs", "3", "--op", "chains", "--dtype", "f32"]) == 0
    assert "numpy: 1 kinds of programs, 1 pairs of kind and dtype, 3 programs" in capsys.readouterr().out


def test_a_wrong_program_is_printed_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Doubles(BinaryBackend):
        name = "doubles_in_programs"
        dispatch_priority = 1

        def put_slice(self, out: Any, x: Any, update: Any, /, *, starts: Any) -> Payload:
            return BinaryBackend.add(self, out, x, x)

    tb.register_backend(Doubles)
    path = tmp_path / "programs.html"
    arguments = ["check", Doubles.name, "--programs", "60", "--dtype", "i32", "--report", str(path)]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "wrong first in put_slice, in `v" in printed
    assert "def program(" in printed
    assert "def program(" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "options", [["--programs", "0"], ["--programs", "9", "--op", "add"], ["--programs", "9", "--dtype", "bool"]]
)
def test_mistakes_with_programs(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "numpy", *options]) == 2
    assert "--programs" in capsys.readouterr().err


def test_a_class_in_a_file_is_checked_before_it_has_a_distribution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import tensorbackend as tb\n\nclass Mine(tb.NumpyBackend):\n    name = 'mine_in_a_file'\n\nNUMBER = 1\n"
    (tmp_path / "engine_in_a_file.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for place in ("engine_in_a_file:Mine", "engine_in_a_file.py:Mine"):
        assert main(["check", place, "--op", "add", "--dtype", "f32", "--examples", "2"]) == 0
        assert "mine_in_a_file: 1 ops" in capsys.readouterr().out
    assert (
        main(["check", "engine_in_a_file:Mine", "--op", "add", "--dtype", "f32", "--examples", "2", "--jobs", "2"]) == 0
    )
    for place, said in {"NUMBER": "expected a class that derives from tb.Backend", "Nobody": "to exist"}.items():
        assert main(["check", f"engine_in_a_file:{place}"]) == 2
        assert said in capsys.readouterr().err
