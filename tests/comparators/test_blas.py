"""Linear algebra has one thread while comparators are fitted, and those it had before afterwards."""

import threadpoolctl

from novikoff.comparators.blas import one_blas_thread


def threads():
    return {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}


def test_every_library_has_one_thread_inside_and_as_many_as_before_outside():
    with one_blas_thread():
        pass  # the libraries are known from now on
    with threadpoolctl.threadpool_limits(2, "blas"):
        assert threads() == {2}
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {2}
