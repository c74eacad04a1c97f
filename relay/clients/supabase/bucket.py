"""The `MediaStore` port: a private bucket of Supabase Storage."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import structlog

log = structlog.get_logger()

NAME = "relay-media"
SECONDS = 60.0
"""The time limit for an upload or download of one file, in seconds."""
CONTENT = {"content-type": "application/octet-stream", "upsert": "true"}


class Bucket:
    """Stores files by id. The bucket is created at first use, and only the service role can read it. A public bucket
    is not used."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/").removesuffix("/rest/v1")
        self._key = key.strip()
        self._private: bool | None = None
        """None: unknown."""

    async def get(self, unique_id: str) -> bytes | None:
        try:
            async with asyncio.timeout(SECONDS), self._storage() as storage:
                if not await self._is_private(storage):
                    return None
                content: bytes = await storage.from_(NAME).download(unique_id)
                return content
        except Exception as error:  # the package raises unrelated kinds of errors
            log.debug("a kept file could not be read", error=type(error).__name__)
            return None

    async def put(self, unique_id: str, content: bytes) -> None:
        try:
            async with asyncio.timeout(SECONDS), self._storage() as storage:
                if await self._is_private(storage):
                    await storage.from_(NAME).upload(unique_id, content, CONTENT)
        except Exception as error:
            self._private = None
            log.warning("a file was not kept", error=type(error).__name__)

    async def remove(self, unique_ids: Sequence[str]) -> bool:
        try:
            async with asyncio.timeout(SECONDS), self._storage() as storage:
                await storage.from_(NAME).remove(list(unique_ids))
        except Exception as error:
            if str(getattr(error, "status", "")) == "404":  # no such bucket, so nothing was stored
                return True
            log.warning("kept files cannot be removed", error=type(error).__name__)
            return False
        return True

    async def _is_private(self, storage: Any) -> bool:
        """Tests whether the bucket, created if missing, is private. The log says once if not."""
        if self._private is None:
            with contextlib.suppress(Exception):  # it exists already
                await storage.create_bucket(NAME, options={"public": False})
            self._private = not (await storage.get_bucket(NAME)).public
            if not self._private:
                log.error(
                    f"files are not kept: everybody can read the bucket {NAME}; make it private in Supabase, under "
                    "Storage, and restart"
                )
        return self._private

    @contextlib.asynccontextmanager
    async def _storage(self) -> AsyncIterator[Any]:
        """Opens the storage part of Supabase's client."""
        module = await asyncio.to_thread(importlib.import_module, "supabase")
        async with httpx.AsyncClient(timeout=httpx.Timeout(SECONDS, connect=5), http2=False) as http:
            options = module.AsyncClientOptions(auto_refresh_token=False, persist_session=False, httpx_client=http)
            yield (await module.acreate_client(self._url, self._key, options)).storage
