EXCEPTIONS: dict[tuple[str, str], str] = {}
