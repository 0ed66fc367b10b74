"""Templates: a tensor's shape, dtype and names without its data; and the algebra of axis names."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import index
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary, ref

from .caching import module_lock
from .caching.memos import remembers
from .dtypes import DType, DTypeLike, Kind, as_dtype, default_dtype
from .errors import NamesError, ShapeError, TemplateDataError, expected, shown
from .errors.remedies import of_meeting, of_names, of_shape
from .errors.tracebacks import name_in_errors
from .sizes import Size, is_size, source_of

Shape: TypeAlias = tuple[int, ...]
Names: TypeAlias = tuple[str | None, ...]
NamesLike: TypeAlias = Sequence[str | None] | None
"""A name or `None` for each axis; `None` in place of the sequence where no axis is named."""


class _Parts:
    """The attributes of a template, which can be set until it becomes one."""

    __slots__ = ("__weakref__", "dtype", "kind", "names", "shape", "size", "weak")

    shape: Shape
    dtype: DType
    kind: TemplateKind
    """What it has in common with the templates that differ from it in their sizes alone."""
    names: Names
    size: int
    """Number of elements, 1 for a scalar."""
    weak: bool
    """Whether it is that of a Python number, whose dtype yields to the other operands'."""


class Template(_Parts):
    """Shape, dtype and axis names of a tensor, immutable and interned.

    Two equal templates are one object, so templates compare and hash by identity, which makes them
    cheap keys. Raises `ShapeError`, `DTypeError` or `NamesError` for invalid parts.

    >>> t = Template((2, 3), "f32", ("batch", "feature"))
    >>> t
    f32[batch: 2][feature: 3]
    >>> t is Template([2, 3], "float32", ["batch", "feature"])
    True
    >>> t.ndim, t.size, t.nbytes
    (2, 6, 24)
    """

    __slots__ = ()

    def __new__(
        cls, shape: Sequence[int], dtype: DTypeLike, names: Sequence[str | None] | None = None, *, weak: bool = False
    ) -> Template:
        shape = as_shape(shape)
        return intern_template(shape, as_dtype(dtype), as_names(names, len(shape)), weak is True)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Size of the data in bytes, with two 4-bit elements or four 2-bit elements to a byte."""
        dtype = self.dtype
        return self.size * dtype.itemsize if dtype.bits >= 8 else -(-self.size * dtype.bits // 8)

    @property
    def payload_nbytes(self) -> int:
        """Size of the data in bytes with a whole byte for each narrow element, as payloads and `to_binary` hold it."""
        return self.size * self.dtype.itemsize

    def replace(
        self, *, shape: Shape | None = None, dtype: DType | None = None, names: Names | None = None
    ) -> Template:
        """The template with parts exchanged; a new shape of another rank needs new names too."""
        return intern_template(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.names if names is None else names,
        )

    def __repr__(self) -> str:
        sizes = map(source_of, self.shape)  # a text needs no number of a symbolic size
        axes = (f"[{size}]" if name is None else f"[{name}: {size}]"
                for name, size in zip(self.names, sizes, strict=True))  # fmt: skip
        return self.dtype.alias + "".join(axes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(expected("no assignment", "templates are immutable: use replace()", attribute=name))

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return intern_template, (self.shape, self.dtype, self.names, self.weak)


name_in_errors(Template.__new__, "Template")


MAX_AXES: Final = 64
"""The most axes that a tensor may have: as many as NumPy's arrays."""

MAX_BYTES: Final = (1 << 63) - 1
"""The most bytes that a tensor may take: as many as array libraries can count. An empty tensor is measured without its
axes of size 0."""

_FEW_ELEMENTS: Final = MAX_BYTES >> 4
"""So many elements are never too many, whatever their dtype."""


class TemplateKind:
    """What templates that differ only in their sizes have in common: dtype, names and so the number of axes, `weak`.

    Kinds are interned, as templates are.
    """

    __slots__ = ("__weakref__", "by_shape", "dtype", "limit", "names", "weak")

    def __init__(self, dtype: DType, names: Names, weak: bool) -> None:
        self.dtype: Final = dtype
        self.names: Final = names
        self.weak: Final = weak
        self.by_shape: Final[dict[Shape, ref[Template]]] = {}
        """The templates of the kind that exist, and references to some that were freed."""
        self.limit = 256
        """The number of references at which those to freed templates are dropped. A callback for each that is freed
        would take as long as making it."""

    def __repr__(self) -> str:
        axes = ("[]" if name is None else f"[{name}]" for name in self.names)
        return self.dtype.alias + "".join(axes)

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_of_parts, (self.dtype, self.names, self.weak)

    def sweep(self) -> None:
        """Drops the references to templates that were freed; called with the lock held."""
        for shape, reference in list(self.by_shape.items()):
            if reference() is None:
                del self.by_shape[shape]
        self.limit = 2 * len(self.by_shape) + 256


