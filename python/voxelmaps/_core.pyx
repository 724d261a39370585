# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The engines, with addresses of memory; the modules of this package pass arrays. Indices and sizes are (x, y, z)."""

import threading

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.map cimport map
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include "voxelmaps/CudaDevices.h"
    #include "voxelmaps/CudaFuzzyConnectednessJob.h"
    #include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
    #include "voxelmaps/FeatureMapsJob.h"
    #include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
    #include "voxelmaps/RegionFeaturesJob.h"
    #include "voxelmaps/ThreadPool.h"

    #include <atomic>
    #include <chrono>
    #include <map>
    #include <memory>
    #include <new>
    #include <thread>

    namespace
    {
    struct Interrupted
    {};
    struct Canceled
    {};

    /** Lets the main thread raise KeyboardInterrupt. Other threads must not ask for the interpreter, which would end daemon
     * threads within the engine when the process exits. */
    voxelmaps::JobExecution
    MakeExecution(unsigned int threads, bool isMainThread)
    {
      voxelmaps::JobExecution execution;
      execution.numberOfWorkers = threads != 0 ? threads : voxelmaps::GetNumberOfProcessors();
      execution.parallelFor = voxelmaps::GetThreadPool();
      if (!isMainThread)
      {
        return execution;
      }
      using Clock = std::chrono::steady_clock;
      const auto caller = std::this_thread::get_id();
      const auto last = std::make_shared<Clock::time_point>(Clock::now());
      execution.reportProgress = [caller, last](std::uint64_t) {
        if (std::this_thread::get_id() != caller || Clock::now() - *last < std::chrono::milliseconds(50))
        {
          return;
        }
        *last = Clock::now();
        const PyGILState_STATE state = PyGILState_Ensure();
        const bool             isInterrupted = PyErr_CheckSignals() != 0;
        PyGILState_Release(state);
        if (isInterrupted)
        {
          throw Interrupted{};
        }
      };
      return execution;
    }

    /** For Cython, in a handler of an exception. */
    void
    RaisePythonError()
    {
      try
      {
        throw;
      }
      catch (const Interrupted &)
      {
        // PyErr_CheckSignals has set the error.
      }
      catch (const Canceled &)
      {
        PyErr_SetString(PyExc_InterruptedError, "the computation was canceled");
      }
      catch (const voxelmaps::DeviceError & error)
      {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
      catch (const voxelmaps::DeviceMemoryError & error)
      {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
      catch (const voxelmaps::EngineError & error)
      {
        PyErr_SetString(PyExc_ValueError, error.what());
      }
      catch (const std::bad_alloc &)
      {
        PyErr_SetString(PyExc_MemoryError, "there is too little memory for the levels and the maps");
      }
      catch (const std::exception & error)
      {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
    }

    /** Add a class: numbers of features, offsets x, y, z one after the other, their weights, and other parameters by name. */
    void
    AddClass(voxelmaps::FeatureMapsJob & maps, const std::string & name, const std::vector<unsigned int> & features,
             const std::vector<std::int64_t> & offsets, const std::vector<double> & weights,
             const std::map<std::string, double> & numbers)
    {
      const auto add = [&](auto job, const auto & set) {
        for (const unsigned int feature : features)
        {
          job.features.push_back(static_cast<typename decltype(job)::Feature>(feature));
        }
        set(job);
        maps.classes.emplace_back(job);
      };
      const auto setOffsets = [&](auto & job) {
        for (std::size_t i = 0; i < offsets.size(); i += 3)
        {
          job.offsets.push_back({ { offsets[i], offsets[i + 1], offsets[i + 2] } });
        }
      };
      const auto setDirections = [&](auto & job) {
        setOffsets(job);
        job.offsetWeights = weights;
        job.aggregation = static_cast<decltype(job.aggregation)>(static_cast<unsigned int>(numbers.at("aggregation")));
      };
      if (name == "firstorder")
      {
        add(voxelmaps::FirstOrderJob{}, [&](auto & job) {
          job.voxelArrayShift = numbers.at("voxel_array_shift");
          job.voxelVolume = numbers.at("voxel_volume");
        });
      }
      else if (name == "glcm")
      {
        add(voxelmaps::CooccurrenceJob{}, [&](auto & job) {
          setDirections(job);
          job.symmetric = numbers.at("symmetric") != 0;
          job.hasOneLevel = numbers.at("has_one_level") != 0;
        });
      }
      else if (name == "gldm")
      {
        add(voxelmaps::DependenceJob{}, [&](auto & job) {
          setOffsets(job);
          job.alpha = static_cast<std::uint32_t>(numbers.at("alpha"));
        });
      }
      else if (name == "glrlm")
      {
        add(voxelmaps::RunLengthJob{}, [&](auto & job) {
          setDirections(job);
          job.skipDirectionsWithoutPairs = numbers.at("skip_directions_without_pairs") != 0;
        });
      }
      else if (name == "glszm")
      {
        add(voxelmaps::SizeZoneJob{}, [](auto &) {});
      }
      else
      {
        add(voxelmaps::GrayToneDifferenceJob{}, setOffsets);
      }
    }
    void
    SetRegionAxis(voxelmaps::RegionFeaturesJob & job, std::size_t axis, double spacing, bool connects)
    {
      job.spacing[axis] = spacing;
      job.connectsAxis[axis] = connects;
    }
    void
    SetTriple(voxelmaps::Triple & triple, std::int64_t x, std::int64_t y, std::int64_t z)
    {
      triple = { { x, y, z } };
    }
    void
    SetEnumerators(voxelmaps::FeatureMapsJob & job, unsigned int pixelType, unsigned int method, unsigned int rangeSource)
    {
      job.pixelType = static_cast<voxelmaps::PixelType>(pixelType);
      job.discretization.method = static_cast<voxelmaps::GrayLevelDiscretizationEnums::Method>(method);
      job.discretization.rangeSource = static_cast<voxelmaps::GrayLevelDiscretizationEnums::RangeSource>(rangeSource);
    }
    void
    SetLocations(voxelmaps::CudaOptions & options, bool isInputOnDevice, bool isOutputOnDevice, std::uintptr_t stream)
    {
      using voxelmaps::MemoryLocation;
      options.inputLocation = isInputOnDevice ? MemoryLocation::Device : MemoryLocation::Host;
      options.outputLocation = isOutputOnDevice ? MemoryLocation::Device : MemoryLocation::Host;
      options.stream = reinterpret_cast<void *>(stream);
    }

    void
    SetConnectednessEnumerators(voxelmaps::FuzzyConnectednessProblem & job, unsigned int pixelType,
                                unsigned int affinityFunction, unsigned int adjacency)
    {
      using Input = voxelmaps::FuzzyConnectednessInput;
      // There are no pixels of 64-bit integers.
      const bool isReal = pixelType >= static_cast<unsigned int>(voxelmaps::PixelType::Float);
      job.pixelType = static_cast<Input::PixelType>(isReal ? pixelType - 2 : pixelType);
      job.affinityFunction = static_cast<voxelmaps::FuzzyConnectednessJob::AffinityFunction>(affinityFunction);
      job.adjacency = static_cast<voxelmaps::FuzzyConnectednessJob::Adjacency>(adjacency);
    }
    void
    SetSpacing(voxelmaps::FuzzyConnectednessProblem & job, double x, double y, double z)
    {
      job.spacing = { { x, y, z } };
    }
    void
    ComputeConnectedness(const voxelmaps::FuzzyConnectednessJob &          job,
                         const voxelmaps::CudaFuzzyConnectednessOptions & options, bool mayUseCpu)
    {
      if (options.deviceID < 0 || (mayUseCpu && job.IsSmall()))
      {
        voxelmaps::ComputeFuzzyConnectedness(job);
      }
      else
      {
        voxelmaps::ComputeFuzzyConnectednessCuda(job, options);
      }
    }

    void
    SetLabeledSeeds(voxelmaps::RelativeFuzzyConnectednessJob & job, std::uintptr_t voxels, std::uintptr_t labels,
                    std::size_t count)
    {
      const auto * const firstVoxel = reinterpret_cast<const std::int64_t *>(voxels);
      const auto * const firstLabel = reinterpret_cast<const std::uint16_t *>(labels);
      job.seeds.assign(firstVoxel, firstVoxel + count);
      job.labels.assign(firstLabel, firstLabel + count);
    }
    void
    SetRules(voxelmaps::RelativeFuzzyConnectednessJob & job, unsigned int competition, unsigned int tieRule)
    {
      using Job = voxelmaps::RelativeFuzzyConnectednessJob;
      job.competition = static_cast<Job::Competition>(competition);
      job.tieRule = static_cast<Job::TieRule>(tieRule);
    }

    /** A hierarchy that jobs keep, and whether another thread has asked the running one to end. */
    struct KeptHierarchy
    {
      voxelmaps::RelativeFuzzyConnectednessHierarchy hierarchy;
      std::atomic<bool>                              isCanceled{ false };
    };

    void
    ComputeLabels(voxelmaps::RelativeFuzzyConnectednessJob job,
                  const voxelmaps::CudaRelativeFuzzyConnectednessOptions & options, bool mayUseCpu, KeptHierarchy * kept)
    {
      auto * const hierarchy = kept != nullptr ? &kept->hierarchy : nullptr;
      if (kept != nullptr)
      {
        job.execution.reportProgress = [kept, report = job.execution.reportProgress](std::uint64_t voxels) {
          if (kept->isCanceled)
          {
            throw Canceled{};
          }
          if (report)
          {
            report(voxels);
          }
        };
      }
      if (options.deviceID >= 0 && !(mayUseCpu && job.IsSmall()))
      {
        try
        {
          hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options, *hierarchy)
                               : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options);
          return;
        }
        catch (const voxelmaps::DeviceMemoryError &)
        {
          if (!mayUseCpu)
          {
            throw;
          }
        }
      }
      hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectedness(job, *hierarchy)
                           : voxelmaps::ComputeRelativeFuzzyConnectedness(job);
    }
    } // namespace
    """
    void RaisePythonError()
    void SetRegionAxis(RegionFeaturesJob & job, size_t axis, double spacing, cpp_bool connects)
    void AddClass(
        FeatureMapsJob & job, const string & name, const vector[unsigned int] & features, const vector[int64_t] & offsets,
        const vector[double] & weights, const map[string, double] & numbers) except +RaisePythonError
    void SetTriple(Triple & triple, int64_t x, int64_t y, int64_t z)
    void SetEnumerators(FeatureMapsJob & job, unsigned int pixel_type, unsigned int method, unsigned int range_source)
    void SetLocations(CudaOptions & options, cpp_bool is_input_on_device, cpp_bool is_output_on_device, uintptr_t stream)
    void SetConnectednessEnumerators(
        FuzzyConnectednessProblem & job, unsigned int pixel_type, unsigned int affinity_function, unsigned int adjacency)
    void SetSpacing(FuzzyConnectednessProblem & job, double x, double y, double z)
    void ComputeConnectedness(
        const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options,
        cpp_bool may_use_cpu) except +RaisePythonError nogil
    void SetLabeledSeeds(
        RelativeFuzzyConnectednessJob & job, uintptr_t voxels, uintptr_t labels, size_t count) except +RaisePythonError
    void SetRules(RelativeFuzzyConnectednessJob & job, unsigned int competition, unsigned int tie_rule)
    cdef cppclass KeptHierarchy:
        KeptHierarchy() except +
        RelativeFuzzyConnectednessHierarchy hierarchy
        cpp_bool isCanceled

    void ComputeLabels(
        const RelativeFuzzyConnectednessJob & job, const CudaRelativeFuzzyConnectednessOptions & options,
        cpp_bool may_use_cpu, KeptHierarchy * kept) except +RaisePythonError nogil
    JobExecution MakeExecution(unsigned int threads, cpp_bool is_main_thread) except +RaisePythonError


cdef extern from "voxelmaps/FeatureMapsJob.h" namespace "voxelmaps" nogil:
    cdef cppclass Triple:
        int64_t & operator[](size_t)

    cdef cppclass JobExecution:
        pass

    cdef cppclass GrayLevelDiscretizationParameters:
        unsigned int numberOfGrayLevels
        double binWidth
        vector[double] binEdges
        double rangeMinimum
        double rangeMaximum

    cdef cppclass GrayLevelDiscretizationResult:
        double rangeMinimum
        double rangeMaximum
        unsigned int numberOfGrayLevels

    cdef cppclass TextureClassJob:
        pass

    cdef cppclass FeatureMapsJob:
        FeatureMapsJob() except +
        vector[TextureClassJob] classes
        const void * pixels
        Triple size
        const uint8_t * mask
        GrayLevelDiscretizationParameters discretization
        Triple windowSize
        Triple windowAnchor
        Triple outputIndex
        Triple outputSize
        void * output
        cpp_bool outputIsDouble
        int64_t mapStride
        const uint8_t * selection
        double backgroundValue
        JobExecution execution

    cdef cppclass FuzzyConnectednessAffinity:
        FuzzyConnectednessAffinity() except +
        vector[double] objectMean
        vector[double] objectCovariance
        vector[double] differenceMean
        vector[double] differenceCovariance


    cdef cppclass AffinityFunction "voxelmaps::FuzzyConnectednessEnums::AffinityFunction":
        pass

    cdef cppclass FuzzyConnectednessProblem:
        const void * image
        unsigned int numberOfComponents
        Triple size
        const uint8_t * mask
        vector[int64_t] seeds
        AffinityFunction affinityFunction
        FuzzyConnectednessAffinity affinity
        double weight
        double minimumStrength
        cpp_bool distanceWeighting
        JobExecution execution

    cdef cppclass FuzzyConnectednessJob(FuzzyConnectednessProblem):
        FuzzyConnectednessJob() except +
        void * output
        cpp_bool outputIsDouble

    cdef cppclass RelativeFuzzyConnectednessJob(FuzzyConnectednessProblem):
        RelativeFuzzyConnectednessJob() except +
        map[uint16_t, FuzzyConnectednessAffinity] labelAffinities
        void * labelOutput
        cpp_bool labelsAre16Bit
        void * strengthOutput
        void * marginOutput
        cpp_bool outputIsDouble

    cdef cppclass RelativeFuzzyConnectednessHierarchy:
        RelativeFuzzyConnectednessHierarchy() except +
        void Release()
        uint64_t GetMemory()

    cdef cppclass CudaOptions:
        int deviceID
        vector[int] otherDeviceIDs

    cdef cppclass CudaFuzzyConnectednessOptions(CudaOptions):
        CudaFuzzyConnectednessOptions() except +

    cdef cppclass CudaRelativeFuzzyConnectednessOptions(CudaOptions):
        CudaRelativeFuzzyConnectednessOptions() except +

    cdef cppclass AffinityEstimateParameters:
        AffinityFunction affinityFunction
        unsigned int radius

    cdef cppclass AffinityEstimate:
        AffinityEstimate() except +
        FuzzyConnectednessAffinity affinity
        string warning

    AffinityEstimate EstimateAffinity(
        const FuzzyConnectednessProblem & job, const AffinityEstimateParameters & parameters,
        const JobExecution & execution) except +RaisePythonError
    GrayLevelDiscretizationResult ComputeFeatureMaps(const FeatureMapsJob & job) except +RaisePythonError
    GrayLevelDiscretizationResult ComputeFeatureMapsCuda(
        const FeatureMapsJob & job, const CudaOptions & options) except +RaisePythonError

    cdef cppclass FeatureNames:
        const char * name
        const char * pyRadiomicsName

    cdef cppclass FeatureTable:
        unsigned int GetNumberOfFeatures()
        const FeatureNames & operator[](unsigned int)
        cpp_bool Find(const string & name, unsigned int & feature)

    const FeatureTable & CooccurrenceTable "voxelmaps::CooccurrenceFeatureMapEnums::GetFeatureTable"()
    const FeatureTable & DependenceTable "voxelmaps::DependenceFeatureMapEnums::GetFeatureTable"()
    const FeatureTable & FirstOrderTable "voxelmaps::FirstOrderFeatureMapEnums::GetFeatureTable"()
    const FeatureTable & GrayToneTable "voxelmaps::GrayToneDifferenceFeatureMapEnums::GetFeatureTable"()
    const FeatureTable & RunLengthTable "voxelmaps::RunLengthFeatureMapEnums::GetFeatureTable"()
    const FeatureTable & SizeZoneTable "voxelmaps::SizeZoneFeatureMapEnums::GetFeatureTable"()


cdef extern from "voxelmaps/RegionFeaturesJob.h" namespace "voxelmaps" nogil:
    enum PixelType:
        pass

    cdef cppclass RegionFeaturesJob:
        RegionFeaturesJob() except +
        vector[unsigned int] shapeFeatures
        vector[unsigned int] planarShapeFeatures
        const void * pixels
        Triple size
        PixelType pixelType
        const void * labelImage
        PixelType labelType
        vector[int64_t] labels
        GrayLevelDiscretizationParameters discretization
        vector[TextureClassJob] classes
        JobExecution execution

    cdef cppclass RegionFeatures:
        int64_t label
        int64_t numberOfVoxels
        unsigned int numberOfGrayLevels
        Triple boxIndex
        Triple boxSize
        vector[double] values

    vector[RegionFeatures] ComputeRegionFeatures(const RegionFeaturesJob & job) except +RaisePythonError
    const FeatureTable & ShapeTable "voxelmaps::GetShapeFeatureTable"()
    const FeatureTable & PlanarShapeTable "voxelmaps::GetPlanarShapeFeatureTable"()


cdef extern from "voxelmaps/CudaDevices.h" namespace "voxelmaps::CudaDevices":
    int GetNumberOfDevices() except +RaisePythonError
    string GetReasonForNoDevice() except +RaisePythonError
    string GetName(int device) except +RaisePythonError
    void ReleaseResources() except +RaisePythonError nogil


cdef const FeatureTable * _table(name):
    if name == "firstorder":
        return &FirstOrderTable()
    if name == "glcm":
        return &CooccurrenceTable()
    if name == "gldm":
        return &DependenceTable()
    if name == "glrlm":
        return &RunLengthTable()
    if name == "glszm":
        return &SizeZoneTable()
    if name == "shape":
        return &ShapeTable()
    if name == "shape2D":
        return &PlanarShapeTable()
    return &GrayToneTable()


cdef _names(const FeatureTable * table):
    return [table[0][i].pyRadiomicsName.decode() for i in range(table.GetNumberOfFeatures())]


def feature_names():
    """Dict of the names of PyRadiomics' features, by its names of the classes; their places are the numbers of features."""
    classes = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm", "shape", "shape2D")
    return {name: _names(_table(name)) for name in classes}


def find_feature(name, feature):
    """The number of the feature of a class with this name, abbreviation, or name in the IBSI's manual; None if there is none."""
    cdef unsigned int number = 0
    return number if _table(name).Find(feature.encode(), number) else None


def _is_main_thread():
    return threading.get_ident() == threading.main_thread().ident


def number_of_devices():
    """Number of CUDA devices that can be used."""
    return GetNumberOfDevices()


def reason_for_no_device():
    """Why there is no CUDA device, and what to do about it; empty if there is one."""
    return GetReasonForNoDevice().decode()


def device_name(int device):
    """Name of a CUDA device."""
    return GetName(device).decode()


def release_device_memory():
    """Free what is kept of all CUDA devices from one call to the next."""
    with nogil:
        ReleaseResources()


cdef _add_class(FeatureMapsJob & job, name, vector[unsigned int] features, parameters):
    cdef vector[int64_t] offsets = [i for offset in parameters.get("offsets", ()) for i in offset]
    cdef map[string, double] numbers = {
        key.encode(): value for key, value in parameters.items() if key not in ("offsets", "offset_weights")
    }
    AddClass(job, name.encode(), features, offsets, parameters.get("offset_weights", ()), numbers)


cdef _set_levels(FeatureMapsJob & job, pixel_type, levels):
    SetEnumerators(job, pixel_type, levels["method"], levels["range_source"])
    job.discretization.numberOfGrayLevels = levels["number_of_gray_levels"]
    job.discretization.binWidth = levels["bin_width"]
    job.discretization.binEdges = levels["bin_edges"]
    job.discretization.rangeMinimum, job.discretization.rangeMaximum = levels["value_range"]


def compute_feature_maps(
    *,
    uintptr_t pixels,
    unsigned int pixel_type,
    size,
    uintptr_t mask,
    uintptr_t selection,
    discretization,
    window_size,
    window_anchor,
    classes,
    output_index,
    output_size,
    uintptr_t output,
    cpp_bool is_double,
    int64_t map_stride,
    double background_value,
    unsigned int threads,
    int device,
    other_devices,
    cpp_bool is_input_on_device,
    cpp_bool is_output_on_device,
    uintptr_t stream,
):
    """Compute a FeatureMapsJob; enumerators are numbers.

    discretization
               Dict of method, range_source, number_of_gray_levels, bin_width, bin_edges and value_range.
    classes    Tuples of the name in PyRadiomics, numbers of features, and a dict of parameters.
    threads    0 for one per processor.
    device     -1 for the CPU.

    Returns the number of gray levels.
    """
    cdef FeatureMapsJob job
    cdef CudaOptions options
    cdef GrayLevelDiscretizationResult result
    job.pixels = <const void *>pixels
    job.mask = <const uint8_t *>mask
    job.selection = <const uint8_t *>selection
    _set_levels(job, pixel_type, discretization)
    SetTriple(job.size, size[0], size[1], size[2])
    SetTriple(job.windowSize, window_size[0], window_size[1], window_size[2])
    SetTriple(job.windowAnchor, window_anchor[0], window_anchor[1], window_anchor[2])
    SetTriple(job.outputIndex, output_index[0], output_index[1], output_index[2])
    SetTriple(job.outputSize, output_size[0], output_size[1], output_size[2])
    for name, features, parameters in classes:
        _add_class(job, name, features, parameters)
    job.output = <void *>output
    job.outputIsDouble = is_double
    job.mapStride = map_stride
    job.backgroundValue = background_value
    job.execution = MakeExecution(threads, _is_main_thread())
    options.deviceID = device
    options.otherDeviceIDs = other_devices
    SetLocations(options, is_input_on_device, is_output_on_device, stream)
    with nogil:
        if device < 0:
            result = ComputeFeatureMaps(job)
        else:
            result = ComputeFeatureMapsCuda(job, options)
    return result.numberOfGrayLevels


def compute_region_features(
    *,
    uintptr_t pixels,
    unsigned int pixel_type,
    size,
    uintptr_t label_image,
    unsigned int label_type,
    labels,
    discretization,
    classes,
    shape,
    planar_shape,
    spacing,
    connects_axis,
    unsigned int threads,
):
    """Compute a RegionFeaturesJob; see compute_feature_maps.

    labels                 Of the regions; all that are greater than 0 if empty.
    shape, planar_shape    Numbers of features.

    Returns tuples of label, number of voxels, number of gray levels, bounding box and list of values of each region. The box is pairs
    of the first index and the number of voxels along x, y and z.
    """
    cdef RegionFeaturesJob job
    cdef FeatureMapsJob maps
    cdef vector[RegionFeatures] regions
    job.pixels = <const void *>pixels
    job.labelImage = <const void *>label_image
    job.pixelType = <PixelType>pixel_type
    job.labelType = <PixelType>label_type
    job.shapeFeatures = shape
    job.planarShapeFeatures = planar_shape
    SetTriple(job.size, size[0], size[1], size[2])
    job.labels = labels
    _set_levels(maps, pixel_type, discretization)
    job.discretization = maps.discretization
    for name, features, parameters in classes:
        _add_class(maps, name, features, parameters)
    job.classes = maps.classes
    for axis in range(3):
        SetRegionAxis(job, axis, spacing[axis], connects_axis[axis])
    job.execution = MakeExecution(threads, _is_main_thread())
    with nogil:
        regions = ComputeRegionFeatures(job)
    return [
        (one.label, one.numberOfVoxels, one.numberOfGrayLevels, [(one.boxIndex[d], one.boxSize[d]) for d in range(3)], one.values)
        for one in regions
    ]


cdef FuzzyConnectednessAffinity _affinity(values) except *:
    """An affinity is four lists: mean and covariance of the object, and of the differences. Scalars have one element."""
    cdef FuzzyConnectednessAffinity affinity
    affinity.objectMean, affinity.objectCovariance, affinity.differenceMean, affinity.differenceCovariance = values
    return affinity


cdef _set_problem(FuzzyConnectednessProblem & job, problem):
    """Set what all jobs of connectedness have, from a dict.

    pixels, mask                     Addresses; 0 for no mask.
    pixel_type, affinity_function, adjacency
                                     Enumerators as numbers.
    number_of_components             0 for scalars.
    size, spacing, weight, minimum_strength, distance_weighting, threads
    """
    cdef uintptr_t pixels = problem["pixels"], mask = problem["mask"]
    size, spacing = problem["size"], problem["spacing"]
    job.image = <const void *>pixels
    job.mask = <const uint8_t *>mask
    job.numberOfComponents = problem["number_of_components"]
    SetConnectednessEnumerators(job, problem["pixel_type"], problem["affinity_function"], problem["adjacency"])
    SetTriple(job.size, size[0], size[1], size[2])
    SetSpacing(job, spacing[0], spacing[1], spacing[2])
    job.weight = problem["weight"]
    job.minimumStrength = problem["minimum_strength"]
    job.distanceWeighting = problem["distance_weighting"]
    job.execution = MakeExecution(problem["threads"], _is_main_thread())


def estimate_affinity(problem, seeds, unsigned int radius):
    """An affinity from seeds, which are numbers of voxels in host memory, and a warning or an empty string."""
    cdef FuzzyConnectednessJob job
    cdef AffinityEstimateParameters parameters
    cdef AffinityEstimate estimate
    _set_problem(job, problem)
    job.seeds = seeds
    parameters.affinityFunction = job.affinityFunction
    parameters.radius = radius
    with nogil:
        estimate = EstimateAffinity(job, parameters, job.execution)
    affinity = (
        list(estimate.affinity.objectMean),
        list(estimate.affinity.objectCovariance),
        list(estimate.affinity.differenceMean),
        list(estimate.affinity.differenceCovariance),
    )
    return affinity, estimate.warning.decode()


def compute_fuzzy_connectedness(
    problem, seeds, affinity, *, uintptr_t output, cpp_bool is_double, int device, cpp_bool may_use_cpu, cpp_bool is_on_device,
    uintptr_t stream,
):
    """Compute a FuzzyConnectednessJob.

    seeds           Numbers of voxels, in the order of memory.
    affinity        See _affinity.
    device          -1 for the CPU.
    may_use_cpu     Whether the CPU may compute small images, since the caller has not chosen a device.
    is_on_device    Whether pixels, mask and output are in the memory of the device.
    """
    cdef FuzzyConnectednessJob job
    cdef CudaFuzzyConnectednessOptions options
    _set_problem(job, problem)
    job.seeds = seeds
    job.affinity = _affinity(affinity)
    job.output = <void *>output
    job.outputIsDouble = is_double
    options.deviceID = device
    SetLocations(options, is_on_device, is_on_device, stream)
    with nogil:
        ComputeConnectedness(job, options, may_use_cpu)


cdef class Hierarchy:
    """The contracted graph of an image, with which labels of other seeds take less time."""

    cdef KeptHierarchy kept

    @property
    def memory(self):
        """Number of bytes that it holds."""
        return self.kept.hierarchy.GetMemory()

    def release(self):
        self.kept.hierarchy.Release()

    def set_canceled(self, cpp_bool is_canceled):
        """Let a running job of another thread raise InterruptedError, or later ones not do so any more."""
        self.kept.isCanceled = is_canceled


cdef class LabelsJob:
    """A RelativeFuzzyConnectednessJob. The arrays must outlive it.

    seeds    Addresses of the numbers of voxels (int64) and of their labels (uint16), and how many there are.
    """

    cdef RelativeFuzzyConnectednessJob job

    def __init__(self, problem, seeds, *, unsigned int competition, unsigned int tie_rule):
        _set_problem(self.job, problem)
        SetLabeledSeeds(self.job, seeds[0], seeds[1], seeds[2])
        SetRules(self.job, competition, tie_rule)

    def set_affinity(self, of_all, of_labels):
        """Set the affinity of all labels, and a dict of those of single ones."""
        self.job.affinity = _affinity(of_all)
        self.job.labelAffinities.clear()
        for label, values in of_labels.items():
            self.job.labelAffinities[label] = _affinity(values)

    def compute(
        self,
        *,
        uintptr_t labels,
        cpp_bool labels_are_16_bit,
        uintptr_t strength,
        uintptr_t margin,
        cpp_bool is_double,
        int device,
        cpp_bool may_use_cpu,
        cpp_bool is_on_device,
        uintptr_t stream,
        Hierarchy hierarchy=None,
    ):
        """Compute into arrays; the addresses of strength and margin are 0 if they are not needed.

        hierarchy    That of the same image, mask and affinity, or an empty one, which is made.

        See compute_fuzzy_connectedness.
        """
        cdef CudaRelativeFuzzyConnectednessOptions options
        cdef KeptHierarchy * kept = NULL
        self.job.labelOutput = <void *>labels
        self.job.labelsAre16Bit = labels_are_16_bit
        self.job.strengthOutput = <void *>strength
        self.job.marginOutput = <void *>margin
        self.job.outputIsDouble = is_double
        options.deviceID = device
        SetLocations(options, is_on_device, is_on_device, stream)
        if hierarchy is not None:
            kept = &hierarchy.kept
        with nogil:
            ComputeLabels(self.job, options, may_use_cpu, kept)
