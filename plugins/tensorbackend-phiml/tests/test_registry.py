"""PhiML chooses the adapter, pickles its tensors, compiles and differentiates with it, and profiles it."""

from __future__ import annotations

import pickle
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import phiml.math as math
import pytest
import tensorbackend as tb
from phiml.backend import BACKENDS, NUMPY, NoBackendFound, convert, profile, set_global_default_backend
from phiml.backend import Backend as PhimlBackend
from phiml.backend._backend import get_backend
from phiml.math import batch, channel, dual, spatial

import tensorbackend_phiml
from tensorbackend_phiml import TensorBackend
from tensorbackend_phiml.base import ABSENT
from tensorbackend_phiml.dtypes import TO_PHIML, from_phiml


def test_there_is_one_instance_for_each_backend(b: TensorBackend) -> None:
    assert tensorbackend_phiml.backend(b.base.name) is b
    assert sum(backend is b for backend in BACKENDS) == 1


def test_the_default_backend_of_ours_is_the_default() -> None:
    with tb.default_backend("binary"):
        assert tensorbackend_phiml.backend().base.name == "binary"


def test_every_function_of_phiml_is_ours(b: TensorBackend) -> None:
    inherited = {
        name
        for name in dir(PhimlBackend)
        if not name.startswith("_") and getattr(TensorBackend, name) is getattr(PhimlBackend, name)
    }
    # Only the name, the settings, the devices and the absent functions of a backend are inherited.
    assert inherited == {
        "get_default_device", "get_device_by_ref", "get_peak_memory", "list_devices", "name", "precision",
        "reset_peak_memory",
    }  # fmt: skip
    assert {"get_peak_memory", "reset_peak_memory"} <= ABSENT


def test_every_function_of_phiml_has_a_row_in_the_docs() -> None:
    rows = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "rows.py"))["read"]("phiml").rows
    functions = {name for name in dir(PhimlBackend) if not name.startswith("_")}
    assert functions - {row.name for row in rows} == set()


def test_phiml_uses_it(b: TensorBackend) -> None:
    set_global_default_backend(b)
    x = math.tensor([1.0, 2.0], spatial("x"))
    assert x.backend is b
    assert (x + 1).backend is b
    assert (math.wrap([1.0, 2.0], spatial("x")) * x).backend is b


def test_two_of_ours_do_not_mix() -> None:
    with tensorbackend_phiml.backend("numpy"):
        x = math.tensor([1.0, 2.0], spatial("x"))
    with tensorbackend_phiml.backend("binary"):
        y = math.tensor([1.0, 2.0], spatial("x"))
    with pytest.raises(NoBackendFound, match="expected tensors of one backend"):
        x + y


def test_a_pickled_tensor_finds_its_backend(b: TensorBackend) -> None:
    with b:
        x = math.tensor([1.0, 2.0], spatial("x"))
    again = pickle.loads(pickle.dumps(x))
    assert again.backend is b
    math.assert_close(again, x)
    assert pickle.loads(pickle.dumps(tb.asarray(1.0, backend=b.base))).backend is b.base


def test_numbers_are_written_into_names(b: TensorBackend, tmp_path: Path) -> None:
    with b:
        data = math.random_normal(batch(run=2), spatial(x=3))
        files = -math.f - f"{tmp_path}/{math.range(batch(run=2))}.npz"
        math.save(files, data)
        math.assert_close(math.load(files), data)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.npz", "1.npz"]


def test_values_move_between_backends(b: TensorBackend) -> None:
    array = convert(convert(np.arange(3.0), b), NUMPY)
    assert isinstance(array, np.ndarray)
    assert array.tolist() == [0, 1, 2]
    other = tensorbackend_phiml.backend("numpy" if b.base.name == "binary" else "binary")
    assert other.is_tensor(convert(b.as_tensor([1.0]), other), only_native=True)


def test_phimls_own_backends_are_found_as_before() -> None:
    assert get_backend("numpy") is NUMPY
    assert get_backend("jax").as_registered is get_backend("jax")


def test_precision_decides_the_dtype(b: TensorBackend) -> None:
    with b:
        assert math.ones(spatial(x=2)).dtype.bits == 32
        with math.precision(64):
            assert (math.ones(spatial(x=2)) * math.sin(math.tensor([1.0, 2.0], spatial("x")))).dtype.bits == 64


def test_python_floats_are_not_rounded(b: TensorBackend) -> None:
    with b, math.precision(64):
        assert b.numpy(b.as_tensor(0.1)) == 0.1
        assert b.numpy(b.as_tensor([0.1, 0.2])).tolist() == [0.1, 0.2]
        assert b.numpy(b.as_tensor(0.1j)) == 0.1j
        product = math.jit_compile(lambda x, factor: x * factor)(math.tensor(1.0), 0.1)
        assert float(product) == 0.1
    assert b.as_tensor(0.1).dtype == tb.float32


