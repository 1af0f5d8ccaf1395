"""Load over HTTP by wrk, in a process of its own and not in Python, so that it costs the measured side little."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 64
PATIENCE = 120.0

_SCRIPT = """
local body = %s
local headers = {["Content-Type"] = "application/json"}
for name, value in string.gmatch(%s, "([^:\\n]+): ([^\\n]+)") do headers[name] = value end
local paths = {}
local file = io.open(%s)
for line in file:lines() do paths[#paths + 1] = line end
file:close()
local at = 0
request = function()
  at = at %% #paths + 1
  return wrk.format("POST", paths[at], headers, body)
end
done = function(summary, latency, requests)
  io.write(string.format('{"requests": %%d, "us": %%d, "p50": %%d, "p99": %%d, "refused": %%d, "broken": %%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


class NoWrk(RuntimeError):
    """wrk is not installed."""


@dataclass(frozen=True)
class Load:
    """What wrk saw. `refused` were not answered with 2xx, `broken` not at all."""

    requests: int
    seconds: float
    p50: float
    p99: float
    refused: int
    broken: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def post(
    url: str,
    paths: list[str],
    body: str,
    *,
    seconds: float,
    folder: Path,
    connections: int = CONNECTIONS,
    headers: Mapping[str, str] | None = None,
) -> Load:
    """POST to these paths, one after the other and over again, from so many connections."""
    wrk = shutil.which("wrk")
    if wrk is None:
        raise NoWrk("wrk is not installed (Debian: apt-get install wrk)")
    listed, script = folder / "paths.txt", folder / "load.lua"
    listed.write_text("\n".join(paths) + "\n")
    more = "".join(f"{name}: {value}\n" for name, value in (headers or {}).items())
    script.write_text(_SCRIPT % (json.dumps(body), json.dumps(more), json.dumps(str(listed))))
    command = [wrk, "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s", str(script), url]
    said = subprocess.run(command, capture_output=True, text=True, timeout=seconds + PATIENCE, check=True).stdout
    facts = json.loads(said.strip().splitlines()[-1])
    return Load(
        facts["requests"], facts["us"] / 1e6, facts["p50"] / 1e6, facts["p99"] / 1e6, facts["refused"], facts["broken"]
    )
