"""`Ragged`: padded values with the lengths of some of their axes, and the ops that work position by position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeAlias

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments, check_construction
from ..declarations.op_specs import OPS
from ..dtypes import DType, Scalar
from ..errors import ArgumentError, AxisError, OperandError, ShapeError, expected
from ..expr.tree_containers import register_tree_node
from ..ops.creation.filled import asarray
from ..ops.elementwise import basic, binary
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import logical_and
from ..rules.axes import normalize_axis
from ..template import Names, Shape, Template
from ..tensor import Tensor, TensorLike, public_op
from ..tensor.missing_names import explain_missing
from ..tensor.operators import is_left_to
from .lengths import check_axis, check_equal, laid_out, length_mask, read, spread

INDEPENDENT = ("add", "subtract", "negative", "positive")
"""Ops whose derivatives do not depend on their operands, so that no gradient through them depends on the padding."""


def _unary_method(name: str) -> Callable[[Ragged], Ragged]:
    def method(self: Ragged) -> Ragged:
        return apply(getattr(basic, name), self)

    return method


def _binary_method(name: str, *, reflected: bool = False) -> Callable[[Ragged, Any], Ragged]:
    def method(self: Ragged, other: Any) -> Ragged:
        try:
            return apply(getattr(binary, name), *((other, self) if reflected else (self, other)))
        except OperandError as error:
            if reflected or not is_left_to(other, name):
                error.named(name)
                raise
            return NotImplemented  # type: ignore[no-any-return] # Python then calls the other operand's method

    return method


@explain_missing
@check_construction
class Ragged:
    """A padded tensor with the lengths of some axes for each example.

    `with_lengths` and `from_list` make one. The padding, beyond the lengths, may hold any values; the functions of
    this package ignore it. A `Ragged` is a container of ordinary tensors, so functions of nested tensors
    accept it: `tb.jit`, `tb.vmap`, `tb.tree_map`, `tb.backend_transfer`, `tb.dry_run`.

    Operators work position by position, with numbers, tensors and other `Ragged`s whose axes have the same lengths.

    Parameters
    ----------
    values : Tensor
        The padded values. The axes with lengths have names.
    lengths : mapping of str to Tensor
        For each axis with lengths, an int64 tensor over the axes of the examples. The constructor checks nothing;
        `with_lengths` does.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> values = tb.asarray([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]], names=("batch", "time"))
    >>> x = tb.ragged.with_lengths(values, time=[3, 1])
    >>> x
    ragged f32[batch: 2][time: 3] numpy, time=[3, 1]
    >>> tb.ragged.sum(x * 10, axis="time").tolist()
    [60.0, 40.0]
    """

    __slots__ = ("lengths", "values")

    operand_remedies: ClassVar = {
        "": "use the function of tb.ragged, tb.ragged.apply(function, x) for a function of each position by itself, "
        "or x.filled(0) for the padded values"
    }
    """The remedy in the error message of an op that takes only plain tensors and gets a `Ragged`."""

    values: Tensor
    """The padded values."""
    lengths: Mapping[str, Tensor]
    """The lengths of each axis that has lengths, by the name of the axis."""

    __hash__ = None  # type: ignore[assignment] # == is elementwise
    __array_ufunc__ = None
    """NumPy's operators leave the operation to this class."""

    def __init__(self, values: Tensor, lengths: Mapping[str, Tensor]) -> None:
        self.values = values
        self.lengths = lengths

    # Shape, dtype and names. There is no `backend`: a cached call of an op treats whatever has one as a tensor.

    @property
    def template(self) -> Template:
        """The template of the padded values."""
        return self.values.template

    @property
    def shape(self) -> Shape:
        """Size of each axis; for an axis with lengths, the maximum length."""
        return self.values.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.values.dtype

    @property
    def names(self) -> Names:
        """Name or `None` of each axis."""
        return self.values.names

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.values.ndim

    def size_of(self, axis: str) -> int:
        """The size of the axis with this name."""
        return self.shape[self.names.index(axis)]

    def __repr__(self) -> str:
        shown = {axis: (lengths.template, read(lengths)) for axis, lengths in self.lengths.items()}
        parts = (f", {axis}={data if data is not None else template}" for axis, (template, data) in shown.items())
        return f"ragged {self.template!r} {self.values.backend.name}{''.join(parts)}"

    def __array__(self, *arguments: Any, **options: Any) -> NoReturn:
        """Raises `OperandError`, as the lengths would be lost."""
        raise OperandError(expected("a tensor without lengths", x=self), remedies=self.operand_remedies)

    def __bool__(self) -> NoReturn:
        """Raises `OperandError`: `==` returns a bool for each position."""
        remedy = "reduce it with tb.ragged.all() or tb.ragged.any() along all axes"
        raise OperandError(expected("a tensor of one element as a condition", remedy, x=self))

    def __getitem__(self, key: object) -> NoReturn:
        """Raises `OperandError`, as a key does not respect the lengths."""
        remedy = (
            "use slice_along_axis(), take() or select() of tb.ragged, to_list() for the examples, or x.filled(0)[...]"
        )
        raise OperandError(expected("a tensor without lengths to index", remedy, x=self))

    __iter__ = None
    """Not defined, as for `x[...]`: `to_list` returns the examples."""

    # Parts

    def tensors(self) -> dict[str, Tensor]:
        """The values and the lengths by name, which `tb.save` takes: `with_lengths(**tb.load(path))` is the inverse."""
        return {"values": self.values, **self.lengths}

    def mask(self) -> Tensor:
        """The mask of the positions within the lengths: a bool tensor that broadcasts to the values.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> x = tb.ragged.with_lengths(tb.zeros((2, 3), names=("batch", "time")), time=[3, 1])
        >>> x.mask().tolist()
        [[True, True, True], [True, False, False]]
        """
        mask = mask_in(self, self.template)
        return asarray(True, like=self.values) if mask is None else mask

    def filled(self, value: TensorLike = 0) -> Tensor:
        """The values, with a number in place of the padding.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> x = tb.ragged.from_list([[1, 2], [3]])
        >>> x.filled(-1).tolist()
        [[1, 2], [3, -1]]
        """
        mask = mask_in(self, self.template)
        return self.values if mask is None else where(mask, self.values, value)

    def rename(self, **names: str | None) -> Ragged:
        """The same tensor with other names of axes. Axes with lengths, and axes that lengths are over, must have names.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> tb.ragged.from_list([[1, 2], [3]]).rename(time="frame")
        ragged s64[batch: 2][frame: 2] numpy, frame=[2, 1]
        """
        values = self.values.rename(**names)
        lengths = {}
        for axis, axis_lengths in self.lengths.items():
            new_names = {name: names[name] for name in axis_lengths.names if name in names}
            new = names.get(axis, axis)
            if new is None or None in new_names.values():
                raise ArgumentError(expected("names for axes with lengths and those that lengths are over", **names))
            lengths[new] = axis_lengths.rename(**new_names) if new_names else axis_lengths
        return Ragged(values, lengths)

    # Operators

    __add__ = _binary_method("add")
    __radd__ = _binary_method("add", reflected=True)
    __sub__ = _binary_method("subtract")
    __rsub__ = _binary_method("subtract", reflected=True)
    __mul__ = _binary_method("multiply")
    __rmul__ = _binary_method("multiply", reflected=True)
    __truediv__ = _binary_method("divide")
    __rtruediv__ = _binary_method("divide", reflected=True)
    __floordiv__ = _binary_method("floor_divide")
    __rfloordiv__ = _binary_method("floor_divide", reflected=True)
    __mod__ = _binary_method("remainder")
    __rmod__ = _binary_method("remainder", reflected=True)
    __pow__ = _binary_method("pow")
    __rpow__ = _binary_method("pow", reflected=True)
    __and__ = _binary_method("bitwise_and")
    __rand__ = _binary_method("bitwise_and", reflected=True)
    __or__ = _binary_method("bitwise_or")
    __ror__ = _binary_method("bitwise_or", reflected=True)
    __xor__ = _binary_method("bitwise_xor")
    __rxor__ = _binary_method("bitwise_xor", reflected=True)
    __lt__ = _binary_method("less")
    __le__ = _binary_method("less_equal")
    __gt__ = _binary_method("greater")
    __ge__ = _binary_method("greater_equal")
    __eq__ = _binary_method("equal")  # type: ignore[assignment] # elementwise
    __ne__ = _binary_method("not_equal")  # type: ignore[assignment] # elementwise
    __neg__ = _unary_method("negative")
    __abs__ = _unary_method("abs")
    __invert__ = _unary_method("bitwise_invert")


