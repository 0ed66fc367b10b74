"""PyTorch's modules as functions of tensors: exported by PyTorch as ONNX, imported under their parameters' names."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy
import tensorbackend as tb
from onnx import NodeProto
from tensorbackend.errors import ArgumentError, UnsupportedOp, expected
from tensorbackend.extending import explain_missing

from .errors import MissingOperators
from .files import read_model
from .graph import Place
from .joined import join
from .model import Model, Parameters

if TYPE_CHECKING:
    import torch

_LINE: Final = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_TRACE: Final = "pkg.torch.onnx.stack_trace"
_SCOPES: Final = "pkg.torch.onnx.name_scopes"
OPSET: Final = 23
"""The first version of ONNX's operators with one for each of attention, gelu and normalisations."""


@explain_missing
class TorchFunction:
    """A module as a function of its parameters and inputs; `from_torch` makes one."""

    def __init__(self, module: torch.nn.Module, program: Any, model: Model) -> None:
        self.model = model
        """The ONNX model of the module."""
        self.name = type(module).__name__
        self._program = program
        parameters = dict(module.named_parameters())
        by_identity = {id(x): name for name, x in (*module.named_buffers(), *parameters.items())}
        shared = (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False))
        own = {name: by_identity[id(x)] for name, x in shared}
        self._sources: dict[str, str] = {name: own[name] for name in model.templates if name in own}
        """The parameter or buffer of each initialiser: parameters that modules share have one name."""
        self._constants = {name: x for name, x in model.parameters.items() if name not in own}
        self.parameters: Parameters = {name: _tensor(x) for name, x in parameters.items()}
        """The parameters by their names in the module, in its layouts, on the default backend."""
        self.buffers: Parameters = {
            name: _tensor(x) for name, x in module.named_buffers() if name in {*self._sources.values()}
        }
        """The buffers that the function reads, such as running means; `apply` takes others among the parameters."""

    def __repr__(self) -> str:
        return f"{self.name} with {len(self.parameters)} parameters: {self.model!r}"

    @property
    def templates(self) -> dict[str, tb.Template]:
        """The templates of the parameters, for dry runs."""
        return {name: x.template for name, x in self.parameters.items()}

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The results for the module's own parameters, nested as the module's."""
        return self.apply(_next_to(self.parameters, self._flat(inputs, named)), *inputs, **named)

    def apply(self, parameters: Mapping[str, tb.Tensor], /, *inputs: Any, **named: Any) -> Any:
        """The results for these parameters: a pure function, for `tb.jit`, `tb.grad`, `tb.dry_run` and `tb.fit`.

        Parameters
        ----------
        parameters
            A tensor for each of `parameters`, and for any of `buffers`.
        *inputs, **named
            What the module takes, nested as the examples were.
        """
        absent = self.parameters.keys() - parameters.keys()
        if absent:
            raise ArgumentError(expected("a tensor for each parameter", missing=sorted(absent)[:5]))
        unknown = parameters.keys() - self.parameters.keys() - self.buffers.keys()
        if unknown:
            raise ArgumentError(expected(f"parameters of {self.name}", names=sorted(unknown)[:5]))
        values = self._flat(inputs, named)
        near = [*parameters.values(), *values]
        known = {**_next_to(self.buffers, near), **parameters}
        stored = {name: known[source] for name, source in self._sources.items()}
        results = self.model.apply({**_next_to(self._constants, near), **stored}, *values)
        return self._nested(results if isinstance(results, tuple) else (results,))

    def _flat(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The tensors among inputs, in the order of the model's."""
        from torch.utils import _pytree as pytree

        leaves, tree = pytree.tree_flatten((inputs, named))
        wanted = self._program.call_spec.in_spec
        if tree != wanted:
            remedy = "f.apply(parameters, ...) takes parameters before them" if _is_mapping(inputs[:1]) else ""
            got = {"inputs": _nesting(tree)}
            raise ArgumentError(expected(f"inputs nested as {_nesting(wanted)}", remedy, **got)).named(self.name)
        specs = [spec for spec in self._program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
        return [_placed(leaf) for leaf, spec in zip(leaves, specs, strict=True) if not _is_constant(spec)]

    def _nested(self, results: tuple[Any, ...]) -> Any:
        """The results as the module returns them."""
        from torch.utils import _pytree as pytree

        left = iter(results)
        specs = [spec for spec in self._program.graph_signature.output_specs if spec.kind.name == "USER_OUTPUT"]
        leaves = [spec.arg.value if _is_constant(spec) else next(left) for spec in specs]
        return pytree.tree_unflatten(leaves, self._program.call_spec.out_spec)


def from_torch(
    module: torch.nn.Module,
    /,
    *example: Any,
    dynamic_shapes: Any = None,
    backend: tb.BackendLike = None,
    **named: Any,
) -> TorchFunction:
    """Make a function of tensors of a module of PyTorch, with the module's parameters under their own names.

    PyTorch traces the module with `torch.export` and writes it as ONNX, in evaluation mode: without dropout, and with
    the running means of normalisations. The ops have the lines of the module's source.

    Parameters
    ----------
    module : torch.nn.Module
        The module. It is left as it is.
    *example, **named
        Inputs as the module takes them, PyTorch's tensors. Their sizes are fixed, but for those in `dynamic_shapes`.
    dynamic_shapes : optional
        Which sizes are open, as `torch.export.export` takes it, where names may stand for its `Dim`:
        `({0: "batch"},)` for the first axis of one input.
    backend : Backend, type or str, optional
        The backend of the parameters; by default the default backend.

    Returns
    -------
    TorchFunction
        The function: `apply(parameters, *inputs)` with `parameters`, and a call with the module's own.

    Raises
    ------
    UnsupportedOp
        For what PyTorch cannot export or this importer does not have; the text names the module and the line.
    ArgumentError
        For a module with 2 GiB of parameters or more, which no message of ONNX holds, or with parameters without data.

    Examples
    --------
    >>> import torch, tensorbackend as tb
    >>> function = from_torch(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh()), torch.zeros(2, 3))
    >>> {name: x.shape for name, x in function.parameters.items()}
    {'0.weight': (4, 3), '0.bias': (4,)}
    >>> loss = lambda parameters, x: tb.mean(function.apply(parameters, x) ** 2)
    >>> tb.grad(loss)(function.parameters, tb.ones((2, 3)))["0.bias"].shape
    (4,)
    >>> tb.dry_run(loss, function.templates, "f32[2, 3]", gradient=True).fits("24GB")
    True
    """
    import torch

    _check_examples(module, example, named)
    _check_size(module)
    training = {part: part.training for part in module.modules()}
    try:
        module.eval()
        with _quietly():
            try:
                sizes = _with_dims(dynamic_shapes, {})
                program = torch.export.export(module, example, named or None, dynamic_shapes=sizes)
            except Exception as error:
                in_tuple = len(example) == 1 and isinstance(example[0], tuple)
                raise _refusal(module, error, *_where_traced(module, error), in_tuple=in_tuple) from error
            try:
                exported = _exported(program, dynamic_shapes)
            except Exception as error:
                raise _refusal(module, error, *_where_converted(program, error)) from error
    finally:
        for part, mode in training.items():
            part.training = mode
    chosen = None if backend is None else tb.get_backend(backend)
    record = exported.model_proto
    join(record)
    try:
        model = Model(read_model(record), None, chosen, place=_place_of)
    except MissingOperators as error:
        nodes = [node for node in record.graph.node if node.name and node.name in str(error)]
        places = [f"{place.name} at {place.file}:{place.number}" for node in nodes if (place := _place_of(node))]
        raise MissingOperators(f"{error}; of {', '.join(places) or type(module).__name__}") from error
    with tb.default_backend(chosen) if chosen is not None else tb.default_backend(tb.get_backend()):
        return TorchFunction(module, program, model)


def _exported(program: Any, dynamic_shapes: Any) -> Any:
    """PyTorch's export, by operators that stand for whole ops such as attention where it can write them."""
    import torch

    options: Any = {"dynamo": True, "optimize": False, "verbose": False, "dynamic_shapes": dynamic_shapes}
    try:
        return torch.onnx.export(program, (), **options, opset_version=OPSET)
    except Exception:  # some calls it can write by smaller operators alone
        return torch.onnx.export(program, (), **options)


def _check_size(module: torch.nn.Module) -> None:
    """Raises `ArgumentError` for parameters that the exporter cannot write, before it works for minutes."""
    held = {id(x): x for x in (*module.parameters(), *module.buffers())}.values()
    if any(x.is_meta for x in held):
        raise ArgumentError(
            expected("parameters with data", "make the module on the CPU, of fewer layers", device="meta")
        )
    size = sum(x.numel() * x.element_size() for x in held)
    if size >= 2**31:
        remedy = "make a module of fewer layers, and add what each layer adds"
        raise ArgumentError(
            expected("less than 2 GiB of parameters, which a message of ONNX holds", remedy, bytes=size)
        )


def _with_dims(sizes: Any, known: dict[str, Any]) -> Any:
    """Open sizes with PyTorch's own objects in place of names; one name is one size."""
    if isinstance(sizes, str):
        from torch.export import Dim

        return known.setdefault(sizes, Dim(sizes))
    if isinstance(sizes, dict):
        return {key: _with_dims(size, known) for key, size in sizes.items()}
    return type(sizes)(_with_dims(size, known) for size in sizes) if isinstance(sizes, list | tuple) else sizes


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the exporter's warnings, which are about its own parts."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _tensor(x: torch.Tensor) -> tb.Tensor:
    """A copy of PyTorch's tensor on the default backend."""
    data = x.detach().cpu()
    name = str(data.dtype).partition(".")[2]
    return tb.astype(tb.tensor(data.float().numpy()), name) if name == "bfloat16" else tb.tensor(data.numpy())


def _placed(x: Any) -> Any:
    """An array of a library that has a backend, as a tensor there; anything else as it is."""
    return x if isinstance(x, tb.Tensor | numpy.ndarray) or not hasattr(x, "__dlpack__") else tb.asarray(x)


def _next_to(own: Parameters, others: Sequence[Any]) -> Parameters:
    """A module's own tensors on the backend of others; in a trace as arrays, which follow what is next to them."""
    given = [x for x in others if isinstance(x, tb.Tensor)]
    if not own or not given:
        return own
    if tb.is_concrete(*given):
        return tb.backend_copy(own, tb.backend_of(*given))
    return {name: tb.asarray(numpy.asarray(x)) for name, x in own.items()}


def _is_mapping(inputs: tuple[Any, ...]) -> bool:
    """Whether the first input is a mapping, such as the parameters."""
    return any(isinstance(x, Mapping) for x in inputs)


class _Leaf:
    """What stands for an input where a nesting is shown."""

    def __repr__(self) -> str:
        return "x"


def _nesting(tree: Any) -> str:
    """The nesting of inputs, as a call would have them: `(x, {'mask': x})`."""
    from torch.utils import _pytree as pytree

    inputs, named = pytree.tree_unflatten([_Leaf()] * tree.num_leaves, tree)
    texts = [*map(repr, inputs), *(f"{name}={value!r}" for name, value in named.items())]
    return f"({', '.join(texts)})"


def _check_examples(module: torch.nn.Module, example: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raises `ArgumentError` for examples that the module's signature does not take, or that are not PyTorch's."""
    from inspect import signature

    from torch.utils import _pytree as pytree

    try:
        signature(module.forward).bind(*example, **named)
    except TypeError as error:
        own = {"batch", "dynamic", "dynamic_axes", "input_names", "open"} & named.keys()
        call = "as in from_torch(module, torch.zeros(2, 3))"
        remedy = "open sizes are dynamic_shapes=({0: 'batch'},)" if own else call
        wanted = f"an example of each input of {type(module).__name__}.forward{signature(module.forward)}"
        raise ArgumentError(expected(wanted, remedy, error=str(error))).named("from_torch") from None
    for leaf in pytree.tree_leaves((example, named)):
        if isinstance(leaf, str | tb.Tensor | tb.Template | numpy.ndarray):
            remedy = "as in torch.zeros(2, 3), or torch.as_tensor(x)"
            raise ArgumentError(expected("PyTorch's tensors as examples", remedy, example=leaf)).named("from_torch")


def _is_constant(spec: Any) -> bool:
    """Whether an input or output of an exported program is a number or `None` rather than a tensor."""
    return hasattr(spec.arg, "value")


def _place_of(node: NodeProto) -> Place | None:
    """The line of the module's source that a node comes from, with the part of the module."""
    facts = {fact.key: fact.value for fact in node.metadata_props}
    line = _users_line(facts.get(_TRACE, ""))
    if line is None:
        return None
    scopes = re.findall(r"'([^']*)'", facts.get(_SCOPES, ""))
    return Place(line[0], int(line[1]), scopes[-2] if len(scopes) > 1 and scopes[-2] else node.name)


def _users_line(trace: str) -> tuple[str, str, str] | None:
    """The innermost line of a trace that is not PyTorch's own."""
    lines = _LINE.findall(trace)
    return next((line for line in reversed(lines) if "/torch/" not in line[0]), lines[-1] if lines else None)


def _where_traced(module: torch.nn.Module, error: Exception) -> tuple[str, str]:
    """The innermost part of a module whose code an error of a trace passed through, and its line."""
    import torch

    names = {id(part): name for name, part in module.named_modules()}
    name, line = "", ""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        owner = frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module) and "/torch/" not in frame.f_code.co_filename:
            part = names.get(id(owner), "")
            name = f"{type(owner).__name__} at {part!r}" if part else type(owner).__name__
            line = f"{frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    found = _users_line(str(error)) if not line else None
    return (name, line) if found is None else ("", f"{found[0]}:{found[1]}")


def _where_converted(program: Any, error: Exception) -> tuple[str, str]:
    """The part of a module, and the line, of the node that has no operator of ONNX."""
    named = re.search(r"node %(\w+)", str(error))
    if named is None:
        return "", ""
    # The exporter has taken ops apart, whose parts have names of their own.
    programs = (make() for make in (lambda: program, program.run_decompositions))
    nodes = (node for each in programs for node in each.graph.nodes if node.name == named.group(1))
    node = next(nodes, None)
    if node is None:
        return "", ""
    line = _users_line(node.meta.get("stack_trace") or "")
    stack = [*(node.meta.get("nn_module_stack") or {}).values()]
    path, kind = stack[-1] if stack else ("", "")
    kind = (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
    return f"{kind} at {path!r}" if path else kind, f"{line[0]}:{line[1]}" if line is not None else ""


def _refusal(
    module: torch.nn.Module, error: Exception, part: str, line: str, *, in_tuple: bool = False
) -> UnsupportedOp:
    """The error for a module that PyTorch does not export."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    reason = str(cause).strip().partition("\n")[0]
    where = f"{part or type(module).__name__}{f', {line}' if line else ''}"
    remedy = "; write from_torch(module, *example) for the inputs in a tuple" if in_tuple else ""
    return UnsupportedOp(f"from_torch: expected a module that PyTorch exports, got {where}: {reason}{remedy}")
