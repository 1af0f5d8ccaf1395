"""What a node writes beside the journals of its runs: claims of resource links, and dead letters."""
