"""Routes for folders of files: what applying them would change, and the lock on what they manage."""
