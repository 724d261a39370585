// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/ResponseMapJob.h"

#include "common/ParallelFor.h"
#include "preprocess/Filter.h"
#include "voxelmaps/CudaArrays.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
using Filter = ResponseMapEnums::Filter;
using Pooling = ResponseMapEnums::Pooling;
using Kernel = std::vector<double>;
/** Kernels along x and y, and z unless planes are filtered. */
using Row = std::vector<Kernel>;

const std::map<std::string, std::pair<Kernel, double>> &
GetLawsKernels()
{
  // With the squares of their norms (IBSI 2, section 3.3).
  static const std::map<std::string, std::pair<Kernel, double>> kernels{
    { "L5", { { 1, 4, 6, 4, 1 }, 70 } },   { "E5", { { -1, -2, 0, 2, 1 }, 10 } }, { "S5", { { -1, 0, 2, 0, -1 }, 6 } },
    { "W5", { { -1, 2, 0, -2, 1 }, 10 } }, { "R5", { { 1, -4, 6, -4, 1 }, 70 } }, { "L3", { { 1, 2, 1 }, 6 } },
    { "E3", { { -1, 0, 1 }, 2 } },         { "S3", { { -1, 2, -1 }, 6 } }
  };
  return kernels;
}

/** The low-pass filters of the decomposition of wavelets. */
const std::map<std::string, Kernel> &
GetWavelets()
{
  static const std::map<std::string, Kernel> wavelets{
    { "haar", { 0.7071067811865476, 0.7071067811865476 } },
    { "db2", { -0.12940952255126037, 0.2241438680420134, 0.8365163037378079, 0.48296291314453416 } },
    { "db3",
      { 0.03522629188570953,
        -0.08544127388202666,
        -0.13501102001025458,
        0.45987750211849154,
        0.8068915093110925,
        0.33267055295008263 } },
    { "coif1",
      { -0.015655728135791993,
        -0.07273261951252645,
        0.3848648468648578,
        0.8525720202116004,
        0.3378976624574818,
        -0.07273261951252645 } }
  };
  return wavelets;
}

std::string
Join(const std::vector<std::string> & names)
{
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
  {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

template <typename TValue>
std::string
ToText(const TValue & value)
{
  std::ostringstream text;
  if constexpr (std::is_same<TValue, std::string>::value)
  {
    text << '\'' << value << '\'';
  }
  else if constexpr (std::is_same<TValue, Kernel>::value)
  {
    text << "a list of " << value.size() << " numbers";
  }
  else
  {
    text << std::boolalpha << value;
  }
  return text.str();
}

/** The filters that a parameter has an effect on; none for those that all have. */
std::vector<Filter>
GetAffectedFilters(const std::string & parameter)
{
  static const std::map<std::string, std::vector<Filter>> filters{
    { "SupportSize", { Filter::Mean } },
    { "Sigma", { Filter::LaplacianOfGaussian, Filter::Gabor } },
    { "Cutoff", { Filter::LaplacianOfGaussian } },
    { "Kernels", { Filter::Laws } },
    { "ComputeEnergy", { Filter::Laws } },
    { "EnergyDistance", { Filter::Laws } },
    { "Wavelength", { Filter::Gabor } },
    { "Gamma", { Filter::Gabor } },
    { "Angle", { Filter::Gabor } },
    { "AngleStep", { Filter::Gabor } },
    { "Pooling", { Filter::Laws, Filter::Wavelet } },
    { "Wavelet", { Filter::Wavelet } },
    { "LowPassFilter", { Filter::Wavelet } },
    { "HighPassFilter", { Filter::Wavelet } },
    { "Subband", { Filter::Wavelet } },
    { "Level", { Filter::Wavelet } },
  };
  const auto found = filters.find(parameter);
  return found == filters.end() ? std::vector<Filter>{} : found->second;
}

void
VerifyRange(const char * name, unsigned int value, unsigned int least, unsigned int most)
{
  if (value < least || value > most)
  {
    Refuse(name, " is ", value, ", but must be from ", least, " to ", most, '.');
  }
}

void
VerifyPositive(const char * name, double value, const char * meaning)
{
  if (!(value > 0.0 && std::isfinite(value)))
  {
    Refuse(name, " is ", value, ", but must be ", meaning, ", finite and greater than 0.");
  }
}

/** Names of kernels, of two letters each, or the letters of a subband, along x, y and z. */
std::vector<std::string>
SplitNames(const std::string & text, std::size_t length)
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size(); i += length)
  {
    names.push_back(text.substr(i, length));
  }
  return names;
}

