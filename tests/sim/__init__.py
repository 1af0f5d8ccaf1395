"""The simulator: the engine's own code on simulated time, stores and servers, with every fault we can think of.

A world is small (a few nodes, a few runs, some virtual minutes) and made from one integer; there are many of them. The
rules are checked at every statement and every effect, and the rest when everything was healed.
"""
