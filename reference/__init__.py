"""The numerics contract in numpy: docs/numerics.md written a second time, from its text alone.

It shares no code with the library and is made to be read beside the text: one module for each concept, no cleverness
but what keeps twelve steps of a training under a minute. tests/reference_check.py compares it with the library.
"""