Either: TypeAlias = Ragged | Tensor
"""A tensor, some of whose axes may have lengths."""

register_tree_node(
    Ragged,
    lambda x: ((x.values, *(x.lengths[axis] for axis in sorted(x.lengths))), tuple(sorted(x.lengths))),
    lambda axes, parts: Ragged(parts[0], dict(zip(axes, parts[1:], strict=True))),
)


# Helpers that the functions share


def as_ragged(x: Any) -> Ragged:
    """x itself if it is a `Ragged`; otherwise x as a `Ragged` without lengths."""
    return x if isinstance(x, Ragged) else Ragged(x if isinstance(x, Tensor) else asarray(x), {})


def ragged_or_tensor(values: Tensor, lengths: Mapping[str, Tensor]) -> Any:
    """A `Ragged`, or the values alone if no axis has lengths."""
    return Ragged(values, dict(lengths)) if lengths else values


def mask_in(x: Ragged, like: Template) -> Tensor | None:
    """The mask of the positions within the lengths, laid out for a template that has x's axes; `None` without
    lengths."""
    mask: Tensor | None = None
    for axis, lengths in x.lengths.items():
        axis_mask = laid_out(length_mask(lengths, axis, x.size_of(axis)), like)
        mask = axis_mask if mask is None else logical_and(mask, axis_mask)
    return mask


def neutral(dtype: DType) -> Scalar:
    """A number at which functions are finite: 1, but 0 for integers, which may be indices, and False for bool."""
    return 1 if dtype.is_inexact else False if dtype.kind == "bool" else 0


