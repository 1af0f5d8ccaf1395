"""The fault cases Detent answers for, and the tests that show each.

`python -m tests.reliability` writes the table of the documentation.
"""
