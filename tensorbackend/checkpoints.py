"""Checkpoints: nested tensors in a folder, saved atomically; each process writes what it holds.

While no program saves, a folder holds one version, and a file that names it:

    folder/current                         the name of the version
    folder/7/part-0-of-2.safetensors       the parts that process 0 holds, under "name" or "name@begin,begin"
    folder/7/part-0-of-2.json              which parts these are
    folder/7/index.json                    every tensor's shape, dtype, names and mesh axes, and every part

A new version is written next to the old one. Only when all its parts are on the disk does one rename make `current`
name it; then the old version is deleted. So a program that is terminated at any moment leaves the old version or the
new one, never a mixture. Only one program may save at a time, and a program that reads at the same time may find that
the old version was deleted.

The parts are safetensors files, which other programs read too, and which hold axis names and bfloat16. Rejected: orbax,
which would be one more dependency, writes its own format, and does not store axis names.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from .backends.libraries import import_library
from .declarations.argument_errors import check_arguments
from .display import directory as _directory
from .dtypes import as_dtype, scalar_kind
from .errors import ArgumentError, FileError, OperandError, expected
from .expr.trees import flatten, paths, unflatten
from .files import safetensors
from .files.replace import replace_file
from .files.source import Source, broken, locate_errors, read_tensor
from .ops.creation.foreign_arrays import is_array
from .protocol import Backend, BackendLike
from .select import check_dtype_support, get_backend
from .template import Template
from .tensor import Tensor
from .tensor.missing_names import missing_names as _missing_names

__all__ = ["load", "save"]

_CURRENT = "current"

_DIGITS: Final = 18
"""The most digits of a version's number, far more than programs save."""
_FORMAT = 1
"""The number of the format, the only one that `load` reads."""


@check_arguments
def save(folder: str | os.PathLike[str], value: Any, /) -> None:
    """Write nested tensors to a folder, replacing the existing checkpoint.

    If there are several processes, all must call it, with one folder that all of them can access. Each writes the parts
    that it holds.

    Parameters
    ----------
    folder : str or os.PathLike
        The folder. It is created if it does not exist.
    value : tensors and Python numbers in lists, tuples, dictionaries and dataclasses
        Other values in them, such as texts and functions, are not written.

    Raises
    ------
    OperandError
        For an array of another library, which `load` could not restore.
    DTypeError
        For complex128, which safetensors files do not hold.
    FileError
        For a file where the folder should be.
    OSError
        If the files cannot be written; the old checkpoint is then unchanged.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.checkpoints.save(folder, {"bias": tb.ones(2, names=("digit",)), "step": 3})
    ...     tb.checkpoints.load(folder)
    {"['bias']": f32[digit: 2] numpy [1.0, 1.0], "['step']": 3}
    """
    place, (tensors, numbers) = Path(folder), _entries_by_path(value)
    for name, x in tensors.items():
        safetensors.check(name, x)
    meshes = [x.backend for x in tensors.values() if x.backend.lays_by_name]
    process, processes, meet = _processes(bool(meshes))
    if place.exists() and not place.is_dir():
        raise FileError(expected("a folder for a checkpoint", "choose another path", folder=str(place)))
    place.mkdir(parents=True, exist_ok=True)
    before = _current(place)
    version = place / str(int(before.name) + 1 if before is not None else 0)
    meet("begin")
    if process == 0:
        for left in place.iterdir():  # left by a program that ended in the middle
            if left.is_dir() and left.name.isdigit() and left != before:
                shutil.rmtree(left)
        version.mkdir()
    meet("made")
    _write_parts(version / f"part-{process}-of-{processes}", tensors, process)
    meet("written")
    if process == 0:
        _write_text(version / "index.json", json.dumps(_index(version, tensors, processes) | {"numbers": numbers}))
        _write_text(place / _CURRENT, version.name)
        if before is not None:
            shutil.rmtree(before)
    meet("done")


