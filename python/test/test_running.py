# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Progress, abort, threads and the CUDA override."""

import concurrent.futures
import os
import subprocess
import sys
import threading
import time

import itk
import numpy as np
import pytest

AFFINITY = {"object_mean": 100, "object_variance": 900, "difference_variance": 900}


def big_image():
    return np.random.default_rng(0).integers(0, 200, (40, 90, 100)).astype(np.uint8)


@pytest.mark.parametrize("name", ["RunLengthFeatureMapImageFilter", "FuzzyConnectednessImageFilter"])
def test_observers_see_progress(name):
    filter = getattr(itk, name).New(itk.image_from_array(big_image()))
    if "Connectedness" in name:
        filter.SetSeed([5, 5, 5])
        filter.SetObjectMean(100)
    seen, events = [], []
    filter.AddObserver(itk.StartEvent(), lambda: events.append("start"))
    filter.AddObserver(itk.ProgressEvent(), lambda: seen.append(filter.GetProgress()))
    filter.AddObserver(itk.EndEvent(), lambda: events.append("end"))
    filter.Update()
    assert events == ["start", "end"]
    assert seen[0] == 0 and seen[-1] == 1 and seen == sorted(seen)
    # A device reports less often.
    assert len(set(seen)) > (1 if filter.GetNameOfClass().startswith("Cuda") else 5)


def test_auto_progress():
    code = """
import itk, numpy
image = numpy.zeros((5, 90, 100), numpy.uint8)
itk.auto_progress(2)
itk.run_length_feature_map_image_filter(image)
itk.auto_progress(False)
itk.run_length_feature_map_image_filter(image)
"""
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert text.count("Running itkRunLengthFeatureMapImageFilterIUC3VIF3... done") == 1
    assert text.count("Running") == 1


@pytest.mark.parametrize("name", ["RunLengthFeatureMapImageFilter", "FuzzyConnectednessImageFilter"])
def test_abort(name):
    filter = getattr(itk, name).New(itk.image_from_array(big_image()))
    if "Connectedness" in name:
        filter.SetSeed([5, 5, 5])
        filter.SetObjectMean(100)
    aborted = []
    filter.AddObserver(itk.ProgressEvent(), filter.AbortGenerateDataOn)
    filter.AddObserver(itk.AbortEvent(), lambda: aborted.append(True))
    with pytest.raises(RuntimeError, match="AbortGenerateData"):
        filter.Update()
    assert filter.GetProgress() < 1
    filter.RemoveAllObservers()
    filter.AbortGenerateDataOff()
    filter.Update()
    assert filter.GetProgress() == 1


def test_two_python_threads_at_once():
    images = [big_image()[10 * i : 10 * i + 10] for i in range(4)]

    def work(image):
        maps = itk.run_length_feature_map_image_filter(image, features=["RE", "GLN"])
        strength = itk.fuzzy_connectedness_image_filter(image, seed=[5, 5, 5], **AFFINITY)
        return maps, strength

    expected = [work(image) for image in images]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, images * 3))
    for i, (maps, strength) in enumerate(results):
        np.testing.assert_array_equal(maps, expected[i % 4][0])
        np.testing.assert_array_equal(strength, expected[i % 4][1])


@pytest.mark.parametrize("name", ["RunLengthFeatureMapImageFilter", "FuzzyConnectednessImageFilter"])
def test_threads_share_a_filter_before_theirs(name):
    """The filter that has not run yet runs once, and not in several threads at once."""
    image = itk.image_from_array(big_image())
    parameters = {"seed": [5, 5, 5], **AFFINITY} if "Connectedness" in name else {"neighborhood_radius": 1}

    def work(median):
        filter = getattr(itk, name).New(median.GetOutput(), **parameters)
        filter.Update()
        return itk.array_from_image(filter.GetOutput())

    expected = work(itk.MedianImageFilter.New(image, Radius=1))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            median = itk.MedianImageFilter.New(image, Radius=1)
            for result in pool.map(work, [median] * 4):
                np.testing.assert_array_equal(result, expected)


def test_other_python_threads_run_while_a_filter_runs():
    """The filter releases the interpreter lock: another thread wakes up about as often as when nothing else runs."""
    image = itk.image_from_array(np.tile(big_image(), (8, 1, 1)))
    filter = itk.RunLengthFeatureMapImageFilter.New(image, number_of_work_units=1, neighborhood_radius=3)
    done, ticks = threading.Event(), []

    def tick():
        while not done.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    filter.Update()
    stop = time.perf_counter()
    done.set()
    thread.join()
    # Without the release there are none but at the two ends.
    inside = [t for t in ticks if start + 0.1 * (stop - start) < t < stop - 0.1 * (stop - start)]
    assert len(inside) > 3


