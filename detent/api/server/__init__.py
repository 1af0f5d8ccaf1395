"""The web server: the listener, limits per connection, the fast path of starts and callbacks, and the guards."""
