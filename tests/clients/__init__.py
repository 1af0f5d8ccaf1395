"""Clients in other languages are made from the OpenAPI document of today, and work with the Detent of today."""
