"""Quantised weights in safetensors files, as programs that quantise write them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, int32, uint8
from ..errors import FileError, expected
from ..expr.containers import backend_transfer
from ..expr.trees import tree_map
from ..files.replace import as_path
from ..files.safetensors import places_of, read_one
from ..files.source import FileDefect, Source, locate_errors
from ..ops.creation.values import asarray
from ..ops.shape import reshape
from ..protocol import Backend, BackendLike
from ..select import get_backend
from ..tensor import Tensor
from .layouts import Facts, Parts, read_blocks, read_columns, read_packed, read_scaled
from .matrix import Quantized


class _Layout(NamedTuple):
    """A layout: the end of the name that tells it, the ends of the others, and what reads them."""

    head: str
    """The end of the name of the tensor with the numbers."""
    others: tuple[str, ...]
    """The ends of the names of the other parts."""
    read: Callable[[Parts, Facts], Quantized]
    needs: tuple[str, ...] = ()
    """Parts of which one must be there, else the tensor is an ordinary one."""
    name: str = "weight"
    """What takes the place of the head in the name of the result."""
    only: DType | None = None
    """The dtype without which the tensor is an ordinary one."""


_SCALES: Final = ("weight_scale", "weight_scale_inv")
_POINTS: Final = ("weight_zero_point",)

_LAYOUTS: Final = (
    _Layout(
        "weight_packed", ("weight_scale", "weight_shape", "weight_g_idx", "weight_global_scale", *_POINTS), read_packed
    ),
    _Layout("qweight", ("scales", "qzeros", "g_idx"), read_columns),
    _Layout("weight", (*_SCALES, "weight_scale_2", *_POINTS), read_scaled, _SCALES),
    _Layout("_blocks", ("_scales",), read_blocks, ("_scales",), "", uint8),
    _Layout(".blocks", (".scales",), read_blocks, (".scales",), "", uint8),
)

_PARTS: Final = {part for layout in _LAYOUTS[:3] for part in layout.others} - {"scales"}
"""Last words of names of parts that say nothing without the numbers of their matrix."""

_FOREIGN: Final = {"absmax", "quant_map", "SCB", "W_q", "B_24", "bitmask", "compressed"}
"""Last words of names by which other layouts are known: those of bitsandbytes, HQQ, Marlin and of sparse matrices.
Marlin's numbers are an int32 tensor "B"."""

_MAX_CONFIGURATION: Final = 10_000_000
"""Bytes of a configuration."""


@check_arguments
def load_quantized(path: str | os.PathLike[str], backend: BackendLike = None) -> dict[str, Tensor | Quantized]:
    """The tensors of a model in safetensors files, by name; matrices that are quantised as they are stored.

    The layouts are those of GPTQ, AWQ, compressed-tensors, FP8 and gpt-oss, which the names of tensors tell. Numbers,
    scales and zero points keep their values. Other tensors come in their dtypes.

    Parameters
    ----------
    path : str or path
        A file, or a folder with the files of one model. `config.json` in the same folder, if it is there, says which
        version of GPTQ's format the zero points have, and the size of the blocks of FP8.
    backend : Backend or str, optional
        The backend of the tensors. `"template"` reads headers only.

    Returns
    -------
    dict of str to Tensor or Quantized
        The tensors. A matrix has a row for each output, and the name that it had before it was quantised, such as
        "layers.0.up.weight".

    Raises
    ------
    FileError
        For a file that is not intact, a tensor that several files have, and a layout that is not read.
    OSError
        If a file cannot be read.

    See Also
    --------
    quantized_dot : A product with such a matrix.
    load : Reads each tensor of a file as it is.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> tensors = {"up.weight": tb.ones((2, 4), dtype="int8"), "up.weight_scale": tb.asarray([[0.5], [0.25]])}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save(f"{folder}/model.safetensors", tensors)
    ...     tb.load_quantized(folder)
    {'up.weight': Quantized(f32[2][4] as int8, groups of 4 along 1, numpy)}
    """
    place, target = Path(as_path(path)), get_backend(backend)
    files = sorted(place.glob("*.safetensors")) if place.is_dir() else [place]
    if not files:
        raise FileError(expected("a folder with files that end in .safetensors", path=str(path)))
    tensors: dict[str, Tensor] = {}
    for file in files:
        found = _read(str(file), target)
        for name in tensors.keys() & found.keys():
            remedy = "keep the files of one model in the folder"
            raise FileError(expected("each tensor in one file", remedy, path=str(file), name=name))
        tensors |= found
    facts = _facts((place if place.is_dir() else place.parent) / "config.json")
    with locate_errors(path=str(path)):
        return _assemble(tensors, facts, target)


