"""Commands on sealed values: secrets and credentials. Callers set them and see their names, never their values."""