def position_of(x: Ragged, axis: Axis) -> int:
    """The position of an axis."""
    return normalize_axis(x.template, axis)


def ragged_axis(x: Ragged, axis: Axis, instead: str) -> str:
    """The name of an axis with lengths; for any other axis, raises `AxisError`, with what to write instead."""
    position = position_of(x, axis)
    name = x.names[position]
    if name is None or name not in x.lengths:
        remedy = f"write {instead}"
        raise AxisError(expected(f"an axis with lengths, one of {sorted(x.lengths)}", remedy, axis=axis))
    return name


def refuse_dependents(x: Ragged, axis: Axis, remedy: str) -> None:
    """Raises `AxisError` for an axis that the lengths of another axis are over."""
    name = x.names[position_of(x, axis)]
    others = [other for other, lengths in x.lengths.items() if name in lengths.names]
    if others:
        expectation = f"an axis other than those that the lengths of {others[0]!r} are over"
        raise AxisError(expected(expectation, remedy, axis=axis))


# Position by position


@check_arguments
def apply(function: Callable[..., Tensor], /, *operands: Ragged | TensorLike) -> Ragged:
    """Call a function that treats each position of the axes with lengths separately, such as `tb.exp` or a dense layer.

    The function gets tensors: the values of each `Ragged`, with a neutral number in the padding, so that padding does
    not affect results or gradients. It may change, drop and add any other axis.

    Parameters
    ----------
    function : function of tensors
        Its result must have the axes with lengths, and the axes that these lengths are over, with the same names and
        sizes. For a function that mixes the positions of such an axis, such as `tb.sum` along it, use the other
        functions of this package.
    *operands : Ragged, Tensor or number
        Operands, which broadcast by position, as in any op. Axes with the same name must have the same lengths in all
        operands.

    Returns
    -------
    Ragged
        A tensor with the lengths of all operands.

    Raises
    ------
    ShapeError
        If an axis has different lengths or sizes in two operands, or another size in the result.
    AxisError
        If the result lacks an axis with lengths.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1.0, 4.0], [9.0]])
    >>> tb.ragged.to_list(tb.ragged.apply(tb.sqrt, x))[0].tolist()
    [1.0, 2.0]
    >>> scale = tb.asarray([[1.0], [10.0]])
    >>> tb.ragged.to_list(x * scale)[1].tolist()
    [90.0]
    """
    raggeds = [operand for operand in operands if isinstance(operand, Ragged)]
    if not raggeds:
        raise OperandError(expected("a Ragged among the operands", "call the function itself", operands=operands))
    lengths, sizes = common_lengths(raggeds)
    name = getattr(function, "__name__", "")
    elementwise = name in OPS and OPS[name].family == "elementwise" and public_op(name) is function

    def argument(x: Any) -> Any:
        """The argument of the function for an operand."""
        if elementwise and name in INDEPENDENT:
            return x.values if isinstance(x, Ragged) else x
        if isinstance(x, Ragged):
            return x.filled(neutral(x.dtype))
        return _neutralise_padding(x, raggeds) if elementwise else x

    result = function(*map(argument, operands))
    if not isinstance(result, Tensor):
        raise OperandError(expected("a function that returns a tensor", returned=type(result)))
    for axis, axis_lengths in lengths.items():
        check_axis(result, axis, sizes[axis], axis_lengths)
    return Ragged(result, {axis: spread(axis_lengths, result) for axis, axis_lengths in lengths.items()})


def _neutralise_padding(x: Any, raggeds: Sequence[Ragged]) -> Any:
    """Replace an operand without lengths by a neutral number at the padding, if it varies along a masked axis.

    Its gradient is a sum over positions: a padded position must not add the NaN of 0 times an infinite derivative.
    """
    if not isinstance(x, Tensor) or not x.dtype.is_inexact or not x.ndim:
        return x
    for ragged in raggeds:
        mask = mask_in(ragged, ragged.template)
        if mask is None:
            continue
        shared = min(x.ndim, mask.ndim)
        covered = zip(x.shape[x.ndim - shared :], mask.shape[mask.ndim - shared :], strict=True)
        if any(size != 1 and masked != 1 for size, masked in covered):
            x = where(mask, x, neutral(x.dtype))
    return x


def common_lengths(operands: Sequence[Ragged]) -> tuple[dict[str, Tensor], dict[str, int]]:
    """The lengths and the sizes of all axes with lengths; raises `ShapeError` if they differ between operands."""
    lengths: dict[str, Tensor] = {}
    sizes: dict[str, int] = {}
    for x in operands:
        for axis, axis_lengths in x.lengths.items():
            size = x.size_of(axis)
            if axis in lengths:
                check_equal(axis, lengths[axis], axis_lengths)
                if sizes[axis] != size:
                    remedy = f"bring both to one size with resize(x, size, axis={axis!r})"
                    raise ShapeError(
                        expected(f"one size of the axis {axis!r} in all operands", remedy, left=sizes[axis], right=size)
                    )
            else:
                lengths[axis], sizes[axis] = axis_lengths, size
    return lengths, sizes
