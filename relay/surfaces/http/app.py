"""The HTTP application: the API, the app's files, and the document that describes the API."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from relay.surfaces.http.access.guard import Guard
from relay.surfaces.http.access.idempotency import Idempotency
from relay.surfaces.http.api import changes, docs, events, history, me, memories, preferences, reminders, session
from relay.surfaces.http.api.contexts import compositions, library, projects, pruning, sessions, versions
from relay.surfaces.http.caller import ApiCore
from relay.surfaces.http.files import add_files
from relay.surfaces.http.problems import add_handlers, problems

ROUTERS: tuple[APIRouter, ...] = (
    me.router,
    changes.listing,
    memories.router,
    changes.router,
    preferences.router,
    reminders.router,
    history.router,
    events.router,
    docs.router,
    projects.router,
    sessions.router,
    versions.router,
    pruning.router,
    compositions.router,
    library.router,
)
"""The routes for those who are signed in, in order: if two match a path, the first one counts."""
REFUSALS = (400, 401, 403, 404, 409, 422, 429, 503)
"""The statuses of their problem documents."""


def make_app(core: ApiCore) -> FastAPI:
    """Makes the application."""
    app = FastAPI(
        title="Relay",
        version=core.services.installation.version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: f"{route.tags[0]}_{route.name}" if route.tags else route.name,
    )
    app.state.core = core
    app.add_middleware(Idempotency)
    app.add_middleware(Guard)
    app.router.redirect_slashes = False
    add_handlers(app)
    app.include_router(session.router, prefix="/api", responses=problems(400, 401, 422, 503))
    for router in ROUTERS:
        app.include_router(router, prefix="/api", responses=problems(*REFUSALS))
    app.include_router(reminders.feed, responses=problems(404, 429, 503))
    add_files(app)
    return app
