# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Threads: how many compute, calls at the same time, other threads, and the end of the process. Needs no ITK."""

import concurrent.futures
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import voxelmaps

AFFINITY = {"affinity": "geometric_mean", "object_mean": 100, "object_variance": 900, "difference_variance": 900}
RULES = {"competition": "relative", "tie_rule": "background"}
SEEDS = {1: (5, 5, 5), 2: (8, 60, 70)}


def image_of(seed, repeats=1):
    return np.tile(np.random.default_rng(seed).integers(0, 200, (10, 90, 100)).astype(np.uint8), (repeats, 1, 1))


FUNCTIONS = {
    "feature_maps": lambda x, **k: voxelmaps.feature_maps(x, features=["glrlm", "ngtdm"], **k).array,
    "fuzzy_connectedness": lambda x, **k: voxelmaps.fuzzy_connectedness(x, SEEDS[1], **AFFINITY, **k),
    "labels": lambda x, **k: voxelmaps.labels(x, SEEDS, **AFFINITY, **RULES, **k),
    "SeedSession": lambda x, **k: voxelmaps.SeedSession(x, **AFFINITY, **RULES, **k).update(SEEDS),
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


def test_threads_do_not_change_the_bits(function):
    images = [image_of(seed) for seed in range(4)]
    expected = [function(x, device="cpu", threads=1) for x in images]
    assert not np.array_equal(expected[0], expected[1])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for threads in (0, 2, 5):
            for i, result in enumerate(pool.map(lambda x: function(x, threads=threads), images * 2)):
                np.testing.assert_array_equal(result, expected[i % 4])


def test_progress(function, caplog):
    """Fractions grow to 1, in any thread; an exception in the function ends the computation; the log has a line."""
    x, expected = image_of(0, 4), function(image_of(0, 4))
    with concurrent.futures.ThreadPoolExecutor(1) as pool, caplog.at_level("INFO", "voxelmaps"):
        for call in (lambda *a: a[0](*a[1:]), lambda *a: pool.submit(*a).result()):
            fractions = []
            result = call(lambda report: function(x, device="cpu", progress=report), fractions.append)
            assert np.array_equal(result, expected) and fractions[-1] == 1
            assert fractions == sorted(set(fractions)) and fractions[0] >= 0
    assert len(caplog.records) >= 2 and " voxels took " in caplog.records[0].getMessage()

    def fail(fraction):
        raise KeyError(fraction)

    with pytest.raises(KeyError):
        function(x, device="cpu", progress=fail)
    assert np.array_equal(function(x, device="cpu"), expected)
    with pytest.raises(TypeError, match="progress is 3, but must be a function of a fraction, or True for a bar"):
        function(x, progress=3)


def test_bar_of_tqdm(function, capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    assert np.array_equal(function(image_of(0), progress=True), function(image_of(0)))
    assert "%" in capsys.readouterr().err


def test_threads_share_a_session():
    """Each has its own seeds."""
    x, seeds = image_of(0), [{label: SEEDS[label]} for label in SEEDS] + [SEEDS]
    expected = [voxelmaps.SeedSession(x, **AFFINITY).update(each) for each in seeds]
    session = voxelmaps.SeedSession(x, **AFFINITY)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for i, labels in enumerate(pool.map(session.update, seeds * 5)):
            np.testing.assert_array_equal(labels, expected[i % 3])


def test_other_python_threads_run_meanwhile(function):
    """The interpreter lock is released: another thread wakes up about as often as when nothing else runs."""
    x, done, ticks = image_of(0, 20), threading.Event(), []

    def tick():
        while not done.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    function(x, device="cpu", threads=1)
    stop = time.perf_counter()
    done.set()
    thread.join()
    # Without the release there are none but at the two ends.
    assert sum(start + 0.1 * (stop - start) < t < stop - 0.1 * (stop - start) for t in ticks) > 3


@pytest.mark.parametrize("size", [3, 100])
def test_exit_while_a_daemon_thread_computes(size):
    """Within a computation, or at the end of one."""
    code = f"""
import numpy, threading, time, voxelmaps
x = numpy.random.default_rng(0).integers(0, 200, ({size},) * 3).astype(numpy.uint8)
def run():
    while True:
        voxelmaps.feature_maps(x, features="glcm", device="cpu", threads=1)
threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
print("end", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=500)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
