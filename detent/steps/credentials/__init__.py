"""Credentials in use: opened by the executor of a step, renewed at their provider, and sent to their hosts only."""
