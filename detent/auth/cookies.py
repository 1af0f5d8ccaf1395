"""Names and attributes of our cookies.

Over TLS a cookie has the prefix `__Host-`: browsers then accept it from this host only, over TLS only. A name without
the prefix is not read there, so that no other host of the domain can plant one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cookies:
    """The cookies of an API at an address. `login` belongs to a browser that signs in."""

    is_secure: bool

    @classmethod
    def of_url(cls, base_url: str) -> Cookies:
        """Return the cookies of an API with this address."""
        return cls(base_url.startswith("https:"))

    @property
    def session(self) -> str:
        return self._name("detent")

    @property
    def login(self) -> str:
        return self._name("detent-login")

    def _name(self, name: str) -> str:
        return f"__Host-{name}" if self.is_secure else name

    def write(self, name: str, value: str, seconds: int) -> str:
        """Return the header that sets a cookie. Zero seconds delete it."""
        secure = "; Secure" if self.is_secure else ""
        return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def read_cookie(header: str, name: str) -> str | None:
    """Return a cookie of a `Cookie` header. Of several with that name the first one counts, as it does in browsers."""
    for part in header.split(";"):
        found, _, value = part.strip().partition("=")
        if found == name:
            return value
    return None
