"""One module per command, loaded when its command is called."""
