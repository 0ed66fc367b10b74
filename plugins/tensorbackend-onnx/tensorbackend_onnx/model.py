"""A model as a function of tensors."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import tensorbackend as tb
from onnx import ModelProto
from tensorbackend.errors import ArgumentError, TemplateDataError, expected

from .compiler import Compiler, Places
from .constants import read_values
from .files import ModelFile, read_model
from .operators.registry import HOST_ELEMENTS, Run, Value
from .stored import Stored
from .types import Names, TensorType, ValueType, check_fits, value_type, with_names

Parameters = dict[str, tb.Tensor]


class Model:
    """A model, called as a function of its inputs; `load` makes one.

    On JAX a call compiles the whole model for the shapes of its inputs, as each operator would be compiled by itself
    otherwise. A model whose shapes depend on data runs operator by operator there.
    """

    def __init__(
        self,
        file: ModelFile,
        names: Names | None = None,
        backend: tb.Backend | None = None,
        *,
        place: Places | None = None,
    ) -> None:
        graph = file.model.graph
        compiler = Compiler(file, place)
        self._graph = compiler.graph(graph, compiler.opsets, main=True)
        compiler.check()
        stored = {**file.initialisers(), **compiler.constants}
        inputs = {value.name: value for value in graph.input if value.name not in stored}
        self._defaults = {value.name: value_type(value) for value in graph.input if value.name in stored}
        """The types of inputs that have a default, an initialiser of their name."""
        unknown = (names or {}).keys() - inputs.keys()
        if unknown:
            raise ArgumentError(expected(f"names for inputs among {list(inputs)}", names=sorted(unknown)))
        chosen = names or {}
        self.inputs: dict[str, ValueType] = {
            name: value_type(value, chosen.get(name)) for name, value in inputs.items()
        }
        """The type of each input, by name: its dtype, sizes and names of axes."""
        self.outputs: dict[str, ValueType] = {value.name: value_type(value) for value in graph.output}
        """The type of each output, by name."""
        self.opsets: dict[str, int] = compiler.opsets
        """The version of each domain whose operators the model uses."""
        self.operators: tuple[str, ...] = tuple(compiler.kinds)
        """The operator of each node, of graphs inside nodes as well."""
        self.notes: list[str] = []
        """What was special when the model last ran: names of axes that were left away, as they would clash; and why it
        ran operator by operator on JAX."""
        small = {name for name, tensor in stored.items() if tensor.template.size <= HOST_ELEMENTS}
        read = read_values(self._graph, small, {name for name, kind in self.inputs.items() if _may_be_read(kind)})
        self.read_inputs: tuple[str, ...] = tuple(name for name in self.inputs if name in read)
        """The inputs whose numbers decide on shapes or branches, so that a traced call needs their data."""
        host = tb.get_backend("binary")
        self._constants: Parameters = {name: stored[name].on(host) for name in stored if name in read}
        self._stored: dict[str, Stored] = {name: tensor for name, tensor in stored.items() if name not in read}
        self._backend = backend
        self._parameters: dict[tb.Backend, Parameters] = {}
        self._compiled: dict[Any, Any] = {}
        self._not_whole = ""
        """Why the model runs operator by operator on JAX; empty if it does not."""

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind!r}" for name, kind in self.inputs.items())
        outputs = ", ".join(f"{name}: {kind!r}" for name, kind in self.outputs.items())
        return f"model({inputs}) -> {outputs}"

    @property
    def parameters(self) -> Parameters:
        """The initialisers by name, on the backend that `load` was given or the default one, read from the file now.

        Initialisers that say a shape, axes or the like are constants of the model and not among them.
        """
        return self.parameters_on(self._backend or tb.get_backend())

    def parameters_on(self, backend: tb.BackendLike) -> Parameters:
        """The parameters on a backend; they are kept, so that the next call returns the same tensors."""
        chosen = tb.get_backend(backend)
        if chosen not in self._parameters:
            self._parameters[chosen] = {name: tensor.on(chosen) for name, tensor in self._stored.items()}
        return dict(self._parameters[chosen])

    @property
    def templates(self) -> dict[str, tb.Template]:
        """The templates of the parameters, without reading any."""
        return {name: tensor.template for name, tensor in self._stored.items()}

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Compute the outputs: the only one, or a tuple of all.

        Parameters
        ----------
        *inputs, **named
            The inputs in the order of the file or by name: tensors, or what `tb.asarray` takes. An input for which the
            file has a default, an initialiser of its name, may be given by name.
        """
        if self._defaults.keys() & named.keys():
            own = _placed((*inputs, *named.values()))
            return self.apply(self.parameters_on(tb.backend_of(*own) if own else self._backend), *inputs, **named)
        values = self._arranged(inputs, named)
        tensors = _placed(values)
        home = tb.backend_of(*tensors) if tensors else self._home(values)
        concrete = tb.is_concrete(*tensors)
        parameters = self.parameters_on(home if concrete else self._backend)
        if home.name != "jax" or not concrete:
            return self.apply(parameters, *values)
        if not self._not_whole:
            try:
                return self._compiled_call(parameters, values)
            except TemplateDataError as error:
                self._not_whole = f"runs operator by operator on JAX, as shapes depend on data: {error}"
        results = self.apply(parameters, *values)
        self.notes.append(self._not_whole)
        return results

    def apply(self, parameters: Mapping[str, tb.Tensor], *inputs: Any, **named: Any) -> Any:
        """The outputs for these parameters: a pure function, for `tb.jit`, `tb.grad`, `tb.vmap` and `tb.dry_run`.

        Parameters
        ----------
        parameters
            A tensor for each of `model.parameters`.
        *inputs, **named
            The inputs in the order of the file or by name.
        """
        absent = self._stored.keys() - parameters.keys()
        if absent:
            raise ArgumentError(expected("a tensor for each parameter", missing=sorted(absent)[:5]))
        host = tb.get_backend("binary")
        given = {name: self._input(name, named.pop(name)) for name in self._defaults.keys() & named.keys()}
        values = self._arranged(inputs, named)
        tensors = _placed((*values, *parameters.values()))
        home = tb.backend_of(*tensors) if tensors else host
        run = Run(home, [])
        given = {name: _on(value, host if name in self._constants else home) for name, value in given.items()}
        outputs = self._graph(
            [self._known(name, value) for name, value in zip(self.inputs, values, strict=True)],
            run,
            {**self._constants, **{name: parameters[name] for name in self._stored}, **given},
        )
        self.notes = list(dict.fromkeys(run.notes))
        results = tuple(_on(value, home) for value in outputs)
        return results[0] if len(results) == 1 else results

    def _home(self, values: Sequence[Any]) -> tb.Backend:
        """The backend of a call without tensors on any but the reference backend."""
        given = any(isinstance(value, tb.Tensor) for value in values)
        return tb.get_backend("binary") if given else self._backend or tb.get_backend()

    def _arranged(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> list[Value]:
        """The inputs in the order of the file, as tensors of the declared types."""
        if len(inputs) > len(self.inputs):
            raise ArgumentError(expected(f"at most {len(self.inputs)} inputs, {list(self.inputs)}", inputs=len(inputs)))
        given = dict(zip(self.inputs, inputs, strict=False))
        wrong = (named.keys() - self.inputs.keys()) | (named.keys() & given.keys())
        if wrong:
            raise ArgumentError(expected(f"each input once, among {list(self.inputs)}", inputs=sorted(wrong)))
        given |= named
        missing = [name for name, kind in self.inputs.items() if name not in given and isinstance(kind, TensorType)]
        if missing:
            raise ArgumentError(expected("a value for each input", missing=missing))
        return [self._input(name, given.get(name)) for name in self.inputs]

    def _input(self, name: str, value: Any) -> Value:
        declared = self.inputs[name] if name in self.inputs else self._defaults[name]
        if not isinstance(declared, TensorType):
            return _nested(value)
        dtype = None if isinstance(value, tb.Tensor) or hasattr(value, "dtype") else declared.dtype
        tensor = value if isinstance(value, tb.Tensor) else tb.asarray(value, dtype=dtype, backend=self._backend)
        check_fits(name, tensor, declared)
        return with_names(tensor, declared)

    def _known(self, name: str, value: Value) -> Value:
        """An input that decides on shapes is moved to where shapes are computed, if its data is there."""
        small = name in self.read_inputs and isinstance(value, tb.Tensor) and value.size <= HOST_ELEMENTS
        return tb.backend_copy(value, "binary") if small and tb.is_concrete(value) else value

    def _compiled_call(self, parameters: Parameters, values: Sequence[Value]) -> Any:
        """The outputs by one compiled program for each choice of the numbers that decide on shapes."""
        named = dict(zip(self.inputs, values, strict=True))
        fixed = {name: self._known(name, named[name]) for name in self.read_inputs}
        key = tuple((name, str(value), value.tolist()) for name, value in fixed.items() if isinstance(value, tb.Tensor))
        free = {name: value for name, value in named.items() if name not in fixed}

        def applied(parameters: Parameters, free: Mapping[str, Value]) -> Any:
            return self.apply(parameters, *({**free, **fixed}[name] for name in self.inputs))

        if repr(key) not in self._compiled:
            if len(self._compiled) >= 16:
                self._compiled.pop(next(iter(self._compiled)))
            self._compiled[repr(key)] = tb.jit(applied)
        return self._compiled[repr(key)](parameters, free)


def load(
    source: str | os.PathLike[str] | bytes | ModelProto,
    *,
    names: Names | None = None,
    backend: tb.BackendLike = None,
) -> Model:
    """Load an ONNX model as a function of tensors.

    Parameters
    ----------
    source
        The path of a file, its bytes, or ONNX's own record of a model.
    names
        The names of axes of inputs, by input; by default those that the file has for open sizes.
    backend
        The backend of the parameters; by default that of the inputs.

    Returns
    -------
    Model
        The model. Its weights are read when they are first used.

    Raises
    ------
    ModelError
        The file is broken, or what it says has no meaning.
    MissingOperators
        Operators of the model that the importer does not have; the text names all of them.
    """
    return Model(read_model(source), names, None if backend is None else tb.get_backend(backend))


def _placed(values: Sequence[Any]) -> list[tb.Tensor]:
    """The tensors among values that are on another backend than the reference."""
    return [x for x in values if isinstance(x, tb.Tensor) and x.backend.name != "binary"]


def _may_be_read(kind: ValueType) -> bool:
    """Whether an input may hold a shape or a choice: if it has few axes. What has more is data."""
    return not isinstance(kind, TensorType) or kind.shape is None or len(kind.shape) <= 1


def _on(value: Value, home: tb.Backend) -> Value:
    """An output on the backend of the inputs."""
    if isinstance(value, list):
        return [_on(item, home) for item in value]
    return tb.asarray(value, backend=home) if isinstance(value, tb.Tensor) and value.backend != home else value


def _nested(value: Any) -> Value:
    """A sequence or an optional of tensors."""
    if value is None or isinstance(value, tb.Tensor):
        return value
    return [_nested(item) for item in value] if isinstance(value, list | tuple) else tb.asarray(value)
