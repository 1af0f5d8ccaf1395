"""The steps form: named steps with `needs` and `if`."""
