"""The public JSON: one Struct per noun. Views build it, OpenAPI describes it, and the client decodes it.

A field without a default is always in the JSON. A field with a default is left out while it has that default. So a new
field gets a default, and clients can read the documents of older servers. Instants are `datetime` with a time zone.
"""
