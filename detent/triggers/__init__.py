"""Triggers start runs by themselves: at a time, for a request, for an event.

`slots` says when a schedule is due, `signatures` who sent a request, `conditions` whether a firing starts anything:
all three are pure. Whatever fires is first a durable row, so that a node which dies loses none of it.
"""
