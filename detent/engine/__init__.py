"""The engine: owns runs, runs their steps, and makes everything durable before anything follows from it.

`engine` supervises nodes. A `node` is one registration with its `committer` (group commit), its `runner` (runs in
memory), `timers`, and pollers (`claims`, `inbox`, `background`). Plain asyncio, no threads, so that the simulator runs
this code.
"""