template <typename TKnown>
void
VerifyNames(const char * name, const std::string & value, unsigned int dimension, const TKnown & known,
            const char * what, const char * example)
{
  const std::size_t length = known.begin()->first.size();
  const auto        names = SplitNames(value, length);
  if (names.size() != dimension ||
      !std::all_of(names.begin(), names.end(), [&known](const std::string & each) { return known.count(each) > 0; }))
  {
    std::vector<std::string> texts;
    for (const auto & each : known)
    {
      texts.push_back(each.first);
    }
    Refuse(name,
           " is '",
           value,
           "', but must be ",
           dimension,
           ' ',
           what,
           " of ",
           Join(texts),
           ", such as '",
           std::string(example).substr(0, dimension * length),
           "': one per axis that is filtered, x first.");
  }
}

/** The low-pass filter L and the high-pass filter H. */
std::map<std::string, Kernel>
GetWaveletFilters(const ResponseMapParameters & parameters)
{
  const Kernel low = parameters.lowPassFilter.empty() ? GetWavelets().at(parameters.wavelet) : parameters.lowPassFilter;
  Kernel       high = parameters.highPassFilter;
  for (std::size_t i = 0; parameters.highPassFilter.empty() && i < low.size(); ++i)
  {
    high.push_back((i % 2 == 0 ? -1 : 1) * low[low.size() - 1 - i]);
  }
  return { { "L", low }, { "H", high } };
}

/** The kernel of the à trous algorithm at a level, of odd length. */
Kernel
MakeKernelWithHoles(Kernel kernel, unsigned int level)
{
  if (kernel.size() % 2 == 0)
  {
    kernel.push_back(0.0);
  }
  const std::size_t step = std::size_t{ 1 } << (level - 1);
  Kernel            result((kernel.size() - 1) * step + 1, 0.0);
  for (std::size_t i = 0; i < kernel.size(); ++i)
  {
    result[i * step] = kernel[i];
  }
  return result;
}

/** The different cascades of rows that are rotated together by right angles: about z if they are planar, otherwise by
 * all 24 rotations. The first one is not rotated. */
