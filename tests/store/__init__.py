"""Every store is held to the same truth."""
