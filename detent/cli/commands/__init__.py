"""One module per command, in packages by noun. It is imported when the command is called."""