def test_threads_do_not_change_the_bits():
    image = itk.image_from_array(big_image()[:12])
    results = []
    for units in (1, 2, 5):
        maps = itk.RunLengthFeatureMapImageFilter.New(image, features="all", number_of_work_units=units)
        strength = itk.FuzzyConnectednessImageFilter.New(image, seed=[5, 5, 5], number_of_work_units=units, **AFFINITY)
        maps.Update()
        strength.Update()
        results.append((itk.array_from_image(maps.GetOutput()), itk.array_from_image(strength.GetOutput())))
    for maps, strength in results[1:]:
        np.testing.assert_array_equal(maps, results[0][0])
        np.testing.assert_array_equal(strength, results[0][1])


@pytest.mark.parametrize("source", ["itk.image_from_array(array)", "itk.MedianImageFilter.New(array, Radius=1)"])
def test_exit_while_a_daemon_thread_computes(source):
    """The filter is aborted, and not the process."""
    code = f"""
import itk, numpy, threading
array = itk.image_from_array(numpy.random.default_rng(0).integers(0, 200, (80, 120, 120)).astype(numpy.uint8))
filter = itk.RunLengthFeatureMapImageFilter.New({source.replace("itk.image_from_array(array)", "array")}, neighborhood_radius=3)
started = threading.Event()
def see():
    started.set()
    filter.GetProgress()
filter.AddObserver(itk.ProgressEvent(), see)
threading.Thread(target=filter.Update, daemon=True).start()
assert started.wait(60)
print("end", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "end\n" and done.stderr == ""


def test_streamed_writing(tmp_path):
    image = itk.image_from_array(big_image()[:12])
    filter = itk.RunLengthFeatureMapImageFilter.New(
        image, range_source="given", range_minimum=0, range_maximum=199, features=["SRE", "RE"]
    )
    starts = []
    filter.AddObserver(itk.StartEvent(), lambda: starts.append(1))
    path = str(tmp_path / "maps.mha")
    writer = itk.ImageFileWriter.New(filter, FileName=path, NumberOfStreamDivisions=4)
    writer.Update()
    assert len(starts) == 4
    whole = itk.run_length_feature_map_image_filter(image, features=["SRE", "RE"])
    np.testing.assert_array_equal(itk.array_from_image(itk.imread(path)), itk.array_from_image(whole))


FILTERS = ["RunLengthFeatureMapImageFilter", "FuzzyConnectednessImageFilter"]


def prepared(name, array):
    filter = getattr(itk, name).New(itk.image_from_array(array))
    if "Connectedness" in name:
        filter.SetSeed([5, 5, 5])
        filter.SetObjectMean(100)
        filter.SetObjectVariance(900)
        filter.SetDifferenceVariance(900)
    return filter


@pytest.mark.parametrize("name", FILTERS)
def test_the_override_can_be_switched_off(name):
    factory = itk.VoxelMapsCudaFactory
    assert factory.GetOverrideEnabled()
    has_device = itk.CudaDevices.GetNumberOfDevices() > 0
    assert itk.CudaDevices.GetReasonForNoDevice() if not has_device else True
    assert prepared(name, big_image()).GetNameOfClass() == ("Cuda" if has_device else "") + name
    factory.SetOverrideEnabled(False)
    try:
        assert not factory.GetOverrideEnabled()
        assert prepared(name, big_image()).GetNameOfClass() == name
    finally:
        factory.SetOverrideEnabled(True)


def test_the_environment_switches_the_override_off():
    code = "import itk; print(itk.VoxelMapsCudaFactory.GetOverrideEnabled())"
    for value, expected in (("0", "False"), ("OFF", "False"), ("1", "True")):
        environment = dict(os.environ, VOXELMAPS_USE_CUDA=value)
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr


@pytest.mark.parametrize("name", FILTERS)
def test_cuda_classes(name):
    filter = prepared("Cuda" + name, big_image()[:10])
    filter.SetCudaMethod("automatic")
    assert filter.GetDeviceID() == 0
    if itk.CudaDevices.GetNumberOfDevices() == 0:
        with pytest.raises(RuntimeError, match="needs a CUDA device"):
            filter.Update()
        return
    filter.Update()
    itk.VoxelMapsCudaFactory.SetOverrideEnabled(False)
    try:
        expected = prepared(name, big_image()[:10])
    finally:
        itk.VoxelMapsCudaFactory.SetOverrideEnabled(True)
    expected.Update()
    assert filter.GetUsedDeviceName() == itk.CudaDevices.GetName(0)
    np.testing.assert_array_equal(itk.array_from_image(filter.GetOutput()), itk.array_from_image(expected.GetOutput()))
