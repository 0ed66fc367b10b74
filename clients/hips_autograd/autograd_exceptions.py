"""A pytest plugin that lists which of autograd's own tests are not expected to pass on tensorbackend, and why.

The modules of the first table are not collected. The tests of the second must fail: one that passes is an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

INTERNALS = "tests autograd's own tracer, vector spaces and ways to declare primitives"

MODULES = {
    "_test_complexity.py": "measures autograd's tracer",
    "profiling.py": "measures autograd's tracer",
    "test_core.py": INTERNALS,
    "test_logic.py": INTERNALS,
    "test_misc.py": INTERNALS,
    "test_performance.py": "measures autograd's tracer",
    "test_scipy.py": "differentiates SciPy's statistics, integration and Bessel functions, which are not ours",
    "test_tests.py": INTERNALS,
    "test_ufunc_dispatch.py": INTERNALS,
    "test_vspaces.py": INTERNALS,
}

COMPLEX_ORDER = "complex numbers have no order, as the Array API standard has it; the cast is the user's"
HELPERS = "`numpy.r_` and `numpy.c_` read what is traced into an array"
NOT_OURS = "tensorbackend has no function of that name; NumPy's own reads data"
PLAIN = "without tensors NumPy's own function runs, which has no `where` of Python objects"

TESTS = {
    "test_systematic.py::test_max": COMPLEX_ORDER,
    "test_systematic.py::test_min": COMPLEX_ORDER,
    "test_systematic.py::test_var": "`var` of complex numbers is refused, as the standard has it",
    "test_systematic.py::test_std": "`std` of complex numbers is refused, as the standard has it",
    "test_systematic.py::test_gradient": NOT_OURS,
    "test_systematic.py::test_partition": NOT_OURS,
    "test_wrappers.py::test_deprecated_defgrad_wrapper": INTERNALS,
    "test_wrappers.py::test_deprecated_defvjp_wrapper": INTERNALS,
    "test_wrappers.py::test_deprecated_defvjp_is_zero_wrapper": INTERNALS,
    "test_wrappers.py::test_deprecated_quick_grad_check_wrapper": INTERNALS,
    "test_wrappers.py::test_dtypes": "wants gradients of 80 bits; tensorbackend has 16, 32 and 64",
    "test_wrappers.py::test_custom_where_dtypes[int-True-1-2]": PLAIN,
    "test_wrappers.py::test_custom_where_dtypes[float-True-3.0-4.0]": PLAIN,
    "test_wrappers.py::test_custom_where_dtypes[float-False-1-2.0]": PLAIN,
    "test_wrappers.py::test_custom_where_dtypes[list-True-x3-y3]": PLAIN,
    "test_wrappers.py::test_custom_where": PLAIN,
    "test_wrappers.py::test_wrapped_name_and_docs": "reads the text that autograd writes for its operators",
    "test_builtins.py::test_isinstance": "a traced tensor is no `numpy.ndarray`",
    "test_numpy.py::test_scalar_array_box_attributes": "the dtype of a tensor is our own",
    "test_numpy.py::test_r_basic": HELPERS,
    "test_numpy.py::test_r_double": HELPERS,
    "test_numpy.py::test_r_node_and_const": HELPERS,
    "test_numpy.py::test_r_mixed": HELPERS,
    "test_numpy.py::test_r_slicing": HELPERS,
    "test_numpy.py::test_c_": HELPERS,
    "test_numpy.py::test_c_mixed": HELPERS,
    "test_numpy.py::test_cast_to_int": "`int(x)` of a traced tensor has no data to read; a tape has",
    "test_numpy.py::test_gradient": NOT_OURS,
    "test_linalg.py::test_pinv": "calls a private function of `autograd.numpy.linalg`",
    "test_fft.py::test_rfftn_odd_not_implemented": "wants an error, as autograd has no gradient; ours has one",
    "test_graphs.py::test_assignment_raises_error": "wants an error; tensors take the assignment",
}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if collection_path.name in MODULES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of the table as expected failures; refuses rows that name no test of a collected module."""
    unused = set(TESTS)
    for item in items:
        name = f"{item.path.name}::{item.name}"
        if name in TESTS:
            unused.discard(name)
            item.add_marker(pytest.mark.xfail(reason=TESTS[name], strict=True))
    collected = {item.path.name for item in items}
    stale = sorted(name for name in unused if name.partition("::")[0] in collected)
    if stale and not any("::" in argument for argument in items[0].config.args):
        raise pytest.UsageError(f"no tests of these names: {', '.join(stale)}")
