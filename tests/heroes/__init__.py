"""Heroes, seen from several processes."""
