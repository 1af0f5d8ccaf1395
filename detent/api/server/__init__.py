"""The web server: listener, limits per connection, the fast path of starts and callbacks, and guards."""