std::vector<std::vector<Row>>
MakeRotations(const std::vector<Row> & rows)
{
  const std::size_t             axes = rows[0].size();
  std::vector<std::vector<Row>> found;
  std::vector<std::size_t>      order(axes);
  for (std::size_t i = 0; i < axes; ++i)
  {
    order[i] = i;
  }
  do
  {
    bool isOdd = false;
    for (std::size_t i = 0; i < axes; ++i)
    {
      isOdd ^= std::count_if(order.begin() + static_cast<std::ptrdiff_t>(i),
                             order.end(),
                             [&](std::size_t later) { return later < order[i]; }) %
                 2 ==
               1;
    }
    for (unsigned int signs = 0; signs < 1u << axes; ++signs)
    {
      const auto isReversed = [&](std::size_t i) { return (signs >> (axes - 1 - i) & 1) == 1; };
      bool       isMirrored = isOdd;
      for (std::size_t i = 0; i < axes; ++i)
      {
        isMirrored ^= isReversed(i);
      }
      if (isMirrored)
      {
        // Rotations have the determinant 1.
        continue;
      }
      std::vector<Row> turned(rows.size(), Row(axes));
      for (std::size_t r = 0; r < rows.size(); ++r)
      {
        for (std::size_t i = 0; i < axes; ++i)
        {
          turned[r][i] = rows[r][order[i]];
          if (isReversed(i))
          {
            std::reverse(turned[r][i].begin(), turned[r][i].end());
          }
        }
      }
      if (std::find(found.begin(), found.end(), turned) == found.end())
      {
        found.push_back(std::move(turned));
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

/** Convolutions with kernels of odd length. */
FilterTerm
MakeTerm(const std::vector<Row> & rows, FilterBoundary boundary)
{
  FilterTerm term;
  for (const Row & row : rows)
  {
    for (std::size_t axis = 0; axis < row.size(); ++axis)
    {
      AxisFilter filter;
      filter.axis = static_cast<unsigned int>(axis);
      filter.kernel = row[axis];
      filter.origin = static_cast<std::int64_t>(row[axis].size() / 2);
      filter.boundary = boundary;
      term.filters.push_back(filter);
    }
  }
  return term;
}

FilteredImage
MakeMean(std::int64_t size, const ResponseMapParameters & parameters)
{
  const Kernel  kernel(static_cast<std::size_t>(size), 1.0 / static_cast<double>(size));
  FilteredImage image;
  image.terms.push_back(MakeTerm({ Row(parameters.filterDimension, kernel) }, parameters.boundary));
  return image;
}

FilteredImage
MakeLaplacianOfGaussian(const ResponseMapParameters & parameters, const std::array<double, 3> & spacing)
{
  Row gaussians, derivatives;
  for (std::size_t axis = 0; axis < parameters.filterDimension; ++axis)
  {
    const double sigma = parameters.sigma / spacing[axis];
    const double reach = std::floor(parameters.cutoff * sigma + 0.5);
    if (!(2.0 * reach < static_cast<double>(maxTaps)))
    {
      Refuse("Sigma is ",
             parameters.sigma,
             ", of which the kernel has ",
             parameters.cutoff,
             " for voxels of size ",
             spacing[axis],
             ", but it must have fewer than ",
             maxTaps,
             " numbers: choose a smaller Sigma or Cutoff.");
    }
    constexpr double pi = 3.14159265358979323846;
    Kernel           gaussian, derivative;
    for (double x = -reach; x <= reach; ++x)
    {
      const double value = std::exp(-(x * x) / (2.0 * (sigma * sigma))) / (std::sqrt(2.0 * pi) * sigma);
      gaussian.push_back(value);
      derivative.push_back((x * x / (sigma * sigma) - 1.0) * value / (sigma * sigma));
    }
    if (!std::all_of(derivative.begin(), derivative.end(), [](double value) { return std::isfinite(value); }))
    {
      Refuse("Sigma is ",
             parameters.sigma,
             ", of which the kernel for voxels of size ",
             spacing[axis],
             " is not finite: choose a Sigma near the size of a voxel or above.");
    }
    gaussians.push_back(gaussian);
    derivatives.push_back(derivative);
  }
  FilteredImage image;
  for (std::size_t axis = 0; axis < gaussians.size(); ++axis)
  {
    Row row = gaussians;
    row[axis] = derivatives[axis];
    image.terms.push_back(MakeTerm({ row }, parameters.boundary));
  }
  return image;
}

/** Rows one after the other, and the same for rotations of them all, which are pooled. */
FilteredImage
MakePooled(const std::vector<Row> & rows, const ResponseMapParameters & parameters)
{
  FilteredImage image;
  image.combination = parameters.pooling == Pooling::Maximum ? FilterCombination::Maximum : FilterCombination::Mean;
  const auto rotations =
    parameters.pooling == Pooling::None ? std::vector<std::vector<Row>>{ rows } : MakeRotations(rows);
  for (const std::vector<Row> & rotation : rotations)
  {
    image.terms.push_back(MakeTerm(rotation, parameters.boundary));
  }
  return image;
}

FilteredImage
MakeLaws(const ResponseMapParameters & parameters)
{
  Row row;
  for (const std::string & name : SplitNames(parameters.kernels, 2))
  {
    const auto & [kernel, squaredNorm] = GetLawsKernels().at(name);
    row.push_back(kernel);
    for (double & value : row.back())
    {
      value /= std::sqrt(squaredNorm);
    }
  }
  FilteredImage image = MakePooled({ row }, parameters);
  image.isAbsolute = parameters.computeEnergy;
  return image;
}

FilteredImage
MakeGabor(const ResponseMapParameters & parameters)
{
  GaborFilter filter;
  filter.sigma = parameters.sigma;
  filter.wavelength = parameters.wavelength;
  filter.gamma = parameters.gamma;
  filter.angle = parameters.angle;
  filter.angleStep = parameters.angleStep;
  filter.hasAllPlanes = parameters.filterDimension == 3 && parameters.angleStep > 0.0;
  filter.boundary = parameters.boundary;
  return MakeGaborImage(filter);
}

FilteredImage
MakeWavelet(const ResponseMapParameters & parameters)
{
  auto             filters = GetWaveletFilters(parameters);
  const auto       letters = SplitNames(parameters.subband, 1);
  std::vector<Row> rows;
  for (unsigned int level = 1; level <= parameters.level; ++level)
  {
    Row row;
    for (const std::string & letter : letters)
    {
      // Low-pass filters of the levels below.
      row.push_back(MakeKernelWithHoles(filters[level < parameters.level ? "L" : letter], level));
    }
    rows.push_back(row);
  }
  return MakePooled(rows, parameters);
}

/** The jobs of a map: that of the filter, and that of the energy of its response, if it is computed. */
struct Jobs
{
  FilterImageJob first;
  FilterImageJob second;
  bool           hasSecond{ false };
};

FilteredImage
MakeImage(const ResponseMapParameters & parameters, const std::array<double, 3> & spacing)
{
  switch (parameters.filter)
  {
    case Filter::Mean:
      return MakeMean(parameters.supportSize, parameters);
    case Filter::LaplacianOfGaussian:
      return MakeLaplacianOfGaussian(parameters, spacing);
    case Filter::Laws:
      return MakeLaws(parameters);
    case Filter::Gabor:
      return MakeGabor(parameters);
    case Filter::Wavelet:
      break;
  }
  return MakeWavelet(parameters);
}

/** The first job computes the response where the energy needs it; the second one averages it. Compute() sets the memory
 * between them. */
Jobs
MakeJobs(const ResponseMapJob & job)
{
  const ResponseMapParameters & parameters = job.parameters;
  parameters.Verify();
  Jobs             jobs;
  FilterImageJob & first = jobs.first;
  first.pixels = job.pixels;
  first.pixelType = job.pixelType;
  first.size = job.size;
  first.spacing = job.spacing;
  first.outputIndex = job.outputIndex;
  first.outputSize = job.outputSize;
  first.output = job.output;
  first.outputIsDouble = job.outputIsDouble;
  first.execution = job.execution;
  first.images = { MakeImage(parameters, job.spacing) };
  jobs.hasSecond = parameters.filter == Filter::Laws && parameters.computeEnergy;
  if (jobs.hasSecond)
  {
    FilterImageJob & second = jobs.second;
    second = first;
    const std::int64_t size = 2 * static_cast<std::int64_t>(parameters.energyDistance) + 1;
    second.images = { MakeMean(size, parameters) };
    const FilterBox input = FilterPlan(second, false).input;
    first.outputIndex = input.begin;
    first.outputSize = input.GetSize();
    first.output = nullptr;
    first.outputIsDouble = true;
    // Only the map counts.
    first.execution.reportProgress = [report = job.execution.reportProgress](std::uint64_t) {
      if (report)
      {
        report(0);
      }
    };
    second.pixelType = PixelType::Double;
    second.size = first.outputSize;
    for (std::size_t d = 0; d < 3; ++d)
    {
      second.outputIndex[d] -= input.begin[d];
    }
  }
  return jobs;
}

/** Compute a map by compute(job, readsResponse, writesResponse), where the response is the memory between two jobs,
 * which allocate(bytes) returns. */
template <typename TAllocate, typename TCompute>
void
Compute(const ResponseMapJob & job, const TAllocate & allocate, const TCompute & compute)
{
  const DefaultFloatingPointEnvironment environment;
  Jobs                                  jobs = MakeJobs(job);
  if (!jobs.hasSecond)
  {
    compute(jobs.first, false, false);
    return;
  }
  const Triple & size = jobs.first.outputSize;
  const auto     bytes = static_cast<std::uint64_t>(size[0] * size[1] * size[2]) * sizeof(double);
  if (bytes == 0)
  {
    return;
  }
  const std::shared_ptr<void> response = allocate(bytes);
  jobs.first.output = response.get();
  jobs.second.pixels = response.get();
  compute(jobs.first, false, true);
  compute(jobs.second, true, false);
}
} // namespace

void
ResponseMapParameters::Verify() const
{
  VerifyEnumerator("Filter", filter, Filter::Wavelet);
  VerifyEnumerator("Boundary", boundary, FilterBoundary::MirrorWithoutEdge);
  VerifyEnumerator("Pooling", pooling, Pooling::Maximum);
  VerifyRange("FilterDimension", filterDimension, 2, 3);
  const ResponseMapParameters defaults;
  VisitParameters([&](const char * name, auto member) {
    const std::vector<Filter> filters = GetAffectedFilters(name);
    if (this->*member != defaults.*member && !filters.empty() &&
        std::find(filters.begin(), filters.end(), filter) == filters.end())
    {
      std::vector<std::string> owners;
      for (const Filter each : filters)
      {
        owners.push_back(ToText(each));
      }
      Refuse(name,
             " is ",
             ToText(this->*member),
             ", which has no effect on the filter ",
             filter,
             ", but on ",
             Join(owners),
             ": leave it at its default.");
    }
  });
  switch (filter)
  {
    case Filter::Mean:
      VerifyRange("SupportSize", supportSize, 1, 65535);
      if (supportSize % 2 == 0)
      {
        Refuse("SupportSize is ", supportSize, ", but must be an odd number of voxels.");
      }
      break;
    case Filter::LaplacianOfGaussian:
      VerifyPositive("Sigma", sigma, "a length in the unit of the spacing");
      VerifyPositive("Cutoff", cutoff, "a number of sigmas");
      break;
    case Filter::Gabor:
      VerifyPositive("Sigma", sigma, "a length in the unit of the spacing");
      VerifyPositive("Wavelength", wavelength, "a length in the unit of the spacing");
      VerifyPositive("Gamma", gamma, "a ratio");
      if (!std::isfinite(angle))
      {
        Refuse("Angle is ", angle, ", but must be finite, in radians.");
      }
      break;
    case Filter::Laws:
      VerifyNames("Kernels", kernels, filterDimension, GetLawsKernels(), "names", "E5L5S5");
      VerifyRange("EnergyDistance", energyDistance, 0, 32767);
      if (!computeEnergy && energyDistance != defaults.energyDistance)
      {
        Refuse("EnergyDistance is ", energyDistance, ", which has no effect without ComputeEnergy.");
      }
      break;
    case Filter::Wavelet:
      if (GetWavelets().count(wavelet) == 0)
      {
        Refuse("Wavelet is '", wavelet, "', but must be coif1, db2, db3 or haar: set LowPassFilter for others.");
      }
      if (!lowPassFilter.empty() && wavelet != defaults.wavelet)
      {
        Refuse(
          "Wavelet is '", wavelet, "' and LowPassFilter is ", ToText(lowPassFilter), ", but one excludes the other.");
      }
      if (!highPassFilter.empty() && highPassFilter.size() != lowPassFilter.size())
      {
        Refuse("HighPassFilter is ",
               ToText(highPassFilter),
               " and LowPassFilter is ",
               ToText(lowPassFilter),
               ", but both must have the same length.");
      }
      VerifyNames("Subband", subband, filterDimension, GetWaveletFilters(*this), "letters", "LHL");
      VerifyRange("Level", level, 1, 16);
      for (const auto & [letter, kernel] : GetWaveletFilters(*this))
      {
        if (static_cast<std::int64_t>((kernel.size() + 1) << (level - 1)) > maxTaps)
        {
          Refuse("Level is ",
                 level,
                 ", at which a filter of ",
                 kernel.size(),
                 " numbers has more than ",
                 maxTaps,
                 " with those between them: choose a lower Level.");
        }
      }
      break;
  }
}

ResponseMapInput
GetResponseMapInput(const ResponseMapJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  const FilterBox                       input = FilterPlan(MakeJobs(job).first, false).input;
  return { input.begin, input.GetSize() };
}

void
ComputeResponseMap(const ResponseMapJob & job)
{
  const auto allocate = [](std::uint64_t bytes) {
    std::shared_ptr<void> memory(::operator new(bytes), [](void * pointer) { ::operator delete(pointer); });
    UseHugePages(memory.get(), bytes);
    return memory;
  };
  Compute(job, allocate, [](const FilterImageJob & part, bool, bool) { FilterImage(part); });
}

void
ComputeResponseMapCuda(const ResponseMapJob & job, const CudaOptions & options)
{
  CudaOptions own = options;
  own.stream = options.UsesStream() ? options.stream : nullptr;
  Compute(
    job,
    [&own](std::uint64_t bytes) { return AllocateCuda(bytes, own); },
    [&own](const FilterImageJob & part, bool readsResponse, bool writesResponse) {
      CudaOptions partOptions = own;
      partOptions.inputLocation = readsResponse ? MemoryLocation::Device : own.inputLocation;
      partOptions.outputLocation = writesResponse ? MemoryLocation::Device : own.outputLocation;
      FilterImageCuda(part, partOptions);
    });
}
} // namespace voxelmaps
