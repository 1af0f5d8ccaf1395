"""Where a MariaDB or MySQL database is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from detent.errors import StoreError

_OPTIONS: Final = ("unix_socket", "ssl", "ssl_ca", "charset")


@dataclass(frozen=True)
class Address:
    """Where the database is: `mysql://user:password@host:port/database`, or `?unix_socket=/path` in place of a host.
    `?ssl=true` asks for TLS that the system's authorities vouch for, `?ssl_ca=/path` names others."""

    host: str
    port: int
    user: str
    password: str
    database: str
    unix_socket: str | None = None
    tls: str | None = None  # "" for the system's authorities, or a file of others

    @classmethod
    def parse(cls, url: str) -> Address:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        unknown = sorted(options.keys() - set(_OPTIONS))
        if unknown:
            raise StoreError(
                f"the database's URL has unknown options: {', '.join(unknown)}; known: unix_socket, ssl, ssl_ca"
            )
        if options.get("charset", "utf8mb4") != "utf8mb4":
            raise StoreError(f"charset={options['charset']} cannot hold every text; Detent always speaks utf8mb4")
        database = unquote(parts.path)[1:]
        if not database:
            raise StoreError("the database's URL names no database; write mysql://user@host:3306/detent")
        secure = options.get("ssl", "false").lower() in ("true", "1", "yes", "required")
        try:
            port = parts.port or 3306
        except ValueError as error:
            raise StoreError(f"the database's URL has no good port: {error}") from None
        return cls(
            host=parts.hostname or "127.0.0.1",
            port=port,
            user=unquote(parts.username or "root"),
            password=unquote(parts.password or ""),
            database=database,
            unix_socket=options.get("unix_socket"),
            tls=options.get("ssl_ca", "" if secure else None),
        )

    def __str__(self) -> str:
        return self.unix_socket or f"{self.host}:{self.port}"
