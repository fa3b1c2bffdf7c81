"""An answer is kept as long as it is among the last 2,048 that were asked for."""

from __future__ import annotations

from dossier.metrics.once import once


def test_the_answers_asked_for_last_are_kept_and_the_oldest_is_dropped() -> None:
    worked_out = []

    @once
    def double(number: int) -> int:
        worked_out.append(number)
        return 2 * number

    numbers = list(range(2_048))
    assert [double(number) for number in numbers + numbers] == [2 * number for number in numbers + numbers]
    assert worked_out == numbers

    # 0 is asked for again, so that 1 is now the oldest and gives way to one more.
    assert [double(number) for number in (0, 2_048, 2_048, 0, 2)] == [0, 4_096, 4_096, 0, 4]
    assert worked_out == [*numbers, 2_048]
    assert double(1) == 2
    assert worked_out == [*numbers, 2_048, 1]