_kinds: WeakValueDictionary[tuple[DType, Names, bool], TemplateKind] = WeakValueDictionary()
remembers("templates in use", lambda: sum(len(kind.by_shape) for kind in list(_kinds.values())), lambda: None)
# Re-entrant, because garbage that is collected while the lock is held may run code that makes templates.
_intern_lock = module_lock(__name__, "_intern_lock")


def kind_of_parts(dtype: DType, names: Names, weak: bool = False) -> TemplateKind:
    """The one kind with these parts, which must be valid.

    Raises `ShapeError` for more axes than a tensor can have.
    """
    key = dtype, names, weak
    kind = _kinds.get(key)
    if kind is None:
        if len(names) > MAX_AXES:
            raise ShapeError(expected(f"a tensor of at most {MAX_AXES} axes", axes=len(names)))
        with _intern_lock:
            kind = _kinds.setdefault(key, TemplateKind(dtype, names, weak))
    return kind


def intern_template(shape: Shape, dtype: DType, names: Names, weak: bool = False) -> Template:
    """The one template with these parts, which must already be valid (`Template(...)` checks).

    Raises `ShapeError` for more axes or bytes than a tensor can have.
    """
    size: Any
    for size in shape:
        if size.__class__ is Size:
            return _symbolic(size, shape, kind_of_parts(dtype, names, weak))
    return template_of_kind(kind_of_parts(dtype, names, weak), shape)


def template_of_kind(kind: TemplateKind, shape: Shape) -> Template:
    """The one template of a kind with a shape, which must be a valid one of as many axes.

    Raises `ShapeError` for more bytes than a tensor can have.
    """
    reference = kind.by_shape.get(shape)
    if reference is not None:
        template = reference()
        if template is not None:
            return template
    return new_template(kind, shape)


def new_template(kind: TemplateKind, shape: Shape) -> Template:
    """Returns `template_of_kind` for a shape that no template is known to have."""
    size, known = math.prod(shape), kind.by_shape
    if not 0 < size <= _FEW_ELEMENTS:
        _check_size(shape, kind.dtype)
    template = _make(kind, shape, size)
    fresh = ref(template)
    if known.setdefault(shape, fresh) is fresh and len(known) <= kind.limit:  # without the lock, as it is one step
        return template
    with _intern_lock:
        held = known.get(shape)
        kept = None if held is None else held()  # another thread's, made in the meantime, or None where it was freed
        if kept is None:
            known[shape] = fresh
            kept = template
        if len(known) > kind.limit:
            kind.sweep()
    return kept


def _make(kind: TemplateKind, shape: Shape, size: int) -> Template:
    """A new template: its parts are set, and then it is immutable."""
    template: Any = _Parts()
    template.shape = shape
    template.dtype = kind.dtype
    template.kind = kind
    template.names = kind.names
    template.size = size
    template.weak = kind.weak
    template.__class__ = Template  # which takes half the time of setting each attribute past `Template.__setattr__`
    return template  # type: ignore[no-any-return] # see the line above


def _symbolic(size: Size, shape: Shape, kind: TemplateKind) -> Template:
    """A template with symbolic sizes, which belongs to their trace alone."""
    key = (kind, *map(source_of, shape))
    templates = size.trace.templates
    if key not in templates:
        templates[key] = _make(kind, shape, math.prod(shape))
    template: Template = templates[key]
    return template


def is_symbolic_template(template: Template) -> bool:
    """Whether a size of the template is symbolic, so that no memo may hold it."""
    return any(map(is_size, template.shape))


def _check_size(shape: Shape, dtype: DType) -> None:
    """Raises `ShapeError` for a size that array libraries do not support; their own errors differ, or are missing."""
    if math.prod(size for size in shape if size) * dtype.itemsize > MAX_BYTES:
        remedy = "the other axes count even if one has size 0" if 0 in shape else ""
        raise ShapeError(expected("a tensor of less than 2**63 bytes", remedy, shape=shape, dtype=dtype))


def is_deep(value: object) -> bool:
    """Whether containers nest deeper than a tensor may have axes, as a list that contains itself does.

    >>> is_deep([[1, 2], [3, 4]])
    False
    """
    level: dict[int, Any] = {id(value): value}
    for _ in range(MAX_AXES + 1):
        level = {id(part): part for container in level.values() for part in _parts(container)}
    return bool(level)


def _parts(value: Any) -> Iterable[Any]:
    """The parts of a container that may be containers."""
    several = value.values() if isinstance(value, Mapping) else value
    known = isinstance(value, Mapping | list | tuple | set | frozenset)
    return [part for part in several if isinstance(part, Collection) and type(part) is not str] if known else ()


def weak_template(kind: Kind) -> Template:
    """The template of a Python number of a kind, with that kind's default dtype for now."""
    return intern_template((), default_dtype(kind), (), weak=True)


