"""A small part of the campaign of faults in every test run; ``make faults`` does all of it."""

from .campaign import BAD, carry_out


def test_nothing_is_lost_or_silently_changed_and_nothing_hangs(tmp_path):
    done = carry_out(tmp_path, n_tries=40, seed=0)
    assert not done.problems, "\n\n".join([*done.problems, done.report()])
    assert sum(n for (_, verdict), n in done.counts.items() if verdict not in BAD) >= 40
