"""The retry policy."""

from __future__ import annotations

from relay.core.retry import RetryPolicy


async def test_work_given_as_a_lambda_is_awaited_and_retried() -> None:
    tries: list[int] = []

    async def work(number: int) -> str:
        tries.append(number)
        if len(tries) < 3:
            raise ValueError("not yet")
        return "done"

    assert await RetryPolicy(first=0, longest=0).run(lambda: work(7), (ValueError,)) == "done"
    assert tries == [7, 7, 7]
