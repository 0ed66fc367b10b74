"""Interrupts the first use of each late part of the package, and uses it again: run by `test_interrupted_imports.py`.

Each try is a forked child of a process that has imported no more than the package. An interrupt comes at a drawn line
of those that a first use runs in the package's files: at the top of modules, as `late` says, or anywhere.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import tensorbackend as tb

PACKAGE = os.path.dirname(tb.__file__)

USES = {
    "arrays": "import tensorbackend.numpy as np; np.linalg.inv(np.eye(2)); np.random.normal(); np.sort(np.arange(3.0))",
    "binary": "tb.sum(tb.ones(3, backend='binary')).item(); tb.linalg.qr(tb.eye(2, backend='binary'))",
    "costs": "tb.dry_run(lambda x: x @ x, tb.ones((3, 3))).flops",
    "fft": "tb.fft.fft(tb.ones(4))",
    "grad": "tb.grad(lambda x: tb.sum(tb.sin(x) * tb.sort(x)))(tb.ones(3))",
    "hessian": "tb.hessian(lambda x: tb.sum(x**3))(tb.ones(2))",
    "jit": "tb.jit(lambda x: tb.sum(tb.sin(x)))(tb.ones(3))",
    "jvp": "tb.jvp(tb.sin, (tb.ones(2),), (tb.ones(2),))",
    "linalg": "tb.linalg.cholesky(tb.eye(2)); tb.linalg.svd(tb.eye(2))",
    "nn": "tb.nn.dropout(tb.random.key(0), tb.ones(3), 0.5)",
    "ops": "from tensorbackend.declarations.op_specs import OPS; len(OPS)",
    "optimize": "tb.optimize.minimize(lambda x: tb.sum(x**2), tb.ones(2))",
    "quantized": "tb.quantize(tb.ones((4, 64)))",
    "ragged": "dir(tb.ragged); tb.ragged.Ragged",
    "random": "tb.random.gamma(tb.random.key(0), 2.0); tb.random.poisson(tb.random.key(0), 2.0)",
    "scan": "tb.scan(lambda c, x: (c + x, c), tb.zeros(()), tb.ones(3))",
    "solvers": "tb.solvers.solve(lambda x: 2 * x, tb.ones(2))",
    "sorting": "tb.sort(tb.ones(3)); tb.unique_values(tb.ones(3)); tb.median(tb.ones(3))",
    "sparse": "tb.sparse.from_dense(tb.eye(3))",
    "special": "tb.gamma_inc_l(1.0, 2.0); tb.zeta(2.0, 1.0); tb.betainc(1.0, 1.0, 0.5)",
    "testing": "import tensorbackend.testing",
    "vmap": "tb.vmap(lambda x: tb.sum(tb.sin(x)))(tb.ones((3, 2)))",
}
"""A first use of each part."""


def _use(program: str) -> None:
    exec(program, {"tb": tb})


def _traced(late: bool, place: int) -> list[int]:
    """Counts lines from now on, and interrupts at one of them."""
    count = [0]

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            count[0] += 1
            if count[0] == place:
                sys.settrace(None)
                raise KeyboardInterrupt
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and (not late or code.co_name == "<module>")
        return line if ours else None

    sys.settrace(call)
    return count


def lines(program: str, late: bool) -> int:
    """The number of lines that a first use runs."""
    count = _traced(late, -1)
    _use(program)
    sys.settrace(None)
    return count[0]


def interrupted(program: str, late: bool, place: int) -> str:
    """Uses a part twice, the first time interrupted."""
    try:
        _traced(late, place)
        _use(program)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    _use(program)
    return "works"


def in_child(run: Callable[[], object]) -> str:
    """What a function returns, or the error that it raises, in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = str(run())
        except BaseException:
            text = traceback.format_exc()[-800:]
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


def main(tries: int, seed: int) -> None:
    """Prints what fails, and how many tries there were."""
    draw, counts = random.Random(seed), dict[tuple[str, bool], int]()
    for number in range(tries):
        name, late = draw.choice(sorted(USES)), number % 2 == 0
        program = USES[name]
        if (name, late) not in counts:
            counts[name, late] = int(in_child(lambda program=program, late=late: lines(program, late)))  # type: ignore[misc]
        place = draw.randint(1, counts[name, late])
        text = in_child(lambda p=program, late=late, at=place: interrupted(p, late, at))  # type: ignore[misc]
        if text != "works":
            print(f"{name}, {'late' if late else 'any'} line {place}: {text}")
    print(f"{tries} tries")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
