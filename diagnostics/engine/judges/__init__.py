"""One subject = one file: structures in, observations out."""
