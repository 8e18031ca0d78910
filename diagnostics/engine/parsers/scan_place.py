"""Where a literal stands in a block."""

Place = tuple[int, int]  # an offset inside a line, and the index of a literal that the line holds
Block = bytes | memoryview
