"""Large payloads as steps use them."""