@check_arguments
def load(folder: str | os.PathLike[str], /, *, like: Any = None, backend: BackendLike = None) -> Any:
    """Read a checkpoint onto a backend, one device or a mesh, regardless of the backend that wrote it.

    On a mesh each process reads the parts that its devices need.

    Parameters
    ----------
    folder : str or os.PathLike
        The folder.
    like : tensors or templates in lists, tuples, dictionaries and dataclasses, optional
        A value with the structure of the result, such as the saved value. Its tensors must have the shapes, dtypes and
        names of the saved ones, and it has numbers where numbers were saved; their values are those of the
        checkpoint. Its other values are returned unchanged.
    backend : Backend, type or str, optional
        The backend of the tensors, by default the default backend. `"template"` reads no elements.

    Returns
    -------
    Any
        The tensors and numbers nested as `like`. Without it, a dictionary of them by their places in the saved value.

    Raises
    ------
    FileError
        If there is no checkpoint, if it is damaged, or if its tensors or numbers do not match `like`.
    OSError
        If the files cannot be read.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> model = [tb.ones(2, names=("digit",)), tb.zeros(())]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.checkpoints.save(folder, model)
    ...     tb.checkpoints.load(folder, like=model, backend="template")
    [f32[digit: 2] template, f32 template]
    """
    place, target = Path(folder), get_backend(backend)
    version = _current(place)
    if version is None:
        raise FileError(expected("a folder with a checkpoint", "save() one first", folder=str(place)))
    with locate_errors(folder=str(place)):
        index = _read_index(version)
        if index["format"] != _FORMAT:
            raise FileError(expected(f"a checkpoint of the format {_FORMAT}", format=index["format"]))
        tensors = {
            name: _read(version, name, entry, target, index["parts"]) for name, entry in index["tensors"].items()
        }
        # A checkpoint of an earlier version has no numbers: those of `like` then stay.
        numbers = None if "numbers" not in index else {name: _number(entry) for name, entry in index["numbers"].items()}
    if like is None:
        return tensors | (numbers or {})
    return _nested_like(like, tensors, numbers)


