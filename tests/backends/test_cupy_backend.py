"""CupyBackend on a strict stand-in for CuPy, which needs no GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.cupy_backend import CupyBackend
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16
from tensorbackend.errors import ArgumentError, BackendError
from tensorbackend.interchange import numpy_dtype
from tensorbackend.protocol import Backend
from tensorbackend.protocol.core import Core
from tensorbackend.template import Template
from tensorbackend.testing import GENERATORS, Invocation, calls, check, check_row, divergences_of, profile

from .fake_cupy import MODULES
from .fake_cupy.arrays import module
from .fake_cupy.devices import settings

OURS = {name for name, spec in OPS.items() if spec.function.__module__.startswith("tensorbackend.")}
NAMES = sorted(OURS | set(GENERATORS))


@pytest.fixture(scope="module")
def _stand_in() -> Iterator[None]:
    """Replace CuPy by the fake library, and set aside instances of the backend that use an installed CuPy."""
    real = {key: Core._instances.pop(key) for key in list(Core._instances) if key[0] is CupyBackend}
    with pytest.MonkeyPatch.context() as patch:
        for name, stand_in in MODULES.items():
            patch.setitem(sys.modules, name, stand_in)
        yield
    for key in [key for key in Core._instances if key[0] is CupyBackend]:
        del Core._instances[key]
    Core._instances.update(real)


@pytest.fixture(scope="module")
def cupy(_stand_in: None) -> Backend:
    """Return the backend that uses the stand-in."""
    return tb.get_backend("cupy")


@pytest.fixture
def two_devices(cupy: Backend) -> Iterator[Backend]:
    """Yield the backend on the second of two devices."""
    settings.devices = 2
    yield CupyBackend(device=1)
    settings.devices = 1
    del Core._instances[(CupyBackend, ("device", 1))]


def test_arrays_come_back_as_they_came(cupy: Backend) -> None:
    given = module.asarray([1.0, 2.0])
    found, made, same = tb.for_arrays(lambda x: (x * tb.log(2.0), tb.ones(2), x))(given)
    for array in (found, made, same):
        assert isinstance(array, type(given))
        assert array.dtype == "float64"
    assert same.data.ptr != given.data.ptr  # the caller's own
    assert tb.asarray(found, backend=cupy).tolist() == pytest.approx([np.log(2.0), 2 * np.log(2.0)], rel=1e-15)
    with pytest.raises(BackendError, match=r"expected arrays of one library, got x=.*ndarray, y=numpy.ndarray"):
        tb.for_arrays(lambda x, y: x + y)(given, np.ones(2))


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_reference(cupy: Backend, name: str) -> None:
    @profile(2)
    @given(st.sampled_from(ALL_DTYPES).flatmap(lambda dtype: calls(name, dtype)))
    def agrees(call: Invocation) -> None:
        check(call, cupy)

    agrees()


def test_subnormals_are_zeros_as_the_divergence_says(cupy: Backend) -> None:
    rows = divergences_of(cupy)
    assert rows
    for row in rows:
        check_row(row, cupy)


# Results of the reference where CuPy's own functions give others


def test_zeros_keep_their_sign(cupy: Backend) -> None:
    for zero in (
        tb.tensor(-0.0, backend=cupy),
        tb.full((), -0.0, backend=cupy),
        tb.zeros(()).backend_copy(cupy) * -1.0,
    ):
        assert str(zero.item()) == "-0.0"
    assert str(tb.tensor(complex(-0.0, 1.0), backend=cupy).item()) == "(-0+1j)"


def test_of_several_nan_the_first_one_is_found(cupy: Backend) -> None:
    x = tb.tensor([[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]], backend=cupy)
    for find in (tb.argmax, tb.argmin):
        assert find(x, axis=0).tolist() == [1, 0]
        assert find(x).item() == 1
        assert find(x, axis=0, tie_break="high").tolist() == [2, 2]


@pytest.mark.parametrize("shape", [(3, 40, 50), (2, 3, 4, 4), (5, 5), (2, 0, 3)])
def test_factors_of_complex_matrices(cupy: Backend, shape: tuple[int, ...]) -> None:
    """Two blocks of 32 columns, two batch axes, a single matrix, no rows; cuSOLVER would choose other pivots."""
    rng = np.random.default_rng(0)
    x = tb.tensor(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), backend=cupy)
    permutation, lower, upper = tb.linalg.lu(x)
    assert tb.all_close(permutation @ lower @ upper, x).item()
    reference = tb.linalg.lu(x.backend_copy("binary"))[0]
    assert permutation.tolist() == reference.tolist()


def test_factors_of_stacks_are_those_of_cusolver(cupy: Backend) -> None:
    x = tb.random.normal(tb.random.key(0, backend=cupy), (2, 3, 40, 30))
    permutation, lower, upper = tb.linalg.lu(x)
    assert tb.all_close(permutation @ lower @ upper, x, atol=1e-5).item()
    singular = tb.zeros((2, 2), backend=cupy)
    assert tb.linalg.det(singular).item() == 0.0
    assert tb.linalg.lu(tb.zeros((2, 0, 3), backend=cupy))[0].shape == (2, 0, 0)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_the_next_number(cupy: Backend, dtype: str) -> None:
    limits = tb.finfo(dtype)
    ends = [float(limits.max), -float(limits.smallest_normal)]
    numbers = [0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, np.nan, *ends]
    x = tb.tensor([number for number in numbers for _ in numbers], dtype=dtype, backend="binary")
    y = tb.tensor(numbers * len(numbers), dtype=dtype, backend="binary")
    check(Invocation("nextafter", (x, y), {}), cupy)


@pytest.mark.parametrize("name", ["abs", "log", "log2", "log10", "cbrt"])
def test_complex_numbers_at_the_ends_and_on_the_unit_circle(cupy: Backend, name: str) -> None:
    most = float(tb.finfo("f64").max)
    numbers = [
        complex(1.0, most),
        complex(most, most),
        complex(-most, 1e-300),
        complex(0.6, 0.8),
        complex(1 + 1e-9, 1e-6),
    ]
    check(Invocation(name, (tb.tensor(numbers, dtype="c128", backend="binary"),), {}), cupy)


def test_empty_triangles_of_bfloat16(cupy: Backend) -> None:
    for triangle in (tb.tril, tb.triu):
        assert triangle(tb.zeros((0, 0), dtype="bf16", backend=cupy)).data.dtype == numpy_dtype(bfloat16)


def test_importing_the_module_imports_no_cupy() -> None:
    code = "import sys, tensorbackend.backends.cupy_backend; sys.exit('cupy' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Elsewhere(CupyBackend):
    """The same backend under another name, without instances yet."""

    name = "elsewhere"


def test_without_cupy_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    commands = r"in a checkout of tensorbackend: pip install '.\[cuda12\]' or pip install '.\[cuda13\]'"
    with pytest.raises(BackendError, match=rf"expected an importable cupy .*ModuleNotFoundError.*; {commands}"):
        Elsewhere()


def test_without_a_device_it_says_so(cupy: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "devices", 0)
    with pytest.raises(BackendError, match="expected a CUDA device for the backend 'elsewhere', got error='no device'"):
        Elsewhere()


def test_an_old_cupy_is_refused(cupy: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__version__", "13.6.0")
    with pytest.raises(BackendError, match=r"expected CuPy 14 or newer, got version='13.6.0'; in a checkout"):
        Elsewhere()


def test_without_its_compiler_it_says_so(cupy: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise RuntimeError("Failure finding libnvrtc.so\nsearched in ...")

    monkeypatch.setattr(module.cuda.nvrtc, "getVersion", missing)
    text = (
        r"expected CUDA's compiler NVRTC for .*, got error='RuntimeError: Failure finding libnvrtc.so'; in a checkout"
    )
    with pytest.raises(BackendError, match=text):
        Elsewhere()


def test_names_of_a_device(cupy: Backend) -> None:
    assert cupy is CupyBackend() is CupyBackend(device=0) is CupyBackend(device="cuda:0")
    assert (cupy.device, cupy.devices()) == ("cuda:0", ("cuda:0",))
    assert cupy.versions() == {"cupy": "14.2.0", "cuda": "12.8"}
    for device in ("cpu", "gpu:0", "cuda:x", -1, 1.5, None):
        with pytest.raises(ArgumentError, match="expected a CUDA device such as 1 or 'cuda:1'"):
            CupyBackend(device=device)
    with pytest.raises(
        ArgumentError, match="a device of the backend 'cupy', got device='cuda:3'; the devices are cuda:0"
    ):
        CupyBackend(device=3)
    with pytest.raises(ArgumentError, match="expected no options"):
        CupyBackend(stream=1)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_bits_and_names_through_the_host(cupy: Backend, dtype: DType) -> None:
    x = tb.astype(tb.tensor([[0, 1, 2], [3, 4, 5]], names=("row", None)), dtype)
    moved = x.backend_copy(cupy)
    assert moved.template is x.template
    assert cupy.violation(moved.template, moved.data) is None
    assert moved.to_binary() == x.to_binary() == moved.backend_copy("binary").to_binary()
    assert moved.to_binary(2) == x.to_binary(2)
    array = np.asarray(moved)
    assert not array.flags.writeable
    assert array.tobytes() == x.to_binary()
    assert np.array(moved).flags.writeable
    with pytest.raises(ValueError, match="expected data in host memory for copy=False"):
        np.asarray(moved, copy=False)


def test_no_byte_through_the_host_between_libraries_on_one_device(cupy: Backend) -> None:
    class Other(CupyBackend):
        """A backend of another library on the same device, which exchanges data only by DLPack."""

        name = "other"
        to_binary = from_binary = to_numpy = from_numpy = None  # type: ignore[assignment] # never called

        def from_backend(self, x: tb.Tensor, /, *, copy: bool) -> Any:
            return Core.from_backend(self, x, copy=copy)

    for dtype in ALL_DTYPES:
        x = tb.full((2, 3), True, dtype=dtype, names=("row", None), backend=cupy)
        start, template = x.data.data.ptr, x.template
        assert x.backend_copy(Other).data.data.ptr != start
        moved = x.backend_transfer(Other)
        assert (moved.template, moved.data.data.ptr) == (template, start)
    imported = cupy.from_dlpack(moved, copy=True)
    assert imported[0] is Template((2, 3), ALL_DTYPES[-1])
    assert imported[1].data.ptr != start


def test_dlpack_with_the_host(cupy: Backend) -> None:
    x = tb.from_dlpack(np.arange(3.0), backend=cupy)
    assert (x.tolist(), x.__dlpack_device__()) == ([0.0, 1.0, 2.0], (2, 0))
    with pytest.raises(BufferError, match="expected data in device memory for copy=False"):
        tb.from_dlpack(np.arange(3.0), copy=False, backend=cupy)

    class Strange:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 8, 0

        def __dlpack__(self, **options: Any) -> Any:
            raise AssertionError("its device is not CUDA's")

    with pytest.raises(BufferError):
        cupy.from_dlpack(Strange(), copy=None)


def test_an_array_of_the_device_is_shared(cupy: Backend) -> None:
    array = module.asarray([1.0, 2.0])
    assert tb.asarray(array, backend=cupy).data.data.ptr == array.data.ptr
    assert tb.tensor(array, backend=cupy).data.data.ptr != array.data.ptr
    with pytest.raises(BufferError, match="pass device='cpu' to copy the array to the host"):
        tb.asarray(array, backend="numpy")
    assert tb.asarray(array, backend="numpy", device="cpu").tolist() == [1.0, 2.0]


def test_an_array_of_the_device_is_copied_to_the_host_on_request(cupy: Backend) -> None:
    array = module.asarray([1.0, 2.0])
    with pytest.raises(BufferError, match=r"expected an array in host memory, got device=\(2, 0\); pass device='cpu'"):
        tb.from_dlpack(array, backend="numpy")
    assert tb.from_dlpack(array, backend="numpy", device="cpu").tolist() == [1.0, 2.0]
    assert np.from_dlpack(tb.asarray(array, backend=cupy), device="cpu").tolist() == [1.0, 2.0]
    assert tb.from_dlpack(array, backend=cupy, device="cuda:0").data.data.ptr == array.data.ptr


def test_the_cuda_array_interface(cupy: Backend) -> None:
    x = tb.zeros((2, 3), backend=cupy)
    assert x.__cuda_array_interface__["data"] == (x.data.data.ptr, True)  # read-only


def test_who_cannot_be_told_that_memory_is_read_only_gets_a_copy(cupy: Backend) -> None:
    x = tb.zeros(3, backend=cupy)
    for options in ({}, {"max_version": (1, 0)}, {"copy": True}, {"dl_device": (2, 0)}):
        assert x.__dlpack__(stream=1, **options).array.data.ptr != x.data.data.ptr
    assert x.__dlpack__(stream=1, copy=False).array.data.ptr == x.data.data.ptr


def test_waiting_waits_for_the_stream(cupy: Backend) -> None:
    before = settings.synchronized
    assert tb.zeros(2, backend=cupy).block_until_ready().shape == (2,)
    assert settings.synchronized == before + 1


def test_memory_goes_back_to_the_device_on_request(cupy: Backend) -> None:
    assert isinstance(cupy, CupyBackend)
    x = tb.zeros(1000, backend=cupy)
    x.backend_deallocate()
    assert cupy.release_memory() >= 4000
    assert cupy.release_memory() == 0


def test_callbacks_run_on_their_device(two_devices: Backend) -> None:
    x = tb.tensor([[3.0, 1.0], [1.0, 2.0]], names=("row", None), backend=two_devices)
    for y in (
        x,
        x + 1,
        *tb.to_batched(x, 1),
        tb.sum(x, axis="row"),
        x.T @ x,
        tb.linalg.cholesky(x),
        tb.softmax(x, axis=0),
        x[:1],
        x * x,
    ):
        assert y.data.device.id == 1
        assert y.device == "cuda:1"
    assert tb.zeros_like(x).data.device.id == 1
    moved = x.to_device("cuda:0")
    assert (moved.data.device.id, moved.device, moved.names, moved.tolist()) == (0, "cuda:0", x.names, x.tolist())
    assert two_devices.devices() == ("cuda:0", "cuda:1")
    second = tb.devices(two_devices)[1]
    assert (second.kind, second.memory, second.processors, second.description) == ("gpu", 80 << 30, 132, "GPU 1")
    assert x.__dlpack_device__() == (2, 1)
    assert tb.zeros(1, backend="cupy", device="cuda:1").backend is two_devices


@pytest.mark.parametrize("dtype", [d for d in ALL_DTYPES if d.kind != "bool"], ids=str)
def test_repeated_indices(cupy: Backend, dtype: DType) -> None:
    x, updates = (tb.astype(tb.tensor(numbers, backend=cupy), dtype) for numbers in ([0, 100], [100, 2, 3]))
    indices = tb.tensor([[1], [1], [0]], backend=cupy)
    reference = tb.indexed_add(*(tensor.backend_copy("binary") for tensor in (x, indices, updates))).tolist()
    assert tb.indexed_add(x, indices, updates).tolist() == reference  # int8 wraps
    assert tb.indexed_put(x, indices, updates).tolist() == [3, 2]


def test_eigenvalues_on_the_host_where_cuda_has_none(cupy: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tb.tensor([[0.0, 1.0], [-1.0, 0.0]], backend="binary")
    check(Invocation("eig", (x,), {}), cupy)
    monkeypatch.setattr(settings, "geev", False)
    check(Invocation("eig", (x,), {}), cupy)
    monkeypatch.setattr(settings, "geev", True)
    monkeypatch.setattr(settings, "broken", True)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        tb.linalg.eig(x.backend_copy(cupy))


def test_the_stand_in_is_strict(cupy: Backend) -> None:
    xp, x = module, module.asarray([1.0, 2.0])
    for refused in (
        lambda: np.asarray(x),
        lambda: xp.add(x, np.ones(2)),
        lambda: xp.logical_and(xp.asarray([1j]), xp.asarray([1j])),
        lambda: xp.signbit(xp.asarray([1j])),
        lambda: xp.max(x, initial=0),
        lambda: xp.add.at(xp.asarray([1], "int8"), xp.asarray([0]), xp.asarray([1], "int8")),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(AttributeError):
        _ = xp.lexsort
    narrow = tb.ones(2, dtype=bfloat16, backend=cupy).data
    assert xp.where(narrow == 1, narrow, narrow).dtype == np.float32  # CupyModule corrects it


def test_a_chain_of_elementwise_ops_is_one_kernel(cupy: Backend) -> None:
    def function(x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.exp(-x * x) * 1.5 + tb.tanh(y * 0.7), axis=0) + tb.sigmoid(y)

    x, y = tb.asarray([[0.1, 0.2], [0.3, 0.4]]), tb.asarray([1.0, 2.0])
    before = settings.kernels
    result = tb.jit(function)(x.backend_copy("cupy"), y.backend_copy("cupy"))
    assert settings.kernels == before + 2  # one for tanh(y * 0.7), one for the other ops before the sum
    assert result.to_binary() == function(x, y).to_binary()
