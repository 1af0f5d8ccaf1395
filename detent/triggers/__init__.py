"""Triggers start runs: at a time, for a request, for an event.

`forms/schedule` computes slots, `signatures` checks senders and `record` evaluates conditions; all three are pure. A
firing is a durable row before anything else happens, so that a node that dies loses none.
"""
