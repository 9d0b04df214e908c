"""What a kernel says back: one enumeration, and a radix that follows from it."""

from __future__ import annotations

import pytest

from skodyn.jit import plain
from skodyn.kernels import status
from skodyn.kernels.status import RADIX, Code, decode


def test_the_numbers_that_kernels_take_are_those_of_the_enumeration():
    for code in Code:
        number = getattr(status, code.name)
        assert type(number) is int  # no enumeration inside kernels
        assert number == code


def test_codes_count_from_zero_without_a_gap_and_the_radix_is_their_number():
    assert list(Code) == list(range(len(Code)))
    assert len(Code) == RADIX


@pytest.mark.parametrize("code", list(Code))
def test_a_status_keeps_code_and_body_apart(code):
    for body in (0, 1, 7, 8, 99_999):
        made = plain(status.failure)(int(code), body)
        assert decode(made) == (code, body)
        assert plain(status.code_of)(made) == code


def test_a_further_code_does_not_run_into_the_bodies(monkeypatch):
    monkeypatch.setattr(status, "RADIX", RADIX + 1)
    assert decode(plain(status.failure)(RADIX, 5)) == (RADIX, 5)
