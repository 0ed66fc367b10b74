"""What the library remembers: bounded memos, the keys of their entries, and locks that are free in a forked process."""
