"""How a program of the user's reaches Detent: starting runs, holding them, running an engine inside the program.

    run = await detent.start(Signup, hero=user)          # detent.sync.start without an event loop
    print(await run.result(timeout=60))

A process has one door, found by itself: the engine that runs in it, else the Detent that its settings name.
"""
