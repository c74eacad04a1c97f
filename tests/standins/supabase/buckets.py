"""Supabase Storage: buckets and their objects, as storage-api serves them to a key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.multipart import BodyPartReader


@dataclass(slots=True)
class Buckets:
    """The stored content by bucket and path."""

    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)
    public: dict[str, bool] = field(default_factory=dict)

    async def answer(self, request: web.Request, role: str) -> web.Response:
        """Returns storage-api's answer to a role's request. Errors have HTTP 400, with their own status inside."""
        first, _, rest = request.path.removeprefix("/storage/v1/").partition("/")
        if first == "bucket" and request.method == "POST":
            return self._create(await request.json(), role)
        if first == "bucket" and request.method == "GET":
            return self._described(rest, role)
        name, _, path = rest.partition("/")
        if first == "object" and request.method == "DELETE":
            return self._remove(await request.json(), role, name)
        if first != "object" or not path:
            return _refusal(404, "not_found", "Not Found")
        if request.method == "GET":
            content = self.kept.get(name, {}).get(path) if role == "service_role" else None
            if content is None:
                return _refusal(404, "not_found", "Object not found")
            return web.Response(body=content, content_type="application/octet-stream")
        return await self._put(request, role, name, path)

    def _create(self, body: dict[str, object], role: str) -> web.Response:
        if role != "service_role":
            return _refusal(403, "Unauthorized", "new row violates row-level security policy")
        name = str(body["name"])
        if name in self.kept:
            return _refusal(409, "Duplicate", "The resource already exists")
        self.kept[name], self.public[name] = {}, bool(body.get("public"))
        return web.json_response({"name": name})

    def _described(self, name: str, role: str) -> web.Response:
        if role != "service_role" or name not in self.kept:
            return _refusal(404, "Bucket not found", "Bucket not found")
        limits = {"file_size_limit": None, "allowed_mime_types": None}
        times = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00.000Z")
        told = {"id": name, "name": name, "owner": "", "public": self.public[name], "type": "STANDARD"}
        return web.json_response(told | limits | times)

    def _remove(self, body: dict[str, list[str]], role: str, name: str) -> web.Response:
        """Silently keeps objects that a role may not see."""
        seen = self.kept.get(name, {}) if role == "service_role" else {}
        gone = [path for path in body["prefixes"] if seen.pop(path, None) is not None]
        return web.json_response([{"name": path, "bucket_id": name} for path in gone])

    async def _put(self, request: web.Request, role: str, name: str, path: str) -> web.Response:
        if role != "service_role":
            return _refusal(403, "Unauthorized", "new row violates row-level security policy")
        if name not in self.kept:
            return _refusal(404, "Bucket not found", "Bucket not found")
        if path in self.kept[name] and request.headers.get("x-upsert") != "true":
            return _refusal(409, "Duplicate", "The resource already exists")
        async for part in await request.multipart():
            if isinstance(part, BodyPartReader) and part.name == "file":
                self.kept[name][path] = bytes(await part.read())
        return web.json_response({"Key": f"{name}/{path}", "Id": "00000000-0000-0000-0000-000000000000"})


def _refusal(status: int, error: str, message: str) -> web.Response:
    body = {"statusCode": str(status), "error": error, "message": message}
    return web.Response(status=400, text=json.dumps(body), content_type="application/json")
