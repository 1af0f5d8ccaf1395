"""Dry runs: what a run would do, decided by the planner, with answers in place of effects. Nothing is written.

`simulation` plays the run and its children, `effects` finds the answers, `part` is the command.
"""
