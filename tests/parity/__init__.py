"""What a durable workflow library of this kind is expected to do, line by line, on every store. See `checklist`."""
