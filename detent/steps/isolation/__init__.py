"""Isolated actions: each attempt in a process that its time limit ends hard, whatever its code does.

    node  --orders-->  zygote  --fork-->  process of one attempt
    node  <--------- frames over a socket --------->  process

The node starts one *zygote*: a fresh interpreter with one thread and the user's modules loaded. For each attempt it
forks a process, which has its own session, a limit of memory, and one socket to the node. The
node reads frames up to a limit and never to the end of the stream: a grandchild may keep the socket open. Then the
whole group is killed. The zygote is the reaper of all processes below it, so it also ends those that left their group.

`frames` is what they say to each other, `zygote` and `child` run in the other processes, `processes` in the node.
"""
