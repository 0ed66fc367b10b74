"""`tb.compare`: the first op on which two engines differ by more than its stated accuracy."""
