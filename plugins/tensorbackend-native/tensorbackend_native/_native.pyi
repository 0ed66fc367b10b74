from typing import Any

# Buffers, which type checkers know from Python 3.12 on.
def encrypt(key: tuple[int, int], first: Any, second: Any, /) -> None: ...
