"""Large payloads in a store."""
