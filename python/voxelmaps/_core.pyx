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
      catch (const voxelmaps::EngineError & error)
      {
        const bool isOfDevice = dynamic_cast<const voxelmaps::DeviceError *>(&error) != nullptr ||
                                dynamic_cast<const voxelmaps::DeviceMemoryError *>(&error) != nullptr;
        PyErr_SetString(isOfDevice ? PyExc_RuntimeError : PyExc_ValueError, error.what());
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

    /** The features of a class by its name in PyRadiomics. */
    const voxelmaps::FeatureTable &
    GetTable(const std::string & name)
    {
      using namespace voxelmaps;
      static const std::map<std::string, const FeatureTable *> tables{
        { "firstorder", &FirstOrderFeatureMapEnums::GetFeatureTable() },
        { "glcm", &CooccurrenceFeatureMapEnums::GetFeatureTable() },
        { "gldm", &DependenceFeatureMapEnums::GetFeatureTable() },
        { "glrlm", &RunLengthFeatureMapEnums::GetFeatureTable() },
        { "glszm", &SizeZoneFeatureMapEnums::GetFeatureTable() },
        { "ngtdm", &GrayToneDifferenceFeatureMapEnums::GetFeatureTable() },
        { "shape", &GetShapeFeatureTable() },
        { "shape2D", &GetPlanarShapeFeatureTable() },
      };
      return *tables.at(name);
    }

    /** Add a class: numbers of features, offsets x, y, z one after the other, their weights, and other parameters by name. */
    void
    AddClass(std::vector<voxelmaps::TextureClassJob> & classes, const std::string & name,
             const std::vector<unsigned int> & features, const std::vector<std::int64_t> & offsets,
             const std::vector<double> & weights, const std::map<std::string, double> & numbers)
    {
      const auto add = [&](auto job, const auto & set) {
        for (const unsigned int feature : features)
        {
          job.features.push_back(static_cast<typename decltype(job)::Feature>(feature));
        }
        set(job);
        classes.emplace_back(job);
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
    JobExecution MakeExecution(unsigned int threads, cpp_bool is_main_thread) except +RaisePythonError
    const FeatureTable & GetTable(const string & name) except +RaisePythonError
    void AddClass(
        vector[TextureClassJob] & classes, const string & name, const vector[unsigned int] & features,
        const vector[int64_t] & offsets, const vector[double] & weights,
        const map[string, double] & numbers) except +RaisePythonError
    cdef cppclass KeptHierarchy:
        KeptHierarchy() except +
        RelativeFuzzyConnectednessHierarchy hierarchy
        cpp_bool isCanceled

    void ComputeLabels(
        const RelativeFuzzyConnectednessJob & job, const CudaRelativeFuzzyConnectednessOptions & options,
        cpp_bool may_use_cpu, KeptHierarchy * kept) except +RaisePythonError nogil

    cdef cppclass Triple "voxelmaps::Triple":
        int64_t & operator[](size_t)

    cdef cppclass Sizes "std::array<double, 3>":
        double & operator[](size_t)

    cdef cppclass Switches "std::array<bool, 3>":
        cpp_bool & operator[](size_t)


cdef extern from "voxelmaps/FeatureMapsJob.h" namespace "voxelmaps" nogil:
    enum PixelType:
        pass
    enum DiscretizationMethod "voxelmaps::GrayLevelDiscretizationEnums::Method":
        pass
    enum RangeSource "voxelmaps::GrayLevelDiscretizationEnums::RangeSource":
        pass
    enum MemoryLocation:
        pass

    cdef cppclass JobExecution:
        pass

    cdef cppclass CudaOptions:
        CudaOptions() except +
        int deviceID
        vector[int] otherDeviceIDs
        MemoryLocation inputLocation
        MemoryLocation outputLocation
        void * stream

    cdef cppclass FeatureNames:
        const char * pyRadiomicsName

    cdef cppclass FeatureTable:
        unsigned int GetNumberOfFeatures()
        const FeatureNames & operator[](unsigned int)
        cpp_bool Find(const string & name, unsigned int & feature)

    cdef cppclass GrayLevelDiscretizationParameters:
        DiscretizationMethod method
        unsigned int numberOfGrayLevels
        double binWidth
        vector[double] binEdges
        RangeSource rangeSource
        double rangeMinimum
        double rangeMaximum

    cdef cppclass GrayLevelDiscretizationResult:
        unsigned int numberOfGrayLevels

    cdef cppclass TextureClassJob:
        pass

    cdef cppclass FeatureMapsJob:
        FeatureMapsJob() except +
        const void * pixels
        PixelType pixelType
        Triple size
        const uint8_t * mask
        GrayLevelDiscretizationParameters discretization
        Triple windowSize
        Triple windowAnchor
        vector[TextureClassJob] classes
        Triple outputIndex
        Triple outputSize
        void * output
        cpp_bool outputIsDouble
        int64_t mapStride
        const uint8_t * selection
        double backgroundValue
        JobExecution execution

    GrayLevelDiscretizationResult ComputeFeatureMaps(const FeatureMapsJob & job) except +RaisePythonError
    GrayLevelDiscretizationResult ComputeFeatureMapsCuda(
        const FeatureMapsJob & job, const CudaOptions & options) except +RaisePythonError


cdef extern from "voxelmaps/RegionFeaturesJob.h" namespace "voxelmaps" nogil:
    cdef cppclass RegionFeaturesJob:
        RegionFeaturesJob() except +
        const void * pixels
        PixelType pixelType
        Triple size
        const void * labelImage
        PixelType labelType
        vector[int64_t] labels
        GrayLevelDiscretizationParameters discretization
        vector[TextureClassJob] classes
        vector[unsigned int] shapeFeatures
        vector[unsigned int] planarShapeFeatures
        Sizes spacing
        Switches connectsAxis
        JobExecution execution

    cdef cppclass RegionFeatures:
        int64_t label
        int64_t numberOfVoxels
        unsigned int numberOfGrayLevels
        Triple boxIndex
        Triple boxSize
        vector[double] values

    vector[RegionFeatures] ComputeRegionFeatures(const RegionFeaturesJob & job) except +RaisePythonError


cdef extern from "voxelmaps/FuzzyConnectednessJob.h" namespace "voxelmaps" nogil:
    enum ScenePixelType "voxelmaps::FuzzyConnectednessInput::PixelType":
        pass
    enum AffinityFunction "voxelmaps::FuzzyConnectednessEnums::AffinityFunction":
        pass
    enum Adjacency "voxelmaps::FuzzyConnectednessEnums::Adjacency":
        pass
    enum Competition "voxelmaps::RelativeFuzzyConnectednessEnums::Competition":
        pass
    enum TieRule "voxelmaps::RelativeFuzzyConnectednessEnums::TieRule":
        pass

    cdef cppclass FuzzyConnectednessAffinity:
        FuzzyConnectednessAffinity() except +
        vector[double] objectMean
        vector[double] objectCovariance
        vector[double] differenceMean
        vector[double] differenceCovariance

    cdef cppclass FuzzyConnectednessProblem:
        const void * image
        ScenePixelType pixelType
        unsigned int numberOfComponents
        Triple size
        const uint8_t * mask
        vector[int64_t] seeds
        Sizes spacing
        AffinityFunction affinityFunction
        FuzzyConnectednessAffinity affinity
        double weight
        double minimumStrength
        Adjacency adjacency
        cpp_bool distanceWeighting
        JobExecution execution
        cpp_bool IsSmall()

    cdef cppclass FuzzyConnectednessJob(FuzzyConnectednessProblem):
        FuzzyConnectednessJob() except +
        void * output
        cpp_bool outputIsDouble

    cdef cppclass CudaFuzzyConnectednessOptions(CudaOptions):
        CudaFuzzyConnectednessOptions() except +

    void ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job) except +RaisePythonError
    void ComputeFuzzyConnectednessCuda(
        const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options) except +RaisePythonError

    cdef cppclass RelativeFuzzyConnectednessJob(FuzzyConnectednessProblem):
        RelativeFuzzyConnectednessJob() except +
        vector[uint16_t] labels
        Competition competition
        TieRule tieRule
        map[uint16_t, FuzzyConnectednessAffinity] labelAffinities
        void * labelOutput
        cpp_bool labelsAre16Bit
        void * strengthOutput
        void * marginOutput
        cpp_bool outputIsDouble

    cdef cppclass CudaRelativeFuzzyConnectednessOptions(CudaOptions):
        CudaRelativeFuzzyConnectednessOptions() except +

    cdef cppclass RelativeFuzzyConnectednessHierarchy:
        void Release()
        uint64_t GetMemory()

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


cdef extern from "voxelmaps/CudaDevices.h" namespace "voxelmaps::CudaDevices":
    int GetNumberOfDevices() except +RaisePythonError
    string GetReasonForNoDevice() except +RaisePythonError
    string GetName(int device) except +RaisePythonError
    void ReleaseResources() except +RaisePythonError nogil


def feature_names():
    """Dict of the names of PyRadiomics' features, by its names of the classes; their places are the numbers of features."""
    cdef const FeatureTable * table
    names = {}
    for name in ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm", "shape", "shape2D"):
        table = &GetTable(name.encode())
        names[name] = [table[0][i].pyRadiomicsName.decode() for i in range(table.GetNumberOfFeatures())]
    return names


def find_feature(name, feature):
    """The number of the feature of a class with this name, abbreviation, or name in the IBSI's manual; None if there is none."""
    cdef unsigned int number = 0
    return number if GetTable(name.encode()).Find(feature.encode(), number) else None


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


cdef Triple _triple(values) except *:
    cdef Triple result
    for axis in range(3):
        result[axis] = values[axis]
    return result


cdef vector[TextureClassJob] _classes(classes) except *:
    cdef vector[TextureClassJob] result
    cdef vector[int64_t] offsets
    cdef map[string, double] numbers
    for name, features, parameters in classes:
        offsets = [i for offset in parameters.get("offsets", ()) for i in offset]
        numbers = {key.encode(): value for key, value in parameters.items() if not key.startswith("offset")}
        AddClass(result, name.encode(), features, offsets, parameters.get("offset_weights", ()), numbers)
    return result


cdef GrayLevelDiscretizationParameters _levels(levels) except *:
    cdef GrayLevelDiscretizationParameters result
    result.method = <DiscretizationMethod><unsigned int>levels["method"]
    result.rangeSource = <RangeSource><unsigned int>levels["range_source"]
    result.numberOfGrayLevels = levels["number_of_gray_levels"]
    result.binWidth = levels["bin_width"]
    result.binEdges = levels["bin_edges"]
    result.rangeMinimum, result.rangeMaximum = levels["value_range"]
    return result


cdef void * _address(number) except? NULL:
    return <void *><uintptr_t>number


def compute_feature_maps(**given):
    """Compute a FeatureMapsJob; arguments are its members, enumerators are numbers.

    pixels, mask, selection, output
               Addresses; 0 if there is no mask or selection.
    discretization
               Dict of method, range_source, number_of_gray_levels, bin_width, bin_edges and value_range.
    classes    Tuples of the name in PyRadiomics, numbers of features, and a dict of parameters.
    threads    0 for one per processor.
    device     -1 for the CPU.
    pixel_type, size, window_size, window_anchor, output_index, output_size, is_double, map_stride, background_value, other_devices,
    is_input_on_device, is_output_on_device, stream

    Returns the number of gray levels.
    """
    cdef FeatureMapsJob job
    cdef CudaOptions options
    cdef GrayLevelDiscretizationResult result
    job.pixels = _address(given["pixels"])
    job.pixelType = <PixelType><unsigned int>given["pixel_type"]
    job.size = _triple(given["size"])
    job.mask = <const uint8_t *>_address(given["mask"])
    job.selection = <const uint8_t *>_address(given["selection"])
    job.discretization = _levels(given["discretization"])
    job.windowSize = _triple(given["window_size"])
    job.windowAnchor = _triple(given["window_anchor"])
    job.classes = _classes(given["classes"])
    job.outputIndex = _triple(given["output_index"])
    job.outputSize = _triple(given["output_size"])
    job.output = _address(given["output"])
    job.outputIsDouble = given["is_double"]
    job.mapStride = given["map_stride"]
    job.backgroundValue = given["background_value"]
    job.execution = MakeExecution(given["threads"], _is_main_thread())
    options.deviceID = given["device"]
    options.otherDeviceIDs = given["other_devices"]
    options.inputLocation = <MemoryLocation><cpp_bool>given["is_input_on_device"]
    options.outputLocation = <MemoryLocation><cpp_bool>given["is_output_on_device"]
    options.stream = _address(given["stream"])
    with nogil:
        if options.deviceID < 0:
            result = ComputeFeatureMaps(job)
        else:
            result = ComputeFeatureMapsCuda(job, options)
    return result.numberOfGrayLevels


def compute_region_features(**given):
    """Compute a RegionFeaturesJob; see compute_feature_maps.

    labels                 Of the regions; all that are greater than 0 if empty.
    shape, planar_shape    Numbers of features.
    pixels, pixel_type, size, label_image, label_type, discretization, classes, spacing, connects_axis, threads

    Returns tuples of label, number of voxels, number of gray levels, bounding box and list of values of each region. The box is pairs
    of the first index and the number of voxels along x, y and z.
    """
    cdef RegionFeaturesJob job
    cdef vector[RegionFeatures] regions
    job.pixels = _address(given["pixels"])
    job.pixelType = <PixelType><unsigned int>given["pixel_type"]
    job.size = _triple(given["size"])
    job.labelImage = _address(given["label_image"])
    job.labelType = <PixelType><unsigned int>given["label_type"]
    job.labels = given["labels"]
    job.discretization = _levels(given["discretization"])
    job.classes = _classes(given["classes"])
    job.shapeFeatures = given["shape"]
    job.planarShapeFeatures = given["planar_shape"]
    for axis in range(3):
        job.spacing[axis] = given["spacing"][axis]
        job.connectsAxis[axis] = given["connects_axis"][axis]
    job.execution = MakeExecution(given["threads"], _is_main_thread())
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
    device                           -1 for the CPU.
    may_use_cpu                      Whether the CPU may compute small images, since the caller has not chosen a device.
    is_on_device                     Whether pixels, mask and output are in the memory of the device.
    size, spacing, weight, minimum_strength, distance_weighting, threads, stream
    """
    job.image = _address(problem["pixels"])
    job.mask = <const uint8_t *>_address(problem["mask"])
    job.pixelType = <ScenePixelType><unsigned int>problem["pixel_type"]
    job.affinityFunction = <AffinityFunction><unsigned int>problem["affinity_function"]
    job.adjacency = <Adjacency><unsigned int>problem["adjacency"]
    job.numberOfComponents = problem["number_of_components"]
    job.size = _triple(problem["size"])
    for axis in range(3):
        job.spacing[axis] = problem["spacing"][axis]
    job.weight = problem["weight"]
    job.minimumStrength = problem["minimum_strength"]
    job.distanceWeighting = problem["distance_weighting"]
    job.execution = MakeExecution(problem["threads"], _is_main_thread())


cdef _set_location(CudaOptions & options, problem):
    options.deviceID = problem["device"]
    options.inputLocation = options.outputLocation = <MemoryLocation><cpp_bool>problem["is_on_device"]
    options.stream = _address(problem["stream"])


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
    affinity = estimate.affinity
    lists = affinity.objectMean, affinity.objectCovariance, affinity.differenceMean, affinity.differenceCovariance
    return lists, estimate.warning.decode()


def compute_fuzzy_connectedness(problem, seeds, affinity, output, cpp_bool is_double):
    """Compute a FuzzyConnectednessJob.

    problem         See _set_problem.
    seeds           Numbers of voxels, in the order of memory.
    affinity        See _affinity.
    output          Address.
    """
    cdef FuzzyConnectednessJob job
    cdef CudaFuzzyConnectednessOptions options
    cdef cpp_bool may_use_cpu = problem["may_use_cpu"]
    _set_problem(job, problem)
    _set_location(options, problem)
    job.seeds = seeds
    job.affinity = _affinity(affinity)
    job.output = _address(output)
    job.outputIsDouble = is_double
    with nogil:
        if options.deviceID < 0 or (may_use_cpu and job.IsSmall()):
            ComputeFuzzyConnectedness(job)
        else:
            ComputeFuzzyConnectednessCuda(job, options)


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


def compute_labels(problem, seeds, affinities, outputs, Hierarchy hierarchy=None, **given):
    """Compute a RelativeFuzzyConnectednessJob.

    problem      See _set_problem.
    seeds        Addresses of the numbers of voxels (int64) and of their labels (uint16), and how many there are.
    affinities   That of all labels, and a dict of those of single ones; see _affinity.
    outputs      Addresses of labels, strength and margin; those that are not needed are left out.
    hierarchy    That of the same image, mask and affinity, or an empty one, which is made.
    competition, tie_rule, labels_are_16_bit, is_double
    """
    cdef RelativeFuzzyConnectednessJob job
    cdef CudaRelativeFuzzyConnectednessOptions options
    cdef KeptHierarchy * kept = NULL
    cdef cpp_bool may_use_cpu = problem["may_use_cpu"]
    cdef size_t count = seeds[2]
    cdef const int64_t * first_voxel = <const int64_t *>_address(seeds[0])
    cdef const uint16_t * first_label = <const uint16_t *>_address(seeds[1])
    _set_problem(job, problem)
    _set_location(options, problem)
    job.seeds.assign(first_voxel, first_voxel + count)
    job.labels.assign(first_label, first_label + count)
    of_all, of_labels = affinities
    job.affinity = _affinity(of_all)
    for label, values in of_labels.items():
        job.labelAffinities[<uint16_t>label] = _affinity(values)
    job.competition = <Competition><unsigned int>given["competition"]
    job.tieRule = <TieRule><unsigned int>given["tie_rule"]
    job.labelOutput = _address(outputs["labels"])
    job.labelsAre16Bit = given["labels_are_16_bit"]
    job.strengthOutput = _address(outputs.get("strength", 0))
    job.marginOutput = _address(outputs.get("margin", 0))
    job.outputIsDouble = given["is_double"]
    if hierarchy is not None:
        kept = &hierarchy.kept
    with nogil:
        ComputeLabels(job, options, may_use_cpu, kept)
