"""Routes of sealed values: secrets and credentials."""
