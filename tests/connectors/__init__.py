"""The connectors in Python: e-mail, SQL, S3 and notifications, each against a server that speaks its protocol."""