def _entries_by_path(value: Any) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a nested value by their places in it, and likewise its numbers, in the form that JSON holds."""
    leaves, tree = flatten(value)
    named = dict(zip(paths(tree), leaves, strict=True))
    tensors = {name: leaf for name, leaf in named.items() if isinstance(leaf, Tensor)}
    if not tensors:
        raise ArgumentError(expected("tensors to save", value=value))
    numbers = {}
    for name, leaf in named.items():
        kind = None if name in tensors else scalar_kind(leaf)
        if kind is not None:
            numbers[name] = [kind, repr(_KINDS[kind](leaf))]
        elif name not in tensors and is_array(leaf):
            raise OperandError(expected("tensors and Python numbers to save", "wrap it in asarray()", **{name: leaf}))
    return tensors, numbers


_KINDS: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "complex": complex}
"""The classes of Python numbers by their kinds."""


def _number(entry: Any) -> Any:
    """The number that an index has as its kind and its `repr`."""
    kind, text = entry
    return {"True": True, "False": False}[text] if kind == "bool" else _KINDS[kind](text)


def _nested_like(like: Any, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any] | None) -> Any:
    """Nests tensors and numbers, given by their places, as `like` is; raises `FileError` if `like` has others."""
    leaves, tree = flatten(like)
    templates = {
        name: leaf if isinstance(leaf, Template) else leaf.template
        for name, leaf in zip(paths(tree), leaves, strict=True)
        if isinstance(leaf, Tensor | Template)
    }
    for name in [*templates, *tensors]:
        there = tensors[name].template if name in tensors else None
        if there is not templates.get(name):
            shown = {"like": templates.get(name), "checkpoint": there, "place": name}
            raise FileError(expected("a checkpoint with the tensors of like", **shown))
    found: dict[str, Any] = {**tensors, **(numbers or {})}
    places = dict(zip(paths(tree), leaves, strict=True))
    given = {name for name, leaf in places.items() if scalar_kind(leaf) is not None}
    if numbers is not None and given != numbers.keys():
        name = min(given ^ numbers.keys())
        shown = {"like": places.get(name), "checkpoint": numbers.get(name), "place": name}
        raise FileError(expected("a checkpoint with the numbers of like", **shown))
    return unflatten(tree, [found.get(name, leaf) for name, leaf in places.items()])


# Several processes


def _processes(on_mesh: bool) -> tuple[int, int, Callable[[str], None]]:
    """The index of this process, the number of processes, and a function that waits for all of them."""
    if not on_mesh:
        return 0, 1, lambda point: None
    jax = import_library("jax", "jax", "jax")
    count = jax.process_count()
    if count == 1:
        return 0, 1, lambda point: None
    meet = import_library("jax.experimental.multihost_utils", "jax", "jax").sync_global_devices
    return jax.process_index(), count, lambda point: meet(f"tensorbackend checkpoint {point}")


# Writing


def _write_parts(path: Path, tensors: Mapping[str, Tensor], process: int) -> None:
    """Writes the parts that this process holds, and the file that says which they are."""
    parts: dict[str, Tensor] = {}
    places: dict[str, tuple[str, tuple[int, ...]]] = {}
    host = get_backend("numpy")
    for name, x in tensors.items():
        for begin, array in _local_parts(x, process):
            key = f"{name}@{','.join(map(str, begin))}" if array.shape != x.shape else name
            template = x.template.replace(shape=tuple(array.shape))
            parts[key] = Tensor(template, host, array)
            places[key] = name, begin
    with replace_file(f"{path}.safetensors") as file:
        safetensors.write(file, parts)
    told = [{"key": key, "name": name, "begin": begin} for key, (name, begin) in places.items()]
    _write_text(path.with_name(path.name + ".json"), json.dumps(told))


def _local_parts(x: Tensor, process: int) -> list[tuple[tuple[int, ...], Any]]:
    """The parts of a tensor that this process writes: where each begins, and an array."""
    if x.backend.lays_by_name:
        backend: Any = x.backend
        parts: list[tuple[tuple[int, ...], Any]] = backend.held(x)
        return parts
    return [((0,) * x.ndim, x.__array__())] if process == 0 else []


def _index(version: Path, tensors: Mapping[str, Tensor], processes: int) -> Any:
    """The index of all files of a version."""
    parts = []
    for process in range(processes):
        stem = f"part-{process}-of-{processes}"
        told = json.loads((version / f"{stem}.json").read_text())
        parts += [{"file": f"{stem}.safetensors", **part} for part in told]
    shown: dict[str, dict[str, Any]] = {}
    for name, x in tensors.items():
        sharding = x.sharding
        shown[name] = {"shape": x.shape, "dtype": x.dtype.name, "names": x.names}
        if sharding is not None:
            shown[name] |= {"axes": sharding.axes, "mesh": dict(sharding.mesh.sizes)}
    return {"format": _FORMAT, "tensors": shown, "parts": parts}


def _write_text(path: Path, text: str) -> None:
    with replace_file(str(path)) as file:
        file.write(text.encode())


# Reading


def _current(folder: Path) -> Path | None:
    """The folder of the version that is complete; `None` if there is none."""
    try:
        name = (folder / _CURRENT).read_bytes()
    except FileNotFoundError:
        return None
    if not (name.isdigit() and len(name) <= _DIGITS):
        raise FileError(expected("a version number in the file current", folder=str(folder), found=name[:80]))
    version = folder / name.decode()
    if not version.is_dir():
        remedy = "restore its files, or save() to another folder"
        raise FileError(expected("the version that the file current names", remedy, folder=str(folder), version=name))
    return version


def _read_index(version: Path) -> Any:
    try:
        return json.loads((version / "index.json").read_bytes())
    except FileNotFoundError:
        raise broken("a version without its index") from None


def _read(version: Path, name: str, entry: Mapping[str, Any], backend: Backend, parts: list[Any]) -> Tensor:
    """Reads one tensor of a checkpoint onto a backend."""
    out = Template(tuple(entry["shape"]), as_dtype(entry["dtype"]), entry["names"])
    if backend.template_only:
        return Tensor(out, backend, None)
    check_dtype_support(out.dtype, backend)
    mine = [part for part in parts if part["name"] == name]
    read = partial(_region, version, out, mine)
    if backend.lays_by_name:
        on_mesh: Any = backend
        return Tensor(out, backend, on_mesh.read_in(out, read))
    whole = read(tuple([slice(None)] * out.ndim))
    return Tensor(out, backend, backend.from_numpy(out, whole, copy=False))


def _region(version: Path, out: Template, parts: list[Any], region: tuple[slice, ...]) -> Any:
    """The elements of a tensor in a region, from the parts that overlap it."""
    import numpy

    bounds = [part.indices(size)[:2] for part, size in zip(region, out.shape, strict=True)]
    elements: Any = None
    missing = 1
    for begin, end in bounds:
        missing *= end - begin
    for part in parts:
        if Path(part["file"]).name != part["file"]:
            raise broken(f"a part in another folder, {part['file']!r}")
        with Source(str(version / part["file"])) as source:
            places, start = safetensors.places_of(source, None), source.tell()
            template, offset = places[part["key"]]
            ends = [at + size for at, size in zip(part["begin"], template.shape, strict=True)]
            both = [(max(a, c), min(b, d)) for (a, b), c, d in zip(bounds, part["begin"], ends, strict=True)]
            if any(a >= b for a, b in both) and missing:
                continue
            source.seek(start + offset)
            array = read_tensor(source.readinto, template, get_backend("numpy")).__array__()
        inside = tuple([slice(a - at, b - at) for (a, b), at in zip(both, part["begin"], strict=True)])
        if both == bounds:
            return numpy.asarray(array[inside])  # without axes, an index returns a number
        if elements is None:
            elements = numpy.empty([end - begin for begin, end in bounds], array.dtype)
        elements[tuple([slice(a - at, b - at) for (a, b), (at, _) in zip(both, bounds, strict=True)])] = array[inside]
        missing -= array[inside].size
    if elements is None or missing:
        raise FileError(expected("all parts of a tensor in a checkpoint", region=bounds, tensor=out))
    return elements


__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
