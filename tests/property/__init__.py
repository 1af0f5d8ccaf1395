"""Requests of every kind to every route of our OpenAPI document, held to what that document says of their answers."""
