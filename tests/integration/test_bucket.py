"""Tests the media store in a project's storage: files are complete and private, and never delay an answer."""

from __future__ import annotations

import httpx
import pytest
import structlog

from relay.clients.supabase.bucket import NAME, Bucket
from tests.standins.supabase import SupabaseProject


async def test_a_file_is_stored_and_read_again(project: SupabaseProject) -> None:
    bucket = Bucket(f"{project.url}/rest/v1", f" {project.service_key}\n")
    content = bytes(range(256)) * 4000
    assert await bucket.get("AgADxyz") is None
    await bucket.put("AgADxyz", content)
    await bucket.put("AgADxyz", content)
    assert await bucket.get("AgADxyz") == content
    assert project.gateway.buckets.public == {NAME: False}
    again = Bucket(project.url, project.secret_key)
    await again.put("AgADother", b"x")
    assert await again.get("AgADother") == b"x"
    assert await again.remove(["AgADother", "AgADother-still"])
    assert await again.get("AgADother") is None
    assert await again.get("AgADxyz") == content


async def test_removing_files_creates_no_bucket(project: SupabaseProject) -> None:
    buckets = project.gateway.buckets
    buckets.kept.clear()
    buckets.public.clear()
    assert await Bucket(project.url, project.service_key).remove(["AgADxyz"])
    assert not buckets.public


async def test_other_roles_can_neither_read_nor_write_the_bucket(project: SupabaseProject) -> None:
    await Bucket(project.url, project.service_key).put("AgADxyz", b"content")
    stranger = Bucket(project.url, project.anon_key)
    assert await stranger.get("AgADxyz") is None
    await stranger.put("AgADxyz", b"changed")
    assert await Bucket(project.url, project.service_key).get("AgADxyz") == b"content"


async def test_unavailable_storage_raises_no_error(project: SupabaseProject) -> None:
    nowhere = Bucket("http://127.0.0.1:9", project.service_key)
    await nowhere.put("AgADxyz", b"content")
    assert await nowhere.get("AgADxyz") is None
    async with httpx.AsyncClient() as http:
        assert (await http.get(f"{project.url}/storage/v1/object/{NAME}/AgADxyz")).status_code == 400


async def test_a_public_bucket_is_not_used(project: SupabaseProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.clients.supabase.bucket.log", structlog.get_logger())
    buckets = project.gateway.buckets
    buckets.kept[NAME], buckets.public[NAME] = {"AgADold": b"content"}, True
    with structlog.testing.capture_logs() as logs:
        bucket = Bucket(project.url, project.service_key)
        for _ in range(3):
            assert await bucket.get("AgADold") is None
            await bucket.put("AgADxyz", b"content")
    assert set(buckets.kept[NAME]) == {"AgADold"}
    (told,) = (one["event"] for one in logs if one["log_level"] == "error")
    assert "everybody can read the bucket relay-media" in told
