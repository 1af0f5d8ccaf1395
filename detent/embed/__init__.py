"""Detent inside a program: start runs, follow them, run an engine in the same process.

    run = await detent.start(Signup, hero=user)          # detent.sync.start without an event loop
    print(await run.result(timeout=60))

A process has one gateway: to the engine that runs in it, else to the Detent that its settings name.
"""