def as_int(value: object) -> int | None:
    """A Python int for an int, a NumPy integer or an integer tensor without axes; `None` for anything else.

    Raises `TemplateDataError` for a template tensor, which has no number.

    >>> as_int(2), as_int(True), as_int(2.0)
    (2, None, None)
    """
    if value.__class__ is Size:
        return value  # type: ignore[return-value] # it stands for an int
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type] # or a TypeError
    except TemplateDataError:
        raise
    except TypeError:
        return None


def as_shape(shape: Sequence[int] | int) -> Shape:
    """A shape as a tuple of Python ints; `ShapeError` unless all are integers of at least 0.

    >>> as_shape([2, 3]), as_shape(4)
    ((2, 3), (4,))
    """
    several = (
        shape if isinstance(shape, Sequence) and not isinstance(shape, bytes | bytearray | memoryview) else (shape,)
    )
    sizes = tuple([size for size in map(as_int, several) if size is not None])
    if len(sizes) < len(several):
        raise ShapeError(expected("a shape of integers", shape=shape), remedies=of_shape(shape))
    if any(size < 0 for size in sizes):
        raise ShapeError(expected("a shape without negative sizes", shape=sizes))
    return sizes


def as_names(names: Sequence[str | None] | None, ndim: int) -> Names:
    """Axis names as a tuple with one for each axis, all `None` if none are given; a string is the name of one axis.

    Raises `NamesError` for another number of names than axes, for an invalid name, or for one name twice.

    >>> as_names(["batch", None], 2), as_names(None, 2), as_names("batch", 1)
    (('batch', None), (None, None), ('batch',))
    """
    if names is None:
        return (None,) * ndim
    if isinstance(names, str) and ndim == 1:
        names = (names,)
    elif isinstance(names, str):
        parts = tuple(names.replace(",", " ").split())
        likely = next((some for some in (parts, tuple(names)) if len(some) == ndim), parts)
        raise NamesError(expected("a sequence of names, one for each axis", of_names(likely, ndim), names=names))
    if not isinstance(names, Sequence):
        raise NamesError(expected("a list or tuple of names, which has an order", names=names))
    names = tuple(names)
    first: Any = names[0] if names else None
    if len(names) != ndim or isinstance(first, Mapping):
        remedy = of_names(names, ndim)
        if isinstance(first, Mapping):
            pairs = [f"{old}={new!r}" for old, new in first.items() if isinstance(old, str)]
            remedy = f"write {', '.join(pairs)}" if len(pairs) == len(first) else "write all names by position"
        elif len(names) == 1 and isinstance(first, list | tuple):
            remedy = f"write {', '.join(map(shown, first))}, one by one"
        raise NamesError(expected(f"{ndim} names, one for each axis", remedy, names=names))
    for name in names:
        if name is not None and (not isinstance(name, str) or not name):
            raise NamesError(expected("each name to be a non-empty str or None", name=name))
    return check_unique(names, given=True)


def check_unique(names: Names, operand: str = "", *, given: bool = False) -> Names:
    """The names themselves; `NamesError` if one occurs twice, which a user may have given.

    For instance, the names of the `matmul` of `[n][k]` with `[k][n]` would be `[n][n]`. The error advises to rename an
    axis of `operand` where that is the remedy.
    """
    present = [name for name in names if name is not None]
    if len(set(present)) != len(present):
        remedy, twice = "rename one of them with rename()", next(name for name in present if present.count(name) > 1)
        if operand and twice.isidentifier():
            remedy = f"write {operand}.rename({twice}={twice + '2'!r}) for one of the operands"
        if given:
            remedy = of_names(names, len(names))
        raise NamesError(expected("each name once in a tensor", remedy, names=names))
    return names


def check_meeting(
    names: Names,
    others: Names,
    left: Template,
    right: Template,
    remedy: Callable[[Template, Template], str] | None = None,
) -> None:
    """Raises `NamesError` if axes of two operands that are summed or equated have different names."""
    for name, other in zip(names, others, strict=True):
        if name is not None and other is not None and name != other:
            text = (remedy and remedy(left, right)) or "rename() one of them, or transpose it"
            raise NamesError(expected("the same name or None for matching axes", text, left=left, right=right))


def merge_names(left: Template, right: Template, shown: tuple[Template, Template] | None = None) -> Names:
    """Names of an elementwise result: aligned from the right, a name matches the same name or `None`.

    For `[batch: 2][feature: 3]` and `[feature: 3]` they are `("batch", "feature")`. Raises `NamesError` for two
    different names on one axis, and for a result with one name twice. The error shows `left` and `right`, or the
    operands in `shown` of which these are parts.
    """
    a, b = left.names, right.names
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    merged = list(longer)
    for position in range(1, len(shorter) + 1):
        name, other = longer[-position], shorter[-position]
        if name is None:
            merged[-position] = other
        elif other is not None and other != name:
            left, right = shown or (left, right)
            remedy = of_meeting(a, b, whole=shown is None)
            raise NamesError(expected("the same name or None for matching axes", remedy, left=left, right=right))
    return check_unique(tuple(merged), "y")
