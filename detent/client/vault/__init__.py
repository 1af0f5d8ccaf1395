"""The operations on sealed values: secrets and credentials. None of them returns a value."""
