"""Random numbers of distributions that are drawn by rejection, in loops; `tb.random` offers them."""
