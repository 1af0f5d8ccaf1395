"""Measures Detent beside its peer, in one run on one PostgreSQL, taking turns. `python -m bench --help` says how.

Every side works in a process of its own (`detent_node`, `floor`, `peers`), is asked over its standard input what to do
next (`child`, `serving`), and measures itself; `works` decides what is asked, `results` and `table` what is shown.
"""
