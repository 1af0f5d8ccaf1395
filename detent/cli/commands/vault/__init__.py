"""Commands on sealed values: secrets and credentials."""
