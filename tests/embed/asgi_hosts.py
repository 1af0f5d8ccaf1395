"""Web applications that mount Detent below a path, one for each framework, for `uvicorn --factory`.

Each has `/hello` of its own, and `POST /orders`, which starts a run that waits for an approval. `SHOP_FOLDER` is the
folder of the database; the callback URL of a run is written there. `SHOP_BASE_URL` is where Detent is reached.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import detent

FOLDER = Path(os.environ.get("SHOP_FOLDER", "."))


@detent.workflow(name="approval")
async def approval(run: detent.Run, item: str) -> dict[str, Any]:
    """Write the address of an approval into a file, and wait for its answer."""
    wait = await run.callback("answer")
    await run.step(write_address, wait.url)
    return {"item": item, "answer": await run.wait("answer", timeout="1d")}


def write_address(url: str) -> None:
    (FOLDER / "address.new").write_text(url)
    (FOLDER / "address.new").rename(FOLDER / "address")


def mounted() -> Any:
    return detent.asgi(f"sqlite:///{FOLDER / 'detent.db'}", base_url=os.environ["SHOP_BASE_URL"])


async def order() -> dict[str, str]:
    started = await detent.start(approval, "tea")
    return {"run": started.id}


def fastapi() -> Any:
    from fastapi import FastAPI

    workflows = mounted()
    app = FastAPI(lifespan=workflows.lifespan)
    app.get("/hello")(lambda: "hello")
    app.post("/orders")(order)
    app.mount("/detent", workflows)
    return app


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Mount, Route

    async def hello(request: Request) -> JSONResponse:
        return JSONResponse("hello")

    async def create(request: Request) -> JSONResponse:
        return JSONResponse(await order())

    workflows = mounted()
    routes = [Route("/hello", hello), Route("/orders", create, methods=["POST"]), Mount("/detent", workflows)]
    return Starlette(routes=routes, lifespan=workflows.lifespan)


def litestar() -> Any:
    from litestar import Litestar, asgi, get, post

    @get("/hello")
    async def hello() -> str:
        return json.dumps("hello")

    @post("/orders")
    async def create() -> dict[str, str]:
        return await order()

    workflows = mounted()
    mount = asgi("/detent", is_mount=True, copy_scope=True)(workflows)
    return Litestar([hello, create, mount], lifespan=[workflows.lifespan])


def django() -> Any:
    import django as package
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpRequest, JsonResponse
    from django.urls import path

    async def hello(request: HttpRequest) -> JsonResponse:
        return JsonResponse("hello", safe=False)

    async def create(request: HttpRequest) -> JsonResponse:
        return JsonResponse(await order())

    urls: list[Any] = [path("hello", hello), path("orders", create)]
    settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=tuple(urls), SECRET_KEY="of a test", MIDDLEWARE=[])
    package.setup()
    return mounted().wrap(get_asgi_application(), "/detent")


HOSTS: dict[str, Callable[[], Any]] = {
    "fastapi": fastapi,
    "starlette": starlette,
    "litestar": litestar,
    "django": django,
}


def host() -> Any:
    """The application that `SHOP_FRAMEWORK` names: a factory for uvicorn."""
    return HOSTS[os.environ["SHOP_FRAMEWORK"]]()
