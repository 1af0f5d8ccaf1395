"""Large payloads: bodies, inputs, callbacks and outputs over 256 KB.

A payload over 256 KB and up to `DETENT_MAX_BLOB` becomes a *blob*. Its bytes go to their place while they arrive, one
chunk at a time, so a node needs the memory of one chunk for each transfer and not of the payload. The journal has
`{"$blob": id, "size", "type", "sha256"}` instead (`values/blob.py`).

    bytes arrive -> BlobLibrary.save -> a place (database, directory or object store)
                                     -> a row in the database: (tenant, sha256) is unique
    name durable <- uses first       <- the committer, a delivery, a firing (`blobs/uses.py`), a step that saves it
    run deleted  -> the sweep deletes the uses of it, then blobs without a use, then their bytes (`blobs/sweep.py`)

**Content-addressed, by tenant.** A tenant stores the same content once. Another tenant with the same content has a blob
of its own, so no tenant learns what another one has. Every read names the tenant.

**Nothing is lost, nothing is left.** A row (an upload) names the bytes before the first of them is written, in every
place. A use is durable before anything that names the blob is: the committer writes the uses of a flush, and waits for
them, before it sends the flush. A crash in between leaves a use of a run that does not name the blob or does not exist.
Such a use lives as long as that run, or until the next sweep. A name without a blob is never left. A sweep deletes a
blob only if nothing has used, stored or touched it for the grace; see `store/blobs/rows.py` for the races.

**Sealed results.** A step with `sensitive: true` seals its result, and a blob would be readable beside it. So such a
step makes no blob: a large response is truncated, and `context.save` is refused.
"""
