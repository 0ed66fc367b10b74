"""Output templates: pure functions from input templates and options to a `Plan`."""
