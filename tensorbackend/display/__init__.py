"""Tensors as text and as pictures."""

from .text import ends as ends
from .text import heading as heading
from .text import plain_table as plain_table
from .text import show as show
from .text import show_elements as show_elements
from .text import table as table
from .text import terminal_width as terminal_width
