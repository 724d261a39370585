# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The engines, with addresses of memory; the modules of this package pass arrays. Indices and sizes are (x, y, z)."""

import math
import threading

from ._progress import current as _progress

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t, uintptr_t
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
    #include "voxelmaps/FilterImageJob.h"
    #include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
    #include "voxelmaps/HostMemory.h"
    #include "voxelmaps/RegionFeaturesJob.h"
    #include "voxelmaps/RegionMatrix.h"
    #include "voxelmaps/ResampleImageJob.h"
    #include "voxelmaps/ResponseMapJob.h"
    #include "voxelmaps/ThreadPool.h"

    // CMake has the number of the version.
    #ifndef VOXELMAPS_VERSION
    #define VOXELMAPS_VERSION "unknown"
    #endif

    #include <atomic>
    #include <cctype>
    #include <chrono>
    #include <map>
    #include <memory>
    #include <new>
    #include <string>
    #include <thread>
    #include <type_traits>

    namespace
    {
    /** Python has the error. */
    struct PythonError
    {};
    struct Canceled
    {};

    /** Lets other threads of Python run meanwhile. Not by a destructor: Python ends daemon threads where they take the lock, which
     * unwinds the stack. */
    template <typename TFunction>
    void
    CallWithoutLock(const TFunction & function)
    {
      PyThreadState * const state = PyEval_SaveThread();
      try
      {
        function();
      }
      catch (...)
      {
        PyEval_RestoreThread(state);
        throw;
      }
      PyEval_RestoreThread(state);
    }

    /** A dict of arguments; addresses and enumerators are integers. */
    struct Arguments
    {
      PyObject * values;

      template <typename T>
      static void
      Read(PyObject * value, T & member)
      {
        if constexpr (std::is_pointer_v<T>)
        {
          member = static_cast<T>(PyLong_AsVoidPtr(value));
        }
        else if constexpr (std::is_same_v<T, bool>)
        {
          member = PyObject_IsTrue(value) == 1;
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
          member = PyFloat_AsDouble(value);
        }
        else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
        {
          member = static_cast<T>(PyLong_AsLongLong(value));
        }
        else if constexpr (std::is_same_v<T, std::string>)
        {
          Py_ssize_t         size = 0;
          const char * const text = PyUnicode_AsUTF8AndSize(value, &size);
          member = text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
        }
        else
        {
          const Py_ssize_t size = PySequence_Size(value);
          if constexpr (!std::is_aggregate_v<T>)
          {
            member.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
          }
          for (std::size_t i = 0; i < member.size() && PyErr_Occurred() == nullptr; ++i)
          {
            PyObject * const item = PySequence_GetItem(value, static_cast<Py_ssize_t>(i));
            if (item != nullptr)
            {
              Read(item, member[i]);
              Py_DECREF(item);
            }
          }
        }
      }

      /** A borrowed reference. */
      PyObject *
      Get(const char * name) const
      {
        PyObject * const value = PyDict_GetItemString(values, name);
        if (value == nullptr)
        {
          PyErr_SetString(PyExc_KeyError, name);
          throw PythonError{};
        }
        return value;
      }

      template <typename T>
      void
      Set(T & member, const char * name) const
      {
        Read(this->Get(name), member);
        if (PyErr_Occurred() != nullptr)
        {
          throw PythonError{};
        }
      }

      /** "bin_width" of "BinWidth", the name in the ITK filters. */
      static std::string
      InPython(const char * name)
      {
        std::string result;
        for (; *name != 0; ++name)
        {
          const auto character = static_cast<unsigned char>(*name);
          result += std::isupper(character) != 0 && !result.empty() ? "_" : "";
          result += static_cast<char>(std::tolower(character));
        }
        return result;
      }

      /** Set the parameters that are given, by the names of VisitParameters; there must be no others. */
      template <typename TParameters>
      void
      SetParameters(TParameters & parameters) const
      {
        Py_ssize_t known = 0;
        parameters.VisitParameters([&](const char * nameInITK, auto member) {
          const std::string name = InPython(nameInITK);
          if (PyDict_GetItemString(values, name.c_str()) != nullptr)
          {
            this->Set(parameters.*member, name.c_str());
            ++known;
          }
        });
        if (known != PyDict_Size(values))
        {
          PyErr_SetObject(PyExc_KeyError, values);
          throw PythonError{};
        }
      }
    };

    /** Lets the main thread raise KeyboardInterrupt, and calls "progress" with the number of voxels that are finished, unless it is
     * None. Other threads must not ask for the interpreter without need, which would end daemon threads within the engine when the
     * process exits. */
    voxelmaps::JobExecution
    MakeExecution(PyObject * arguments)
    {
      const Arguments given{ arguments };
      bool            isMainThread;
      given.Set(isMainThread, "is_main_thread");
      PyObject * const progress = given.Get("progress");
      voxelmaps::JobExecution execution;
      given.Set(execution.numberOfWorkers, "threads");
      if (execution.numberOfWorkers == 0)
      {
        execution.numberOfWorkers = voxelmaps::GetNumberOfProcessors();
      }
      execution.parallelFor = voxelmaps::GetThreadPool();
      if (!isMainThread && progress == Py_None)
      {
        return execution;
      }
      using Clock = std::chrono::steady_clock;
      const auto caller = std::this_thread::get_id();
      const auto last = std::make_shared<Clock::time_point>(Clock::now());
      const auto finished = std::make_shared<std::atomic<std::uint64_t>>(0);
      execution.reportProgress = [caller, last, finished, isMainThread, progress](std::uint64_t voxels) {
        *finished += voxels;
        if (std::this_thread::get_id() != caller || Clock::now() - *last < std::chrono::milliseconds(50))
        {
          return;
        }
        *last = Clock::now();
        const PyGILState_STATE state = PyGILState_Ensure();
        bool                   hasError = isMainThread && PyErr_CheckSignals() != 0;
        if (!hasError && progress != Py_None)
        {
          PyObject * const result = PyObject_CallFunction(progress, "K", static_cast<unsigned long long>(*finished));
          hasError = result == nullptr;
          Py_XDECREF(result);
        }
        PyGILState_Release(state);
        if (hasError)
        {
          throw PythonError{};
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
      catch (const PythonError &)
      {}
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

    using Classes = std::vector<voxelmaps::TextureClassJob>;

    void
    AddClass(Classes & classes, const std::string & name, PyObject * features, PyObject * parameters)
    {
      classes.push_back(voxelmaps::MakeTextureClassJob(name));
      std::visit(
        [&](auto & job) {
          Arguments::Read(features, job.features);
          Arguments{ parameters }.SetParameters(job);
        },
        classes.back());
    }

    /** Set the device, negative for the CPU, of a job whose arrays are all on it or all in host memory. */
    void
    SetDevice(voxelmaps::CudaOptions & options, const Arguments & given)
    {
      given.Set(options.deviceID, "device");
      given.Set(options.inputLocation, "is_on_device");
      given.Set(options.outputLocation, "is_on_device");
      given.Set(options.stream, "stream");
    }

    void
    SetDiscretization(voxelmaps::GrayLevelDiscretizationParameters & discretization, PyObject * parameters)
    {
      Arguments{ parameters }.SetParameters(discretization);
    }

    /** Returns the number of gray levels. */
    unsigned int
    ComputeMaps(const voxelmaps::FeatureMapsJob & job, const voxelmaps::CudaOptions & options)
    {
      voxelmaps::GrayLevelDiscretizationResult result;
      CallWithoutLock([&] {
        result = options.deviceID < 0 ? voxelmaps::ComputeFeatureMaps(job) : voxelmaps::ComputeFeatureMapsCuda(job, options);
      });
      return result.numberOfGrayLevels;
    }

    std::vector<voxelmaps::RegionFeatures>
    ComputeRegions(PyObject * arguments, PyObject * levels, const Classes & classes)
    {
      const Arguments              given{ arguments };
      voxelmaps::RegionFeaturesJob job;
      given.Set(job.pixels, "pixels");
      given.Set(job.pixelType, "pixel_type");
      given.Set(job.size, "size");
      SetDiscretization(job.discretization, levels);
      job.classes = classes;
      job.execution = MakeExecution(arguments);
      given.Set(job.labelImage, "label_image");
      given.Set(job.labelType, "label_type");
      given.Set(job.shapeFeatures, "shape");
      given.Set(job.planarShapeFeatures, "planar_shape");
      given.Set(job.spacing, "spacing");
      given.Set(job.connectsAxis, "connects_axis");
      given.Set(job.labels, "labels");
      voxelmaps::CudaOptions options;
      SetDevice(options, given);
      std::vector<voxelmaps::RegionFeatures> result;
      CallWithoutLock([&] {
        result =
          options.deviceID < 0 ? voxelmaps::ComputeRegionFeatures(job) : voxelmaps::ComputeRegionFeaturesCuda(job, options);
      });
      return result;
    }

    std::vector<voxelmaps::RegionMatrixElement>
    ComputeMatrix(PyObject * arguments)
    {
      const Arguments            given{ arguments };
      voxelmaps::RegionMatrixJob job;
      given.Set(job.kind, "kind");
      given.Set(job.levels, "levels");
      given.Set(job.inside, "inside");
      given.Set(job.size, "size");
      given.Set(job.offsets, "offsets");
      given.Set(job.connectsAxis, "connects_axis");
      given.Set(job.alpha, "alpha");
      job.execution = MakeExecution(arguments);
      std::vector<voxelmaps::RegionMatrixElement> result;
      CallWithoutLock([&] { result = voxelmaps::ComputeRegionMatrix(job); });
      return result;
    }

    void
    SetGrid(voxelmaps::ImageGrid & grid, PyObject * arguments)
    {
      const Arguments given{ arguments };
      given.Set(grid.size, "size");
      given.Set(grid.origin, "origin");
      given.Set(grid.spacing, "spacing");
      given.Set(grid.direction, "direction");
    }

    void
    Resample(PyObject * arguments, PyObject * inputGrid, PyObject * outputGrid)
    {
      const Arguments             given{ arguments };
      voxelmaps::ResampleImageJob job;
      SetGrid(job.inputGrid, inputGrid);
      SetGrid(job.outputGrid, outputGrid);
      given.Set(job.pixels, "pixels");
      given.Set(job.pixelType, "pixel_type");
      given.Set(job.dimension, "dimension");
      given.Set(job.interpolation, "interpolation");
      given.Set(job.splineOrder, "order");
      given.Set(job.defaultValue, "default_value");
      given.Set(job.output, "output");
      given.Set(job.outputType, "output_type");
      job.execution = MakeExecution(arguments);
      voxelmaps::CudaOptions options;
      SetDevice(options, given);
      CallWithoutLock(
        [&] { options.deviceID < 0 ? voxelmaps::ResampleImage(job) : voxelmaps::ResampleImageCuda(job, options); });
    }

    /** Set what jobs of filters have. */
    template <typename TJob>
    void
    SetFilterJob(TJob & job, const Arguments & given)
    {
      given.Set(job.pixels, "pixels");
      given.Set(job.pixelType, "pixel_type");
      given.Set(job.size, "size");
      given.Set(job.spacing, "spacing");
      given.Set(job.outputIndex, "output_index");
      given.Set(job.outputSize, "output_size");
      given.Set(job.output, "output");
      given.Set(job.outputIsDouble, "is_double");
      job.execution = MakeExecution(given.values);
    }

    void
    ResponseMap(PyObject * arguments, PyObject * parameters)
    {
      const Arguments           given{ arguments };
      voxelmaps::ResponseMapJob job;
      Arguments{ parameters }.SetParameters(job.parameters);
      SetFilterJob(job, given);
      voxelmaps::CudaOptions options;
      SetDevice(options, given);
      CallWithoutLock([&] {
        options.deviceID < 0 ? voxelmaps::ComputeResponseMap(job) : voxelmaps::ComputeResponseMapCuda(job, options);
      });
    }

    void
    FilterImage(PyObject * arguments, const std::vector<voxelmaps::FilteredImage> & images)
    {
      const Arguments           given{ arguments };
      voxelmaps::FilterImageJob job;
      job.images = images;
      SetFilterJob(job, given);
      given.Set(job.appended, "appended");
      given.Set(job.isSingle, "is_single");
      given.Set(job.usesEntireLines, "uses_entire_lines");
      voxelmaps::CudaOptions options;
      SetDevice(options, given);
      CallWithoutLock([&] {
        options.deviceID < 0 ? voxelmaps::FilterImage(job) : voxelmaps::FilterImageCuda(job, options);
      });
    }

    /** Mean and covariance of the object, and of the differences. Scalars have one element. */
    using Affinity = std::vector<std::vector<double>>;

    voxelmaps::FuzzyConnectednessAffinity
    MakeAffinity(const Affinity & values)
    {
      return { values.at(0), values.at(1), values.at(2), values.at(3) };
    }

    /** A job of connectedness with what all have, and options of the device, which is negative for the CPU. */
    template <typename TJob, typename TOptions>
    struct Scene
    {
      TJob     job;
      TOptions options;
      /** Whether the CPU may compute small images, since the caller has not chosen a device. */
      bool mayUseCpu{ false };

      explicit Scene(const Arguments & given)
      {
        given.Set(job.image, "pixels");
        given.Set(job.pixelType, "pixel_type");
        given.Set(job.numberOfComponents, "number_of_components");
        given.Set(job.size, "size");
        given.Set(job.mask, "mask");
        given.Set(job.spacing, "spacing");
        given.Set(job.affinityFunction, "affinity_function");
        given.Set(job.adjacency, "adjacency");
        given.Set(job.weight, "weight");
        given.Set(job.minimumStrength, "minimum_strength");
        given.Set(job.distanceWeighting, "distance_weighting");
        job.execution = MakeExecution(given.values);
        SetDevice(options, given);
        given.Set(mayUseCpu, "may_use_cpu");
      }
      bool
      IsForDevice() const
      {
        return options.deviceID >= 0 && !(mayUseCpu && job.IsSmall());
      }
    };
    using StrengthScene = Scene<voxelmaps::FuzzyConnectednessJob, voxelmaps::CudaFuzzyConnectednessOptions>;
    using LabelsScene = Scene<voxelmaps::RelativeFuzzyConnectednessJob, voxelmaps::CudaOptions>;

    /** Returns a warning, or an empty string. */
    std::string
    EstimateAffinity(PyObject * arguments, unsigned int radius, Affinity & result)
    {
      const Arguments given{ arguments };
      StrengthScene   scene(given);
      given.Set(scene.job.seeds, "seeds");
      voxelmaps::AffinityEstimateParameters parameters{ scene.job.affinityFunction, radius, {} };
      given.Set(parameters.labels, "labels_of_seeds");
      voxelmaps::AffinityEstimate estimate;
      CallWithoutLock([&] { estimate = voxelmaps::EstimateAffinity(scene.job, parameters, scene.job.execution); });
      const auto & affinity = estimate.affinity;
      result = { affinity.objectMean, affinity.objectCovariance, affinity.differenceMean, affinity.differenceCovariance };
      return estimate.warning;
    }

    void
    ComputeStrengths(PyObject * arguments, const Affinity & affinity)
    {
      const Arguments given{ arguments };
      StrengthScene   scene(given);
      given.Set(scene.job.seeds, "seeds");
      scene.job.affinity = MakeAffinity(affinity);
      given.Set(scene.job.output, "output");
      given.Set(scene.job.outputIsDouble, "is_double");
      CallWithoutLock([&] {
        if (scene.IsForDevice())
        {
          voxelmaps::ComputeFuzzyConnectednessCuda(scene.job, scene.options);
        }
        else
        {
          voxelmaps::ComputeFuzzyConnectedness(scene.job);
        }
      });
    }

    /** A hierarchy that jobs keep, and whether another thread has asked the running one to end. */
    struct KeptHierarchy
    {
      voxelmaps::RelativeFuzzyConnectednessHierarchy hierarchy;
      std::atomic<bool>                              isCanceled{ false };
    };

    void
    ComputeLabels(const LabelsScene & scene, voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy)
    {
      if (scene.IsForDevice())
      {
        try
        {
          hierarchy != nullptr
            ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(scene.job, scene.options, *hierarchy)
            : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(scene.job, scene.options);
          return;
        }
        catch (const voxelmaps::DeviceMemoryError &)
        {
          if (!scene.mayUseCpu)
          {
            throw;
          }
        }
      }
      hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectedness(scene.job, *hierarchy)
                           : voxelmaps::ComputeRelativeFuzzyConnectedness(scene.job);
    }

    /** Compute labels, with a hierarchy unless it is null. */
    void
    ComputeLabels(PyObject * arguments, const Affinity & affinity, const std::map<std::uint16_t, Affinity> & ofLabels,
                  KeptHierarchy * kept)
    {
      const Arguments       given{ arguments };
      LabelsScene           scene(given);
      auto &                job = scene.job;
      const std::int64_t *  seeds;
      const std::uint16_t * labels;
      std::size_t           count;
      given.Set(seeds, "seeds");
      given.Set(labels, "labels_of_seeds");
      given.Set(count, "number_of_seeds");
      job.seeds.assign(seeds, seeds + count);
      job.labels.assign(labels, labels + count);
      job.affinity = MakeAffinity(affinity);
      for (const auto & each : ofLabels)
      {
        job.labelAffinities[each.first] = MakeAffinity(each.second);
      }
      given.Set(job.competition, "competition");
      given.Set(job.tieRule, "tie_rule");
      given.Set(job.labelOutput, "labels");
      given.Set(job.labelsAre16Bit, "labels_are_16_bit");
      given.Set(job.strengthOutput, "strength");
      given.Set(job.marginOutput, "margin");
      given.Set(job.outputIsDouble, "is_double");
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
      CallWithoutLock([&] { ComputeLabels(scene, kept != nullptr ? &kept->hierarchy : nullptr); });
    }
    } // namespace
    """
    void RaisePythonError()
    const char * VOXELMAPS_VERSION

    ctypedef vector[vector[double]] Affinity

    cdef cppclass FeatureNames "voxelmaps::FeatureNames":
        const char * pyRadiomicsName

    cdef cppclass FeatureTable "voxelmaps::FeatureTable":
        unsigned int GetNumberOfFeatures()
        const FeatureNames & operator[](unsigned int)
        cpp_bool Find(const string & name, unsigned int & feature)

    cdef cppclass TextureClassJob "voxelmaps::TextureClassJob":
        pass

    cdef cppclass Triple "voxelmaps::Triple":
        int64_t & operator[](size_t)

    cdef enum PixelType "voxelmaps::PixelType":
        pass

    cdef enum MemoryLocation "voxelmaps::MemoryLocation":
        pass

    cdef cppclass Discretization "voxelmaps::GrayLevelDiscretizationParameters":
        pass

    cdef cppclass JobExecution "voxelmaps::JobExecution":
        pass

    cdef cppclass CudaOptions "voxelmaps::CudaOptions":
        int deviceID
        vector[int] otherDeviceIDs
        MemoryLocation inputLocation
        MemoryLocation outputLocation
        void * stream

    cdef cppclass FeatureMapsJob "voxelmaps::FeatureMapsJob":
        const void * pixels
        PixelType pixelType
        Triple size
        const uint8_t * mask
        Discretization discretization
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

    cdef cppclass RegionFeatures "voxelmaps::RegionFeatures":
        int64_t label
        int64_t numberOfVoxels
        unsigned int numberOfGrayLevels
        Triple boxIndex
        Triple boxSize
        vector[double] values

    cdef cppclass RegionMatrixElement "voxelmaps::RegionMatrixElement":
        uint64_t row
        uint64_t column
        double value

    cdef cppclass RegionMatrixKind "voxelmaps::RegionMatrixKind":
        pass

    cdef cppclass AxisFilter "voxelmaps::AxisFilter":
        unsigned int axis
        double sigma
        unsigned int order
        cpp_bool normalizeAcrossScale
        vector[double] kernel
        int64_t origin
        FilterBoundary boundary

    cdef cppclass FilterTerm "voxelmaps::FilterTerm":
        vector[AxisFilter] filters
        double factor

    cdef cppclass FilteredImage "voxelmaps::FilteredImage":
        vector[FilterTerm] terms
        FilterCombination combination

    cdef enum FilterBoundary "voxelmaps::FilterImageEnums::Boundary":
        pass

    cdef enum FilterCombination "voxelmaps::FilterImageEnums::Combination":
        pass

    cdef cppclass RelativeHierarchy "voxelmaps::RelativeFuzzyConnectednessHierarchy":
        void Release()
        uint64_t GetMemory()

    cdef cppclass KeptHierarchy:
        KeptHierarchy() except +
        RelativeHierarchy hierarchy
        cpp_bool isCanceled

    const FeatureTable & GetFeatureTable "voxelmaps::GetFeatureTable"(const string & name) except +RaisePythonError
    void AddClass(
        vector[TextureClassJob] & classes, const string & name, object features, object given) except +RaisePythonError
    void SetDiscretization(Discretization & discretization, object parameters) except +RaisePythonError
    JobExecution MakeExecution(object given) except +RaisePythonError
    unsigned int ComputeMaps(const FeatureMapsJob & job, const CudaOptions & options) except +RaisePythonError
    vector[RegionFeatures] ComputeRegions(
        object given, object levels, const vector[TextureClassJob] & classes) except +RaisePythonError
    vector[RegionMatrixElement] ComputeMatrix(object given) except +RaisePythonError
    vector[double] ComputeRegionMatrixFeatures "voxelmaps::ComputeRegionMatrixFeatures" (
        RegionMatrixKind kind, const vector[RegionMatrixElement] & elements, unsigned int levels) except +RaisePythonError
    void Resample(object given, object input_grid, object output_grid) except +RaisePythonError
    void FilterImage(object given, const vector[FilteredImage] & images) except +RaisePythonError
    void ResponseMap(object given, object parameters) except +RaisePythonError
    string EstimateAffinity(object given, unsigned int radius, Affinity & result) except +RaisePythonError
    void ComputeStrengths(object given, const Affinity & affinity) except +RaisePythonError
    void ComputeLabels(
        object given, const Affinity & affinity, const map[uint16_t, Affinity] & of_labels,
        KeptHierarchy * kept) except +RaisePythonError


cdef extern from * namespace "voxelmaps":
    uint64_t GetMachineMemory()
    void VerifyWindow(const Triple & size, const Triple & anchor) except +RaisePythonError


cdef extern from "voxelmaps/CudaDevices.h" namespace "voxelmaps::CudaDevices":
    int GetNumberOfDevices() except +RaisePythonError
    string GetReasonForNoDevice() except +RaisePythonError
    string GetName(int device) except +RaisePythonError
    void ReleaseResources() except +RaisePythonError nogil


def version():
    """The number of the version, also of a package without metadata."""
    return VOXELMAPS_VERSION.decode()


def feature_names():
    """Dict of the names of PyRadiomics' features, by its names of the classes; their places are the numbers of features."""
    cdef const FeatureTable * table
    names = {}
    for name in ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm", "shape", "shape2D"):
        table = &GetFeatureTable(name.encode())
        names[name] = [table[0][i].pyRadiomicsName.decode() for i in range(table.GetNumberOfFeatures())]
    return names


def find_feature(name, feature):
    """The number of the feature of a class with this name, abbreviation, or name in the IBSI's manual; None if there is none."""
    cdef unsigned int number = 0
    return number if GetFeatureTable(name.encode()).Find(feature.encode(), number) else None


def check_window(sizes):
    """Raise ValueError for a window that is too large, of so many voxels along each axis."""
    VerifyWindow(_triple(sizes, 1), _triple((), 0))


def machine_memory():
    """Bytes of memory of this machine; None where they are unknown."""
    memory = GetMachineMemory()
    return memory if memory < 2**64 - 1 else None


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


cdef _with_thread(given, reporter=None):
    given["is_main_thread"] = threading.get_ident() == threading.main_thread().ident
    given["progress"] = None if reporter is None else reporter.report
    return given


cdef _end_job(reporter, size, count=1):
    if reporter is not None:
        reporter.end_job(math.prod(size) * count)


cdef vector[TextureClassJob] _classes(classes) except *:
    cdef vector[TextureClassJob] result
    for name, features, parameters in classes:
        AddClass(result, name.encode(), features, parameters)
    return result


def triple(values, fill):
    """Values in the order of the axes as (x, y, z)."""
    return (*reversed(values), fill, fill, fill)[:3]


cdef Triple _triple(values, fill) except *:
    cdef Triple result
    for d, value in enumerate(triple(values, fill)):
        result[d] = value
    return result


cdef uintptr_t _address(array, index, dimension) except *:
    """Address of an image of a batch, of an array that has one or is for all; 0 if there is no array."""
    if array is not None and len(array.shape) > dimension:
        array = array._replace(array=array.array[index])
    return 0 if array is None else array.address


def compute_feature_maps(request, index, uintptr_t output, int64_t map_stride):
    """Compute the maps of a _feature_maps.Request, whose run has the other arguments; returns the number of gray levels."""
    cdef FeatureMapsJob job
    cdef CudaOptions options
    library, dimension = request.image.library, len(request.box)
    output_size = [part.stop - part.start for part in request.box]
    job.pixels = <const void *>_address(request.image, index, dimension)
    job.pixelType = <PixelType><int>request.image.pixel_type
    job.size = _triple(request.shape, 1)
    job.mask = <const uint8_t *>_address(request.mask, index, dimension)
    job.selection = <const uint8_t *>_address(request.selection, index, dimension)
    SetDiscretization(job.discretization, request.discretization)
    job.windowSize = _triple(request.window, 1)
    job.windowAnchor = _triple(request.anchor, 0)
    job.classes = _classes(request.classes)
    job.outputIndex = _triple([part.start for part in request.box], 0)
    job.outputSize = _triple(output_size, 1)
    job.output = <void *>output
    job.outputIsDouble = request.dtype == "float64"
    job.mapStride = map_stride
    job.backgroundValue = request.background
    options.deviceID, options.otherDeviceIDs = request.device
    options.inputLocation = options.outputLocation = <MemoryLocation><int>(library.device is not None)
    options.stream = <void *><uintptr_t>library.stream()
    reporter = _progress.get()
    execution = _with_thread({"threads": request.threads}, reporter)
    job.execution = MakeExecution(execution)
    levels = ComputeMaps(job, options)
    _end_job(reporter, output_size, len(request.classes))
    return levels


def compute_region_features(*, classes, discretization, **given):
    """Compute a RegionFeaturesJob; arguments are its members, and addresses and enumerators are numbers.

    classes, discretization
               As _feature_maps.Request has them.
    labels     Labels of the regions; all that are greater than 0 if empty.
    shape, planar_shape
               Numbers of features.
    threads    0 for one per processor.
    device     -1 for the CPU.
    pixels, pixel_type, size, label_image, label_type, spacing, connects_axis, is_on_device, stream

    Returns tuples of label, number of voxels, number of gray levels, bounding box and list of values of each region. The box is pairs
    of the first index and the number of voxels along x, y and z.
    """
    reporter = _progress.get()
    cdef vector[RegionFeatures] regions = ComputeRegions(_with_thread(given, reporter), discretization, _classes(classes))
    _end_job(reporter, given["size"])
    return [
        (one.label, one.numberOfVoxels, one.numberOfGrayLevels, [(one.boxIndex[d], one.boxSize[d]) for d in range(3)], one.values)
        for one in regions
    ]


# In the order of voxelmaps::RegionMatrixKind.
_MATRICES = ("glcm", "glrlm", "glszm", "gldzm", "ngldm", "ngtdm")


def compute_region_matrix(name, **given):
    """Compute a RegionMatrixJob: a list of tuples of row, column and value.

    name                          One of "glcm", "glrlm", "glszm", "gldzm", "ngldm" and "ngtdm".
    levels, inside                Addresses; inside is 0 for the region of the levels.
    size, offsets, connects_axis, alpha
    """
    cdef vector[RegionMatrixElement] elements = ComputeMatrix(_with_thread({**given, "kind": _MATRICES.index(name), "threads": 1}))
    return [(one.row, one.column, one.value) for one in elements]


def region_matrix_features(name, elements, unsigned int levels):
    """The features of a matrix, a list of tuples of row, column and value, in the order of those of its class.

    Matrices by level and size have the features of "glrlm".
    """
    cdef vector[RegionMatrixElement] cells
    cdef RegionMatrixElement cell
    for cell.row, cell.column, cell.value in elements:
        cells.push_back(cell)
    return ComputeRegionMatrixFeatures(<RegionMatrixKind><int>_MATRICES.index(name), cells, levels)


def resample_image(input_grid, output_grid, **given):
    """Compute a ResampleImageJob; see compute_region_features.

    input_grid, output_grid
               Dicts of size, origin, spacing and direction, row by row, of x, y and z.
    pixels, pixel_type, dimension, interpolation, order, default_value, output, output_type, threads, device, is_on_device, stream
    """
    reporter = _progress.get()
    Resample(_with_thread(given, reporter), input_grid, output_grid)
    _end_job(reporter, output_grid["size"])


def filter_image(*, images, has_progress, **given):
    """Compute a FilterImageJob; see compute_region_features.

    images    Tuples of terms and whether the root of the sum of their squares is computed; a term is a list of filters and a factor, and a
              filter is axis, sigma, order, whether it is normalized across scale, kernel, origin and boundary.
    has_progress
              Whether the voxels count for the progress.
    device    -1 for the CPU.
    pixels, pixel_type, size, appended, spacing, is_single, uses_entire_lines, output_index, output_size, output, is_double, threads,
    is_on_device, stream
    """
    cdef vector[FilteredImage] filtered
    cdef FilteredImage image
    cdef FilterTerm term
    cdef AxisFilter line
    for terms, is_magnitude in images:
        image.combination = <FilterCombination><int>is_magnitude
        image.terms.clear()
        for filters, term.factor in terms:
            term.filters.clear()
            for line.axis, line.sigma, line.order, line.normalizeAcrossScale, line.kernel, line.origin, boundary in filters:
                line.boundary = <FilterBoundary><int>boundary
                term.filters.push_back(line)
            image.terms.push_back(term)
        filtered.push_back(image)
    reporter = _progress.get() if has_progress else None
    FilterImage(_with_thread(given, reporter), filtered)
    _end_job(reporter, given["output_size"], len(images))


def response_map(*, parameters, **given):
    """Compute a ResponseMapJob; see compute_region_features.

    parameters    Dict of parameters of the ITK filter, such as support_size, that differ from their defaults.
    device        -1 for the CPU.
    pixels, pixel_type, size, spacing, output_index, output_size, output, is_double, threads, is_on_device, stream
    """
    ResponseMap(_with_thread(given), parameters)


def estimate_affinity(scene, seeds, unsigned int radius, labels_of_seeds=()):
    """An affinity from seeds, which are numbers of voxels in host memory, and a warning or an empty string. Raises ValueError if the
    intensities of labels differ.

    scene    Dict of what all jobs of connectedness have: pixels and mask, which are addresses, 0 for no mask; number_of_components,
             0 for scalars; pixel_type, size, spacing, affinity_function, adjacency, weight, minimum_strength, distance_weighting,
             threads, device, may_use_cpu, is_on_device and stream.

    An affinity is four lists: mean and covariance of the object, and of the differences. Scalars have one element.
    """
    cdef Affinity affinity
    given = {**scene, "seeds": seeds, "labels_of_seeds": labels_of_seeds}
    warning = EstimateAffinity(_with_thread(given), radius, affinity)
    return affinity, warning.decode()


def compute_fuzzy_connectedness(scene, Affinity affinity, **given):
    """Compute a FuzzyConnectednessJob; see estimate_affinity.

    seeds, output, is_double
                 Numbers of voxels, an address, and whether it is one of doubles.
    """
    reporter = _progress.get()
    ComputeStrengths(_with_thread({**scene, **given}, reporter), affinity)
    _end_job(reporter, scene["size"])


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


def compute_labels(scene, Affinity affinity, map[uint16_t, Affinity] of_labels, Hierarchy hierarchy=None, **given):
    """Compute a RelativeFuzzyConnectednessJob; see estimate_affinity.

    affinity, of_labels
                 That of all labels, and a dict of those of single ones.
    hierarchy    That of the same image, mask and affinity, or an empty one, which is made.
    seeds, labels_of_seeds
                 Addresses of the numbers of voxels (int64) and of their labels (uint16), of which there are number_of_seeds.
    labels, strength, margin
                 Addresses of outputs; 0 for those of strength and margin that are not needed.
    competition, tie_rule, labels_are_16_bit, is_double
    """
    cdef KeptHierarchy * kept = NULL
    if hierarchy is not None:
        kept = &hierarchy.kept
    reporter = _progress.get()
    ComputeLabels(_with_thread({**scene, **given}, reporter), affinity, of_labels, kept)
    _end_job(reporter, scene["size"])
