"""The lab's server: the page, its requests, and a WebSocket for each page's run."""

import asyncio
import math
import mimetypes
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request, WebSocket
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hull import __version__
from hull.errors import UsageError
from hull.lab import model, theory
from hull.lab.guard import Guard
from hull.lab.model import STANDARD, Catalog, State, read_state
from hull.lab.own import Own, saved
from hull.lab.pages import MOST_PAGES, Pages
from hull.lab.recommended import networks, recommended
from hull.lab.session import MOST_HOPS, MOST_SECONDS
from hull.lab.slots import Limits, Slots

_PAGE = Path(__file__).parent / "page"
_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


def make_app(guard: Guard, limits: Limits, own: Own | None = None) -> ASGIApp:
    """The whole server, with the user's scenario or without one."""
    pages = Pages(guard, own)
    catalog = STANDARD if own is None else own.catalog
    slots = Slots(limits)
    # A page whose token is another server's sees it by this, and does not try it here.
    server = secrets.token_hex(8)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Slots]]:
        watching = asyncio.create_task(slots.watch())
        yield {"slots": slots}
        watching.cancel()
        pages.stop()

    # Its own documentation pages would load scripts from elsewhere, and telemetry would be sent
    # where the environment says.
    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
    )
    # Browsers run modules only with this type, which the system's table may lack.
    mimetypes.add_type("text/javascript", ".js")

    async def admit(request: Request) -> None:
        address = request.client.host if request.client else ""
        seconds = guard.blocked_for(address)
        if seconds:
            wait = str(math.ceil(seconds))
            text = f"too many wrong tokens; wait {wait} s"
            raise HTTPException(429, text, {"Retry-After": wait})
        if not guard.admits(_token(request), address):
            wanted = {"WWW-Authenticate": "Bearer"}
            raise HTTPException(401, "token: wrong; expected the one that hull lab printed", wanted)

    @app.exception_handler(HTTPException)
    async def refuse(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @app.exception_handler(UsageError)
    async def misused(_: Request, error: UsageError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 422)

    @app.get("/")
    async def index() -> FileResponse:
        return FileResponse(_PAGE / "index.html")

    @app.get("/api/model")
    async def get_model(request: Request) -> dict[str, Any]:
        # What the user's file says is for those with the token.
        admitted = guard.token is None or _has_token(request, guard)
        told = own if admitted else None
        limits = {"pages": MOST_PAGES, "hops": MOST_HOPS, "seconds": MOST_SECONDS}
        return {
            "hull_version": __version__,
            **model.as_json(catalog if admitted else STANDARD),
            "limits": limits,
            "token_needed": guard.token is not None,
            "server": server,
            "networks": networks(),
            "admitted": admitted,
            "own": None if told is None else told.as_json(),
        }

    @app.get("/api/scenario", dependencies=[Depends(admit)])
    async def get_scenario(request: Request) -> PlainTextResponse:
        file = {"Content-Disposition": "attachment; filename=lab.toml"}
        text = saved(_state(request, catalog), own)
        return PlainTextResponse(text, headers=file, media_type="application/toml")

    @app.get("/api/theory", dependencies=[Depends(admit)])
    async def get_theory(request: Request) -> dict[str, Any]:
        return theory.predictions(_state(request, catalog))

    @app.get("/api/recommended", dependencies=[Depends(admit)])
    async def get_recommended(request: Request) -> dict[str, float]:
        state = _state(request, catalog)
        return recommended(state.rate, state.rtt, state.mtu, state.flows)

    @app.websocket("/api/live")
    async def live(socket: WebSocket) -> None:
        await pages.serve(socket)

    app.mount("/page", StaticFiles(directory=_PAGE, check_dir=False))
    return _Guarded(app, guard)


def _token(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" else None


def _has_token(request: Request, guard: Guard) -> bool:
    """Whether a request that needs no token has the right one; one without any is no attempt."""
    address = request.client.host if request.client else ""
    token = _token(request)
    return token is not None and not guard.blocked_for(address) and guard.admits(token, address)


def _state(request: Request, catalog: Catalog) -> State:
    pairs = request.query_params.multi_items()
    values: dict[str, object] = dict(pairs)
    if len(values) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise UsageError(f"{model.shown(twice)}: is given twice; expected once")
    # The page's links say as well how it draws, and whose charts come first.
    values.pop("lesson", None)
    if values.pop("y", "linear") not in ("linear", "log"):
        raise UsageError(f"y: {model.shown(dict(pairs)['y'])} is invalid; expected linear, log")
    return read_state(values, catalog)


class _Guarded:
    """Rejects request bodies and requests from other sites, and restricts browsers to this site."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        site = headers.get("sec-fetch-site") if scope["path"].startswith("/api") else None
        refusal = self._guard.refusal(headers.get("host"), headers.get("origin"), site)
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": refusal})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        app = self._app if refusal is None else JSONResponse({"error": refusal}, 403)
        body = headers.get("transfer-encoding") or headers.get("content-length", "0")
        if body != "0":
            # It is not read: the connection ends with the answer.
            error = f"body: {model.shown(body)} is invalid; expected none (content-length: 0)"
            app = JSONResponse({"error": error}, 413, {"Connection": "close"})
        await app(scope, receive, send_guarded)
