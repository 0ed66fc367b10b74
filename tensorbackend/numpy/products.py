"""Products of vectors, matrices and arrays of more axes, and the sum of a diagonal."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, ShapeError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, new_array, result, step_view
from .conversion import asarray, cast, host, tensor
from .dtypes import NUMERIC, check_cast, dtype_of, numpy_dtype
from .functions import Array, Arrays, Out, function, public, ready
from .orders import permute_by
from .selection import chosen
from .shapes import diagonal_of_last
from .stepping import chain
from .ufuncs import write_out


@public
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product of matrices and vectors; for more axes the sum over the last of a and the second-to-last of b."""
    x, y = a, b
    if x.__class__ is ndarray and y.__class__ is ndarray:
        t = x._t
        if t is None:
            t = x._read()
        u = y._t
        if u is None:
            u = y._read()
        dtype = t.template.dtype
        if u.template.dtype is dtype and dtype in NUMERIC and t.template.shape and 0 < len(u.template.shape) < 3:
            made = tb.matmul(t, u)
            return result(made) if out is None else _write_dot(out, made)
    if x.__class__ is not ndarray or y.__class__ is not ndarray:
        x, y = asarray(x), asarray(y)
    if x.ndim == 0 or y.ndim == 0:
        made = functions["multiply"](x, y)
    elif y.ndim < 3:
        made = functions["matmul"](x, y)
    else:
        made = tensordot(x, y, axes=([-1], [-2]))
    return made if out is None else _write_dot(out, tensor(made))


def _write_dot(out: Any, made: Tensor) -> Any:
    """The array `out`, which must have the dtype of a product."""
    if hasattr(out, "dtype") and out.dtype != numpy_dtype(made.dtype):
        text = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        raise ArgumentError(text)
    return write_out("dot", out, made, broadcasts=False)


@public
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of products of the elements, with the first operand conjugated."""
    x, y = functions["ravel"](a), functions["ravel"](b)
    return functions["matmul"](functions["conjugate"](x) if x._template().dtype.is_complex else x, y)


@public
def inner(a: Any, b: Any, /) -> Any:
    """The sum of products over the last axes."""
    x, y = asarray(a), asarray(b)
    made = functions["multiply"](x, y) if not (x.ndim and y.ndim) else tensordot(x, y, axes=([-1], [-1]))
    return made if numpy.ndim(made) else made[()]


@function
def outer(a: Array, b: Array, out: Out = None) -> Array:
    """Each element of one array times each of another."""
    return _product(tb.reshape(a, (-1, 1)), tb.reshape(b, (1, -1)))


def _product(a: Tensor, b: Tensor) -> Tensor:
    """The elements of two tensors multiplied; for bools, logical and."""
    x, y = chosen(box(a), box(b))
    return tb.logical_and(x, y) if x.dtype is bool_ else x * y


def _numeric(*parts: Tensor) -> list[Any]:
    """Tensors in their common dtype; bools among bools become ints."""
    made = chosen(*map(box, parts))
    return [cast(part, tb.int64) if part.dtype is bool_ else part for part in made]


@public
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes."""
    bools = tensor(a).dtype is bool_ and tensor(b).dtype is bool_
    x, y = _numeric(tensor(a), tensor(b))
    if not isinstance(axes, int):
        axes = tuple([[*map(int, axis if hasattr(axis, "__len__") else (axis,))] for axis in axes][:2])
    made = tb.tensordot(x, y, axes=axes)
    return new_array(cast(made, bool_) if bools else made)


