"""Memory that is lent comes back when nobody looks at it, and not before."""

import numpy as np

from novikoff.data.formats.buffer_pool import BufferPool


def test_memory_is_used_again_when_the_last_array_is_gone():
    lent = BufferPool()
    x, y = lent.arrays((100, np.float64), (50, np.uint32))
    address = x.ctypes.data
    part = y[10:20]
    del x, y
    (other,) = lent.arrays((10, np.float64))
    assert other.ctypes.data != address  # a part of y is still there
    del part
    (again,) = lent.arrays((100, np.float64))
    assert again.ctypes.data == address


def test_arrays_of_one_loan_do_not_overlap_and_a_larger_one_gets_new_memory():
    lent = BufferPool()
    x, y, z = lent.arrays((3, np.float64), (2, np.uint64), (5, np.uint32))
    x[:], y[:], z[:] = 1.5, 7, 9
    assert x.tolist() == [1.5] * 3
    assert y.tolist() == [7] * 2
    assert z.tolist() == [9] * 5
    del x, y, z
    (large,) = lent.arrays((10**5, np.float64))
    large[:] = 2.0
    assert large.sum() == 2e5


def test_batches_of_a_file_that_are_all_kept_stay_unchanged(tmp_path):
    from novikoff.data.formats.svmlight import Svmlight

    path = tmp_path / "many.svm"
    path.write_text("".join(f"{1 if t % 3 else -1} {t % 7 + 1}:{t}.5 {t % 7 + 9}:-{t}\n" for t in range(3000)))
    kept = list(Svmlight(path, chunk=256).batches())
    rows = [values.tolist() for batch in kept for _, values in batch.x.rows()]
    assert rows == [[t + 0.5, -float(t)] for t in range(3000)]
