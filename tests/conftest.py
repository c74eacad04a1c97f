"""What holds for every test: nothing that it, or a process it started, wrote holds a secret that the run has used. And
a Supabase project for those that want one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import leaks
from tests.standins.supabase import SupabaseProject


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """A phase whose captured output or log holds a secret has failed."""
    report = yield
    if report.passed and (leaked := leaks.found("".join(text for _, text in report.sections))):
        report.outcome = "failed"
        report.longrepr = f"a secret was written: {leaked}"
    return report


@pytest.fixture(scope="module")
def running() -> Iterator[SupabaseProject]:
    """A migrated project for the tests of one file."""
    with SupabaseProject() as project:
        project.migrate()
        yield project


@pytest.fixture
def project(running: SupabaseProject) -> SupabaseProject:
    """The file's project with nothing in it."""
    running.reset()
    return running
