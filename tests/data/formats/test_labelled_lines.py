"""Threads of a generator that is left."""

from threading import Event

from novikoff.data.formats.labelled_lines import workers


def test_early_exit_cancels_queued_work_without_waiting():
    go_on, begun, done = Event(), Event(), []

    def work():
        begun.set()
        assert go_on.wait(60)
        done.append(1)

    def generator():
        with workers(1, "test") as threads:
            threads.submit(work)
            threads.submit(done.append, 2)
            yield

    left = generator()
    next(left)
    assert begun.wait(60)
    left.close()  # would wait for ever, if it waited
    assert done == []
    go_on.set()
