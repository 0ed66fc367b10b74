"""SciPy's special functions where SciPy looks for them: values, gradients, and what of SciPy is built on them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy
import pytest
import scipy.special

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.numpy import special as ours

NAMES = [name for name, kind in vars(ours).items() if callable(kind) and hasattr(scipy.special, name)]
PAIRS = ("gammainc", "gammaincc", "kl_div", "rel_entr", "xlogy", "xlog1py")
POINTS = numpy.array([-3.5, -2.0, -1.0, -0.3, 0.0, 0.2, 0.5, 0.9, 1.0, 1.5, 3.0, 20.0, numpy.nan])


def operands(name: str, points: Any) -> list[Any]:
    count = 3 if name == "betainc" else 2 if name in PAIRS else 1
    return [grid.reshape(-1) for grid in numpy.meshgrid(*[points] * count, indexing="ij")]


def test_only_functions_of_scipy_are_found() -> None:
    assert len(NAMES) == 24
    assert "special" not in dir(tb)
    assert "special" not in dir(np)
    assert tb.special is ours
    assert np.special is ours


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_scipy(name: str) -> None:
    given = operands(name, POINTS[POINTS != 0] if name == "betainc" else POINTS)
    with numpy.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(*given)
    for convert in (tb.asarray, np.asarray):
        found = getattr(ours, name)(*map(convert, given))
        assert type(found) is type(convert(1.0))
        numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-11, atol=1e-300)
    assert getattr(ours, name)(*[np.asarray([1, 2])] * len(given)).dtype == "float64"


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_differences(name: str) -> None:
    given = operands(name, numpy.array([0.2, 0.55, 0.8]))
    last, step = given[-1], 1e-6

    def total(x: Any) -> Any:
        return getattr(ours, name)(*given[:-1], x).sum()

    slope = numpy.asarray(tb.jit(tb.grad(total))(tb.asarray(last)))
    scipy_function: Callable[..., Any] = getattr(scipy.special, name)
    difference = (scipy_function(*given[:-1], last + step) - scipy_function(*given[:-1], last - step)) / (2 * step)
    numpy.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("name", "shift"), [("xlogy", 0.0), ("xlog1py", 1.0)])
def test_the_slope_of_a_product_with_a_logarithm_at_0(name: str, shift: float) -> None:
    function = getattr(ours, name)
    y = numpy.array([0.5, 1.0, 2.0, 0.0, -1.0, numpy.inf])
    slopes = tb.grad(lambda x, y: tb.sum(function(x, y)), argnums=(0, 1))(
        tb.zeros(6, dtype="f64"), tb.asarray(y - shift)
    )
    numpy.testing.assert_allclose(slopes[0], [*numpy.log(y[:3]), 0.0, 0.0, 0.0], rtol=1e-14)
    assert slopes[1].tolist() == [0.0] * 6


PROGRAM = """
import json, warnings
warnings.simplefilter("ignore")
import numpy, tensorbackend as tb, tensorbackend.numpy as np
from scipy import special, stats
x = numpy.random.default_rng(0).uniform(0.5, 1.5, 12)
functions = {
    "erf": lambda x: special.erf(x), "betainc": lambda x: special.betainc(2.0, 3.0, x / 2),
    "stdtr": lambda x: special.stdtr(3.0 + 0 * x, x),
    "entropy": lambda x: stats.entropy(x),
    "pearsonr": lambda x: stats.pearsonr(x, x**2 + 0.8).statistic,
    "ttest_1samp": lambda x: stats.ttest_1samp(x, 0.3).statistic,
    "bartlett": lambda x: stats.bartlett(x, x**2).statistic,
}
found = {}
for name, function in functions.items():
    total = lambda x: (function(x) ** 2).sum() if hasattr(function(x), "sum") else function(x) ** 2
    along = numpy.random.default_rng(1).standard_normal(12)
    wanted = float((total(x + 1e-6 * along) - total(x - 1e-6 * along)) / 2e-6)
    try:
        slope = float((numpy.asarray(tb.grad(total)(np.asarray(x))) * along).sum())
        compiled = float(numpy.asarray(tb.jit(total)(np.asarray(x))))
    except tb.errors.TemplateDataError:
        continue
    found[name] = [slope, wanted, compiled, float(total(x))]
print(json.dumps(found))
"""


def test_functions_of_scipy_that_are_built_on_them_have_gradients() -> None:
    code = "import os; os.environ['SCIPY_ARRAY_API'] = '1'\n" + PROGRAM
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # From 1.18 on SciPy's statistics look whether any number is NaN, which a trace refuses.
    looks = tuple(map(int, version("scipy").split(".")[:2])) >= (1, 18)
    assert {"erf", "betainc", "stdtr"} <= {*found}
    assert len(found) == 7 or looks
    for name, (slope, wanted, compiled, value) in found.items():
        assert slope == pytest.approx(wanted, rel=1e-5, abs=1e-7), name
        assert compiled == pytest.approx(value, rel=1e-9), name
