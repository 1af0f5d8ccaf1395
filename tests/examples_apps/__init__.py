"""The example projects, run as their readers would: a server, a worker, requests."""
