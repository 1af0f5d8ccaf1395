"""Commands on workflow files: create, check, test, draw, convert, apply and export them, and run one here."""
