"""The engine: owns runs, carries out their steps, and makes everything durable before anything follows from it.

`engine` supervises nodes, a `node` is one registration with its `committer` (group commit), `runner` (runs in memory),
`timers` and pollers (`claims`, `mailbox`, `watch`). `commands` is what every door calls. Plain asyncio, no threads, so
that the simulator runs this very code.
"""
