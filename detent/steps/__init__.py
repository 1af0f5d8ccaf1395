"""Executors of steps. `protocol` is their contract; each other module is one kind of step, or a part of one."""
