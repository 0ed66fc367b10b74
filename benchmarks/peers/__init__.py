"""tensorbackend and other libraries on the same programs: `make peers`, which writes docs/performance.jsonl."""