def test_each_dtype_has_one_of_phimls() -> None:
    assert [from_phiml(theirs) for theirs in TO_PHIML.values()] == list(TO_PHIML)
    with pytest.raises(KeyError, match="expected a dtype"):
        from_phiml(object)


def test_gradients_of_implicit_solves(b: TensorBackend) -> None:
    with b, math.precision(64):
        matrix = math.tensor([[4.0, 1.0], [1.0, 3.0]], channel("y"), dual("x"))

        def loss(right: Any) -> Any:
            guess = math.zeros(channel(x=2))
            solution = math.solve_linear(matrix, right, math.Solve("CG", rel_tol=1e-10, abs_tol=1e-10, x0=guess))
            return math.sum(solution**2)

        right = math.tensor([1.0, 2.0], channel("y"))
        inverse = np.linalg.inv(np.array([[4.0, 1.0], [1.0, 3.0]]))
        expected_gradient = 2 * inverse @ inverse @ np.array([1.0, 2.0])
        for gradient in (
            math.gradient(loss, get_output=False),
            math.jit_compile(math.gradient(loss, get_output=False)),
        ):
            np.testing.assert_allclose(gradient(right)[0].numpy("y"), expected_gradient, rtol=1e-6)


def test_a_compiled_function_reads_what_is_constant(b: TensorBackend) -> None:
    @math.jit_compile  # type: ignore[untyped-decorator] # of PhiML
    def repeated(x: Any) -> Any:
        count = math.sum(math.tensor([1, 2], spatial("n")), "n")
        return math.expand(x, spatial(copies=int(count)))

    with b:
        assert repeated(math.tensor(1.0)).shape.get_size("copies") == 3


def test_without_jit_a_compiled_function_reads_its_arguments(b: TensorBackend) -> None:
    @math.jit_compile  # type: ignore[untyped-decorator] # of PhiML
    def magnitude(x: Any) -> Any:
        return x if float(x) > 0 else -x

    gradient = math.jit_compile(math.gradient(magnitude, get_output=False))
    x = tensorbackend_phiml.backend(b.base.name).as_tensor(-2.0)
    try:
        assert tensorbackend_phiml.backend(b.base.name, jit=False) is b
        assert not tensorbackend_phiml.backend(b.base.name).jit
        with b:
            with pytest.warns(RuntimeWarning, match="Running function 'magnitude' as-is"):
                assert float(magnitude(math.wrap(x))) == 2
            with pytest.warns(RuntimeWarning, match="as-is"):
                assert float(gradient(math.wrap(x))[0]) == -1
            assert math.wrap(x) < 0
    finally:
        tensorbackend_phiml.backend(b.base.name, jit=True)
    assert b.supports("jit_compile")


def test_a_gradient_reads_its_arguments(b: TensorBackend) -> None:
    with b:
        gradient = math.gradient(lambda x: x * x if float(x) > 0 else -x, get_output=False)
        assert float(gradient(math.tensor(3.0))[0]) == 6
        assert float(gradient(math.tensor(-3.0))[0]) == -1


def test_a_dry_run_predicts_a_function_of_phiml() -> None:
    b = tensorbackend_phiml.backend("numpy")

    def smooth(native: tb.Tensor) -> Any:
        with b, b.traced():
            x = math.reshaped_tensor(native, [spatial(x=64), spatial(y=64)])
            return math.laplace(x, padding=math.extrapolation.PERIODIC).native("x,y")

    report = tb.dry_run(smooth, "f32[64, 64]")
    assert report.eager.flops >= 5 * 64 * 64


def test_phimls_profile_counts_our_calls(b: TensorBackend) -> None:
    with b, profile(backends=[b]) as measured:
        math.sum(math.ones(spatial(x=4)) + 1, "x")
    assert measured.duration > 0
    assert not any(type(backend).__name__ == "ProfilingBackend" for backend in BACKENDS)


def test_a_device_that_is_not_there_is_told(b: TensorBackend) -> None:
    with pytest.warns(RuntimeWarning, match="no device of type 'TPU'"):
        assert not b.set_default_device("TPU")


def test_unknown_words_are_left_to_phiml(b: TensorBackend) -> None:
    assert b.pad(b.as_tensor([1.0]), [(1, 1)], mode="other") is NotImplemented
    with pytest.raises(ValueError, match="expected an axis"):
        b.unstack(b.as_tensor([1.0]), axis=1)


def test_the_code_of_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text(), re.DOTALL)
    assert blocks
    for code in blocks:  # an error in one fails
        exec(code, {})
