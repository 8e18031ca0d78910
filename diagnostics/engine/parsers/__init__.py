"""Each parser turns the bytes of one format into a structure, and knows that format when it sees it."""
