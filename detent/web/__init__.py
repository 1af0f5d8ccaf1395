"""The web page: its files as they were built, and how they are served."""
