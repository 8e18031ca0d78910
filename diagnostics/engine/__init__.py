"""The engine: evidence in, findings out. No Django, no clock, no network; it works as a library and from the command line."""
