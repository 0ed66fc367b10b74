"""What the library remembers: bounded memos, the keys of their entries, and locks that a forked process finds free."""