def _read(path: str, target: Backend) -> dict[str, Tensor]:
    """The tensors of a file on NumPy; for a backend without data, templates, and what says a shape."""
    host = get_backend("numpy")
    with Source(path) as source, locate_errors(path=path):
        places, start = places_of(source, None), source.tell()
        return {
            name: Tensor(template, target, None)
            if target.template_only and not name.endswith("weight_shape")
            else read_one(source, start + offset, template, host)
            for name, (template, offset) in places.items()
        }


def _facts(path: Path) -> Facts:
    """What a configuration says, if the file is there."""
    if not path.is_file():
        return Facts()
    with Source(str(path)) as source, locate_errors(path=str(path)):
        if source.length > _MAX_CONFIGURATION:
            raise FileDefect("a configuration", "fetch or write it again", bytes=source.length)
        said = json.loads(source.read().decode())
        found = said.get("quantization_config") if isinstance(said, dict) else None
        if not isinstance(found, dict):
            return Facts()
        sizes = found.get("weight_block_size") or [128, 128]
        if not (isinstance(sizes, list) and len(sizes) == 2 and all(type(n) is int and n > 0 for n in sizes)):
            raise FileDefect("two sizes of blocks", "fetch or write it again", weight_block_size=sizes)
        second = found.get("checkpoint_format") == "gptq_v2"
        return Facts(zero_offset=0 if second else 1, blocks=(sizes[0], sizes[1]))


def _assemble(tensors: Mapping[str, Tensor], facts: Facts, target: Backend) -> dict[str, Tensor | Quantized]:
    """The tensors with those of one matrix put together, on a backend."""
    matrices = {name: found for name in tensors if (found := _find_layout(name, tensors)) is not None}
    parts = {other for _, _, others in matrices.values() for other in others.values()}
    result: dict[str, Tensor | Quantized] = {}
    for name, x in tensors.items():
        if name in parts:
            continue
        if name not in matrices:
            _check_known(name, x)
            result[name] = _move_rows(x, target)
            continue
        layout, whole, others = matrices[name]
        if whole in result or (whole != name and whole in tensors):
            raise FileDefect("one tensor for each matrix", "remove one of them from the file", name=whole, other=name)
        of = {layout.head: name} | others
        of_matrix = Parts(name, {part.lstrip("._"): _plain(tensors[of[part]]) for part in of})
        read = layout.read(of_matrix, facts)
        of_matrix.check_all_read()
        result[whole] = tree_map(lambda x: _move_rows(x, target), read)
    return result


def _find_layout(name: str, tensors: Mapping[str, Tensor]) -> tuple[_Layout, str, dict[str, str]] | None:
    """The layout of a matrix whose numbers have a name, the name of the whole, and those of the other parts."""
    for layout in _LAYOUTS:
        stem, end = name.removesuffix(layout.head), layout.head
        if stem == name or (end[0] in "._" and not stem) or (end[0] not in "._" and stem and stem[-1] not in "._"):
            continue
        others = {part: f"{stem}{part}" for part in layout.others if f"{stem}{part}" in tensors}
        if layout.needs and others.keys().isdisjoint(layout.needs):
            continue
        if layout.only is None or tensors[name].dtype is layout.only:
            return layout, f"{stem}{layout.name}", others
    return None


def _check_known(name: str, x: Tensor) -> None:
    """Raises `FileDefect` for a part without its matrix, and for a tensor of a layout that is not read."""
    word = name.rpartition(".")[2]
    if word in _PARTS:
        remedy = "if the tensors of the model are in several files, pass their folder"
        raise FileDefect("the numbers of a quantised matrix with its other parts", remedy, name=name)
    if word in _FOREIGN or (word == "B" and x.dtype is int32):
        expectation = "a layout of GPTQ, AWQ, compressed-tensors, FP8 or gpt-oss"
        raise FileDefect(expectation, "read the tensors as they are with load()", name=name, tensor=x.template)


def _plain(x: Tensor) -> Tensor:
    """A tensor without names of axes."""
    return reshape(x, x.shape, names=(None,) * x.ndim)


def _move_rows(x: Tensor, target: Backend) -> Tensor:
    """A tensor on a backend, row-major."""
    if not x.backend.template_only:
        import numpy

        data = numpy.asarray(x)
        if not data.flags.c_contiguous:
            x = asarray(numpy.ascontiguousarray(data), backend=x.backend)
    return backend_transfer(x, target)
