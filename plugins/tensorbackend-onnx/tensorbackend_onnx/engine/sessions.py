"""Sessions of ONNX Runtime, and their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx import parser
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.protocol import Kernel, Payload

from .differences import OPSET

Provider = tuple[str, tuple[tuple[str, str], ...]]
"""The name of one of ONNX Runtime's execution providers, and its options as pairs."""

CPU: Final[Provider] = ("CPUExecutionProvider", ())
SUFFIX: Final = "ExecutionProvider"


class Refused(Exception):
    """ONNX Runtime makes no session of a model."""


def devices(runtime: Any) -> dict[str, str]:
    """The providers that are installed, by short names: "cpu", "cuda", "webgpu", ..."""
    names = [*runtime.get_available_providers()]
    names += [device.ep_name for device in runtime.get_ep_devices()] if hasattr(runtime, "get_ep_devices") else []
    return {name.removesuffix(SUFFIX).lower(): name for name in reversed(names)}


def provider_of(runtime: Any, device: str) -> Provider:
    """The provider of a device's name; `ArgumentError` if it is not installed."""
    known = devices(runtime)
    name = known.get(device.lower())
    if name is None:
        remedy = f"install the distribution of onnxruntime that has it; here are {', '.join(sorted(known))}"
        raise ArgumentError(expected("a device of onnxruntime", remedy, device=device))
    return name, ()


def session_of(runtime: Any, model: bytes, providers: Sequence[Provider], threads: int) -> Any:
    """A session of a model; operators that no provider has run on the CPU. `Refused` if that has none either."""
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # what is wrong is raised
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    registered = {*runtime.get_available_providers()}
    plain = [(name, dict(pairs)) for name, pairs in providers if name in registered]
    for name, pairs in providers:
        if name not in registered:  # of a library that was registered
            found = [device for device in runtime.get_ep_devices() if device.ep_name == name]
            options.add_provider_for_devices(found[:1], dict(pairs))
            plain = []
    try:
        given = {"providers": plain, "enable_fallback": 0} if plain else {"enable_fallback": 0}
        return runtime.InferenceSession(model, options, **given)
    except Exception as error:  # its classes are many, and no public module has them
        raise Refused(str(error).strip()) from error


def check_device(runtime: Any, device: str, providers: Sequence[Provider]) -> None:
    """Raises `ArgumentError` if a provider is installed but does not work here, as one without its driver."""
    text = f'<ir_version: 10, opset_import: ["": {OPSET}]> negation (float[1] x) => (float[1] y) {{y = Neg(x)}}'
    model = parser.parse_model(text)
    try:
        session_of(runtime, model.SerializeToString(), providers, 0)
    except Refused as error:
        said = str(error).splitlines()[0].rpartition(" was false. ")[2]  # what follows the condition that failed
        remedy = f"onnxruntime says: {said}"
        raise ArgumentError(expected("a device that onnxruntime can use here", remedy, device=device)) from error


def kernel_of_session(session: Any) -> Kernel:
    """A function of payloads, in the order of the model's inputs, that returns a list of payloads."""
    names = [given.name for given in session.get_inputs()]
    run = session.run
    if len(names) == 1:
        (only,) = names
        return lambda payload: run(None, {only: payload})
    return lambda *payloads: run(None, dict(zip(names, payloads, strict=True)))


def providers_used(session: Any) -> dict[str, int]:
    """How many operators of a session each provider runs, after the engine has joined some."""
    found: dict[str, int] = {}
    if hasattr(session, "get_provider_graph_assignment_info"):
        for part in session.get_provider_graph_assignment_info():
            found[part.ep_name] = found.get(part.ep_name, 0) + len(part.get_nodes())
    return found


def flat(payloads: Sequence[Payload]) -> list[Payload]:
    """Payloads, with those of sequences among them and without those that were left out."""
    found: list[Payload] = []
    for payload in payloads:
        if isinstance(payload, list | tuple):
            found += payload
        elif payload is not None:
            found.append(payload)
    return found