@public
def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: Any = "safe", optimize: Any = False
) -> Any:
    """Sums of products over axes that share a letter."""
    if isinstance(operands[0], str):
        text, parts = operands[0].replace(" ", ""), operands[1:]
    else:
        parts = operands[: len(operands) // 2 * 2 : 2]
        places = operands[1 : len(operands) // 2 * 2 : 2]
        text = ",".join(map(_letters, places))
        if len(operands) % 2:
            text += f"->{_letters(operands[-1])}"
    if optimize and "..." in text and "->" in text and "..." not in text.partition("->")[2]:
        text = _without_ellipsis(text, [numpy.ndim(each) for each in parts])
    if len(parts) == 1 and out is None and parts[0].__class__ is ndarray:
        shown = _view_of_letters(parts[0], text)
        if shown is not None and (dtype is None or dtype_of(dtype) is shown._template().dtype):
            return shown
    given = [each._t if each.__class__ is ndarray and each._t is not None else tensor(each) for each in parts]
    if dtype is None and hasattr(out, "dtype"):  # one of the arrays whose dtypes decide
        dtype = numpy.result_type(*[numpy_dtype(each.dtype) for each in given], out.dtype)
    if dtype is not None:
        wanted = dtype_of(dtype)
        for each in given:
            check_cast(each.dtype, wanted, casting)
        given = [cast(each, wanted) for each in given]
    try:
        made = _contracted(given, text)
    except ShapeError:  # of sizes that differ, perhaps 1 and another one
        made = _contracted(_broadcast_letters(given, text), text)
    if out is None:
        return result(made)
    return write_out("einsum", out, made, "unsafe" if casting == "unsafe" else "same_kind", broadcasts=False)


def _broadcast_letters(parts: list[Tensor], text: str) -> list[Tensor]:
    """Operands of which an axis of size 1 is as long as that of the same letter elsewhere."""
    terms = text.partition("->")[0].split(",")
    if len(terms) != len(parts) or not any(1 in part.shape for part in parts):
        return parts
    sizes: dict[str, int] = {}
    places = [_letter_places(term, part.ndim) for term, part in zip(terms, parts, strict=True)]
    for part, found in zip(parts, places, strict=True):
        for place, letter in found:
            sizes[letter] = max(sizes.get(letter, 1), part.shape[place])
    made = []
    for part, found in zip(parts, places, strict=True):
        shape = [*part.shape]
        for place, letter in found:
            shape[place] = sizes[letter] if shape[place] == 1 else shape[place]
        made.append(part if tuple(shape) == part.shape else tb.broadcast_to(part, shape))
    return made


def _letter_places(term: str, ndim: int) -> list[tuple[int, str]]:
    """The axes of an operand that have letters: those in front of an ellipsis, and those behind it from the end."""
    before, dots, after = term.partition("...")
    if not dots and len(before) != ndim:
        return []
    return [*enumerate(before), *[(ndim - len(after) + number, letter) for number, letter in enumerate(after)]]


@ready
def _contracted(parts: Arrays, text: str) -> Tensor:
    """The sums of products that a text describes, of bools as logical sums."""
    made: Tensor = tb.einsum(text, *_numeric(*parts))
    return cast(made, bool_) if all(each.dtype is bool_ for each in parts) else made


def _letters(axes: Any) -> str:
    return "".join("..." if each is Ellipsis else chr(97 + each) if each < 26 else chr(39 + each) for each in axes)


def _view_of_letters(x: ndarray, text: str) -> ndarray | None:
    """What `einsum` shows of one operand if it adds up nothing: axes in another order and diagonals; otherwise None."""
    term, arrow, target = text.partition("->")
    count = x.ndim - len(term.replace("...", ""))
    if count < 0 or (count and "..." not in term):
        return None
    more = "".join(map(chr, range(0x100, 0x100 + count)))  # letters for what the ellipsis stands for
    letters = [*term.replace("...", more)]
    if arrow:
        result_letters = target.replace("...", more)
    else:
        once = [each for each in letters if letters.count(each) == 1 and each not in more]
        result_letters = more + "".join(sorted(once))
    if {*letters} != {*result_letters} or len({*result_letters}) != len(result_letters):
        return None
    sizes = {each: {size for letter, size in zip(letters, x.shape, strict=True) if letter == each} for each in letters}
    if any(len(found) > 1 for found in sizes.values()):
        return None
    steps = []
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            others = [place for place in range(len(letters)) if place not in (first, second)]
            steps += [permute_by([*others, first, second]), diagonal_of_last()]
            letters = [*[letters[place] for place in others], letter]
    return step_view(x, chain(*steps, permute_by([letters.index(each) for each in result_letters])))


def _without_ellipsis(text: str, counts: list[int]) -> str:
    """The text of `einsum` with letters for the axes that `...` stands for: NumPy's optimised sum adds over them."""
    term, _arrow, target = text.partition("->")
    free = [letter for letter in ascii_letters if letter not in text]
    made = []
    for each, count in zip(term.split(","), counts, strict=True):
        missing = max(count - len(each.replace("...", "")), 0)
        made.append(each.replace("...", "".join(free[:missing][::-1])))
    return f"{','.join(made)}->{target}"


@public
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order in which NumPy would contract."""
    return numpy.einsum_path(*[host(each) for each in operands], optimize=optimize)


@function
def kron(a: Array, b: Array) -> Array:
    """The Kronecker product."""
    x, y = chosen(box(a), box(b))
    if x.dtype is bool_:
        return cast(tb.kron(cast(x, tb.uint8), cast(y, tb.uint8)), bool_)
    return tb.kron(x, y)


@public
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = chosen(functions["moveaxis"](asarray(a), axisa, -1), functions["moveaxis"](asarray(b), axisb, -1))
    sizes = x.shape[-1], y.shape[-1]
    if not {*sizes} <= {2, 3}:
        text = "Both input arrays must be (arrays of) 3-dimensional vectors, but they are"
        raise ArgumentError(f"{text} {sizes[0]} and {sizes[1]} dimensional instead.")
    if sizes == (2, 2):
        return result(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
    parts = [
        each if each.shape[-1] == 3 else tb.concatenate([each, tb.zeros_like(each[..., :1])], axis=-1)
        for each in (x, y)
    ]
    made = tb.linalg.cross(*tb.broadcast_arrays(*parts), axis=-1)
    return functions["moveaxis"](box(made), -1, axisc) if axisc != -1 else result(made)


@function
def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Out = None) -> Array:
    """The sum of a diagonal."""
    line = tensor(functions["diagonal"](box(a), offset, axis1, axis2))
    wanted = None if dtype is None else dtype_of(dtype)
    return tb.sum(line if wanted is None else cast(line, wanted), axis=-1, dtype=wanted)
