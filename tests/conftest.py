"""What holds for every test: nothing that it, or a process it started, wrote holds a secret that the run has used."""

from __future__ import annotations

import pytest

from tests import leaks


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """A phase whose captured output or log holds a secret has failed."""
    report = yield
    if report.passed and (leaked := leaks.found("".join(text for _, text in report.sections))):
        report.outcome = "failed"
        report.longrepr = f"a secret was written: {leaked}"
    return report
