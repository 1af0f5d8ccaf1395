"""The store on MariaDB or MySQL."""
