"""Certificates for tests, made with the openssl command: an authority, and servers it vouches for or not."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Authority:
    """A certificate authority that lives in a folder."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "ca.pem"

    def server(self, name: str, *, expired: bool = False, is_self_signed: bool = False) -> ssl.SSLContext:
        """A server's side of TLS, with a certificate for this name."""
        key, request, certificate = (self.folder / f"{name}.{expired}.{kind}" for kind in ("key", "csr", "pem"))
        names = self.folder / "names"
        names.write_text(f"subjectAltName=DNS:{name}\n")
        _openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            key,
            "-out",
            request,
            "-subj",
            f"/CN={name}",
        )
        signer = ["-signkey", key] if is_self_signed else ["-CA", self.file, "-CAkey", self.folder / "ca.key"]
        days = "-1" if expired else "2"
        _openssl(
            "x509",
            "-req",
            "-in",
            request,
            *signer,
            "-set_serial",
            "7",
            "-days",
            days,
            "-extfile",
            names,
            "-out",
            certificate,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def make_authority(folder: Path) -> Authority:
    _openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=Test authority",
        "-keyout",
        folder / "ca.key",
        "-out",
        folder / "ca.pem",
    )
    return Authority(folder)


def _openssl(*arguments: object) -> None:
    command = ["openssl", *(str(argument) for argument in arguments)]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
