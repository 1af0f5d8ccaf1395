"""The command line, in processes of its own."""
