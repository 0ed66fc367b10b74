from collections.abc import Callable
from typing import Any

class Call:
    def __new__(
        cls,
        function: Callable[..., Any],
        calls: dict[Any, Any],
        recover: Callable[..., Any],
        names: tuple[str | None, ...],
        roles: str,
        defaults: tuple[Any, ...],
        positional: int,
        nested: bool,
        precise: bool,
        numbers: bool,
        reflected: bool,
        direct: bool,
        /,
    ) -> Call: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

def configure(
    tensor: type,
    template: type,
    shaped: type,
    wrap: Callable[..., Any],
    option_key: Callable[..., Any],
    atoms: set[type],
    defaults: dict[str, Any],
    constants_at: int,
    result_at: int,
    /,
) -> None: ...
