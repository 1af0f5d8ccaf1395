"""The output of commands: tables, progress and journal lines."""
