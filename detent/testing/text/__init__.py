"""Tests in text: `files` finds and reads them, `trial` runs one, `comparison` says what differs, `junit` reports.

The real engine runs, on a memory store with a clock that jumps. No effect is made: an HTTP request or an action without
an answer fails the test.
"""
