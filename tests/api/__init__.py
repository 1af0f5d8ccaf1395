"""The API over real HTTP, before a real engine."""
