// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "preprocess/Filter.h"

#include "common/ParallelFor.h"

namespace voxelmaps
{
namespace
{
/** Numerators of Deriche's recursion, with the sums of its coefficients, weighted by 1, their numbers and the squares
 * of these. */
struct Numerators
{
  double n[4];
  double sum, first, second;
};

/** The two decaying oscillations of an operator: exp(-decay x) (a cos(frequency x) + b sin(frequency x)), for x in
 * units of sigma. The constants of the Gaussian and its derivatives are those of Farneback and Westin, as in ITK. */
struct Oscillation
{
  double a, b, frequency, decay;
};

class Deriche
{
public:
  explicit Deriche(double sigma)
    : m_Sin1(std::sin(0.6681 / sigma))
    , m_Sin2(std::sin(2.0787 / sigma))
    , m_Cos1(std::cos(0.6681 / sigma))
    , m_Cos2(std::cos(2.0787 / sigma))
    , m_Exp1(std::exp(-1.3932 / sigma))
    , m_Exp2(std::exp(-1.3732 / sigma))
  {}

  Numerators
  GetNumerators(double a1, double b1, double a2, double b2) const
  {
    Numerators result{};
    double *   n = result.n;
    n[0] = a1 + a2;
    n[1] = m_Exp2 * (b2 * m_Sin2 - (a2 + 2 * a1) * m_Cos2);
    n[1] += m_Exp1 * (b1 * m_Sin1 - (a1 + 2 * a2) * m_Cos1);
    n[2] = (a1 + a2) * m_Cos2 * m_Cos1;
    n[2] -= b1 * m_Cos2 * m_Sin1 + b2 * m_Cos1 * m_Sin2;
    n[2] *= 2 * m_Exp1 * m_Exp2;
    n[2] += a2 * m_Exp1 * m_Exp1 + a1 * m_Exp2 * m_Exp2;
    n[3] = m_Exp2 * m_Exp1 * m_Exp1 * (b2 * m_Sin2 - a2 * m_Cos2);
    n[3] += m_Exp1 * m_Exp2 * m_Exp2 * (b1 * m_Sin1 - a1 * m_Cos1);
    result.sum = n[0] + n[1] + n[2] + n[3];
    result.first = n[1] + 2 * n[2] + 3 * n[3];
    result.second = n[1] + 4 * n[2] + 9 * n[3];
    return result;
  }

  void
  SetDenominators(double * d) const
  {
    d[3] = m_Exp1 * m_Exp1 * m_Exp2 * m_Exp2;
    d[2] = -2 * m_Cos1 * m_Exp1 * m_Exp2 * m_Exp2;
    d[2] += -2 * m_Cos2 * m_Exp2 * m_Exp1 * m_Exp1;
    d[1] = 4 * m_Cos2 * m_Cos1 * m_Exp1 * m_Exp2;
    d[1] += m_Exp1 * m_Exp1 + m_Exp2 * m_Exp2;
    d[0] = -2 * (m_Exp2 * m_Cos2 + m_Exp1 * m_Cos1);
  }

private:
  double m_Sin1, m_Sin2, m_Cos1, m_Cos2, m_Exp1, m_Exp2;
};

FilterKind
GetKind(const AxisFilter & filter)
{
  return filter.wavelength != 0.0 ? FilterKind::Gabor
         : filter.kernel.empty()  ? FilterKind::Recursive
                                  : FilterKind::Convolution;
}

/** Gabor filters end where the exponent of the envelope is below -18, at 6 standard deviations. */
constexpr double gaborDeviations = 6.0;
constexpr double fullTurn = 6.283185307179586;

/** Voxels along an axis between the result of a Gabor filter and the end of its kernel, at most. */
double
GetGaborReach(const AxisFilter & filter, unsigned int axis, const std::array<double, 3> & spacing)
{
  const double along = axis == filter.axis ? std::cos(filter.angle) : std::sin(filter.angle);
  const double across = axis == filter.axis ? std::sin(filter.angle) : std::cos(filter.angle);
  return std::floor(gaborDeviations * std::hypot(filter.sigma * along, filter.sigma / filter.gamma * across) /
                    spacing[axis]) +
         1.0;
}

void
VerifyGaborFilter(const AxisFilter & filter, const std::array<double, 3> & spacing)
{
  const auto isPositive = [](double x) { return x > 0.0 && std::isfinite(x); };
  if (filter.secondAxis <= filter.axis || filter.secondAxis > 2)
  {
    Refuse("A Gabor filter has the axes ",
           filter.axis,
           " and ",
           filter.secondAxis,
           ", but they must be 0, 1 or 2, in ascending order.");
  }
  if (!isPositive(filter.sigma) || !isPositive(filter.wavelength) || !isPositive(filter.gamma) ||
      !std::isfinite(filter.angle))
  {
    Refuse("A Gabor filter has the sigma ",
           filter.sigma,
           ", wavelength ",
           filter.wavelength,
           ", gamma ",
           filter.gamma,
           " and angle ",
           filter.angle,
           ", but they must be finite, and all but the angle above 0.");
  }
  if (filter.order != 0 || !filter.kernel.empty())
  {
    Refuse("A Gabor filter has the order ",
           filter.order,
           " and a kernel of ",
           filter.kernel.size(),
           " numbers, but must have the order 0 and no kernel.");
  }
  const auto verifyRatio = [&filter](const char * name, double value, double factor) {
    if (!std::isfinite(factor * (filter.sigma / value)))
    {
      Refuse("A Gabor filter has the sigma ",
             filter.sigma,
             " and the ",
             name,
             ' ',
             value,
             ", whose ratio is too large: choose a greater ",
             name,
             '.');
    }
  };
  verifyRatio("wavelength", filter.wavelength, fullTurn * gaborDeviations);
  verifyRatio("gamma", filter.gamma, gaborDeviations);
  constexpr double maxReach = 1024.0;
  for (const unsigned int axis : { filter.axis, filter.secondAxis })
  {
    const double reach = GetGaborReach(filter, axis, spacing);
    if (!(reach <= maxReach))
    {
      Refuse("A Gabor filter of sigma ",
             filter.sigma,
             " and gamma ",
             filter.gamma,
             " reaches ",
             reach,
             " voxels of size ",
             spacing[axis],
             " along axis ",
             axis,
             ", but it must not reach more than ",
             maxReach,
             ": choose a smaller sigma or a greater gamma.");
    }
  }
}

void
VerifyFilter(const AxisFilter & filter, const std::array<double, 3> & spacing)
{
  if (filter.axis > 2)
  {
    Refuse("A filter has the axis ", filter.axis, ", but it must be 0, 1 or 2.");
  }
  VerifyEnumerator("The boundary of a filter", filter.boundary, FilterBoundary::MirrorWithoutEdge);
  if (GetKind(filter) == FilterKind::Gabor)
  {
    VerifyGaborFilter(filter, spacing);
    return;
  }
  if (filter.kernel.empty() ? !(filter.sigma > 0.0 && std::isfinite(filter.sigma)) : filter.sigma != 0.0)
  {
    Refuse("A filter has the sigma ",
           filter.sigma,
           " and a kernel of ",
           filter.kernel.size(),
           " numbers, but it must have a finite sigma above 0, or a kernel.");
  }
  if (filter.order > 2)
  {
    Refuse("A filter has the order ", filter.order, ", but it must be 0, 1 or 2.");
  }
  const auto taps = static_cast<std::int64_t>(filter.kernel.size());
  if (taps > maxTaps || filter.origin < 0 || filter.origin >= std::max<std::int64_t>(taps, 1))
  {
    Refuse("A filter has a kernel of ",
           taps,
           " numbers with the origin ",
           filter.origin,
           ", but a kernel must have at most 2^20, and the origin must be one of them.");
  }
  if (!std::all_of(filter.kernel.begin(), filter.kernel.end(), [](double x) { return std::isfinite(x); }))
  {
    Refuse("A kernel has a number that is not finite.");
  }
}

bool
IsSame(const AxisFilter & a, const AxisFilter & b)
{
  return a.axis == b.axis && a.sigma == b.sigma && a.order == b.order &&
         a.normalizeAcrossScale == b.normalizeAcrossScale && a.kernel == b.kernel && a.origin == b.origin &&
         a.boundary == b.boundary && a.wavelength == b.wavelength && a.secondAxis == b.secondAxis &&
         a.gamma == b.gamma && a.angle == b.angle;
}

/** Include the voxels along an axis that a filter reads for results in a box. */
void
IncludeReads(FilterNode & node, unsigned int a, const Triple & size, const FilterImageJob & job)
{
  const AxisFilter & filter = *node.filter;
  std::int64_t       before = static_cast<std::int64_t>(filter.kernel.size()) - 1 - filter.origin;
  std::int64_t       after = filter.origin;
  if (node.kind == FilterKind::Gabor)
  {
    before = after = node.reach[a == filter.axis ? 0 : 1];
  }
  else if (node.kind == FilterKind::Recursive)
  {
    // Poles are at most exp(-1.3732 / sigma), so that voxels at this distance have weights below 2^-63 of the greatest.
    const double reach = 32.0 * (filter.sigma / job.spacing[a]) + 8.0;
    before = job.usesEntireLines || reach > static_cast<double>(size[a]) ? size[a] : static_cast<std::int64_t>(reach);
    after = before;
  }
  FilterBox &  box = node.reads;
  std::int64_t begin = box.begin[a] - before;
  std::int64_t end = box.end[a] + after;
  if ((begin < 0 || end > size[a]) && filter.boundary == FilterBoundary::Periodic)
  {
    begin = 0;
    end = size[a];
  }
  if (filter.boundary == FilterBoundary::Mirror || filter.boundary == FilterBoundary::MirrorWithoutEdge)
  {
    // As many voxels as beyond the end, and one more without the edge.
    const std::int64_t below = begin < 0 ? 1 - begin : 0;
    const std::int64_t above = end > size[a] ? end - size[a] + 1 : 0;
    begin = std::min(begin, size[a] - above);
    end = std::max(end, below);
  }
  box.begin[a] = std::max<std::int64_t>(0, begin);
  box.end[a] = std::min(size[a], end);
}

/** Set the boxes of nodes; returns the box that they all read. */
FilterBox
SetBoxes(std::vector<FilterNode> & nodes, const FilterImageJob & job, const FilterPlan & plan)
{
  FilterBox  all{ plan.size, { { 0, 0, 0 } } };
  const auto include = [](FilterBox & box, const FilterBox & other) {
    for (int d = 0; d < 3; ++d)
    {
      box.begin[d] = std::min(box.begin[d], other.begin[d]);
      box.end[d] = std::max(box.end[d], other.end[d]);
    }
  };
  for (FilterNode & node : nodes)
  {
    node.box = SetBoxes(node.children, job, plan);
    if (!node.leaves.empty())
    {
      include(node.box, plan.output);
    }
    const AxisFilter & filter = *node.filter;
    node.kind = GetKind(filter);
    node.reads = node.box;
    if (node.kind == FilterKind::Gabor)
    {
      node.reach = { { static_cast<std::int64_t>(GetGaborReach(filter, filter.axis, job.spacing)),
                       static_cast<std::int64_t>(GetGaborReach(filter, filter.secondAxis, job.spacing)) } };
      IncludeReads(node, filter.secondAxis, plan.size, job);
    }
    IncludeReads(node, filter.axis, plan.size, job);
    include(all, node.reads);
    if (node.kind == FilterKind::Recursive)
    {
      node.coefficients = ComputeRecursiveCoefficients(filter, job.spacing[filter.axis]);
    }
  }
  return all;
}

/** An engine that counts bytes. */
class Counter
{
public:
  explicit Counter(const FilterPlan & plan)
    : m_Plan(plan)
  {}

  std::shared_ptr<void>
  Compute(const FilterNode & node, const std::shared_ptr<void> &)
  {
    return this->Allocate(node.box);
  }
  void
  Combine(const FilterLeaf & leaf, const FilterNode &, const std::shared_ptr<void> &)
  {
    if (m_Plan.hasSums && leaf.IsFirst() && !leaf.IsLast())
    {
      m_Sums.push_back(this->Allocate(m_Plan.output));
    }
    else if (m_Plan.hasSums && leaf.IsLast() && !leaf.IsFirst())
    {
      m_Sums.pop_back();
    }
  }
  std::uint64_t
  GetMost() const
  {
    return m_Most;
  }

private:
  std::shared_ptr<void>
  Allocate(const FilterBox & box)
  {
    const std::uint64_t bytes = static_cast<std::uint64_t>(box.GetNumberOfVoxels()) * m_Plan.valueBytes;
    m_Bytes += bytes;
    m_Most = std::max(m_Most, m_Bytes);
    return std::shared_ptr<void>(this, [this, bytes](void *) { m_Bytes -= bytes; });
  }

  const FilterPlan &                 m_Plan;
  std::uint64_t                      m_Bytes{ 0 };
  std::uint64_t                      m_Most{ 0 };
  std::vector<std::shared_ptr<void>> m_Sums;
};
} // namespace

RecursiveCoefficients
ComputeRecursiveCoefficients(const AxisFilter & filter, double spacing)
{
  const double          sigma = filter.sigma / spacing;
  const Deriche         deriche(sigma);
  RecursiveCoefficients result{};
  double *              d = result.d;
  deriche.SetDenominators(d);
  const double sd = 1.0 + d[0] + d[1] + d[2] + d[3];
  const double dd = d[0] + 2 * d[1] + 3 * d[2] + 4 * d[3];
  const double ed = d[0] + 4 * d[1] + 9 * d[2] + 16 * d[3];

  Numerators gaussian = deriche.GetNumerators(1.3530, 1.8151, -0.3531, 0.0902);
  double     scale = 1.0; // the response to 1, x or x^2 / 2
  double     across = 1.0;
  if (filter.order == 0)
  {
    scale = 2 * gaussian.sum / sd - gaussian.n[0];
  }
  else if (filter.order == 1)
  {
    gaussian = deriche.GetNumerators(-0.6724, -3.4327, 0.6724, 0.6100);
    scale = 2 * (gaussian.sum * dd - gaussian.first * sd) / (sd * sd);
    across = filter.normalizeAcrossScale ? filter.sigma : 1.0;
  }
  else
  {
    const Numerators second = deriche.GetNumerators(-1.3563, 5.2318, 0.3446, -2.2355);
    // Without response to a constant.
    const double beta = -(2 * second.sum - sd * second.n[0]) / (2 * gaussian.sum - sd * gaussian.n[0]);
    for (int k = 0; k < 4; ++k)
    {
      gaussian.n[k] = second.n[k] + beta * gaussian.n[k];
    }
    const double sn = second.sum + beta * gaussian.sum;
    const double dn = second.first + beta * gaussian.first;
    const double en = second.second + beta * gaussian.second;
    scale = en * sd * sd - ed * sn * sd - 2 * dn * dd * sd + 2 * dd * dd * sn;
    scale /= sd * sd * sd;
    across = filter.normalizeAcrossScale ? filter.sigma * filter.sigma : 1.0;
  }
  double * n = result.n;
  for (int k = 0; k < 4; ++k)
  {
    n[k] = gaussian.n[k] * (across / scale);
  }
  const double sign = filter.order == 1 ? -1.0 : 1.0;
  for (int k = 0; k < 3; ++k)
  {
    result.m[k] = sign * (n[k + 1] - d[k] * n[0]);
  }
  result.m[3] = sign * -d[3] * n[0];
  const double sn = n[0] + n[1] + n[2] + n[3];
  const double sm = result.m[0] + result.m[1] + result.m[2] + result.m[3];
  bool         isFinite = true;
  for (int k = 0; k < 4; ++k)
  {
    result.causalBoundary[k] = d[k] * sn / sd;
    result.anticausalBoundary[k] = d[k] * sm / sd;
    isFinite = isFinite && std::isfinite(n[k]) && std::isfinite(result.causalBoundary[k]) &&
               std::isfinite(result.anticausalBoundary[k]);
  }
  // Beyond, the sum of the denominators, some (2 / sigma)^4, has lost too many digits.
  constexpr double maxSigma = 1000.0;
  if (!isFinite || sigma > maxSigma)
  {
    Refuse("A filter has the sigma ",
           filter.sigma,
           " for voxels of size ",
           spacing,
           ", which the recursive filter of order ",
           filter.order,
           " cannot represent: choose a sigma of 0.05 to 1000 voxels.");
  }
  return result;
}

GaborKernel
MakeGaborKernel(const FilterNode & node, const std::array<double, 3> & spacing)
{
  const DefaultFloatingPointEnvironment environment;
  const AxisFilter &                    filter = *node.filter;
  const double                          cosine = std::cos(filter.angle);
  const double                          sine = std::sin(filter.angle);
  GaborKernel                           kernel;
  for (std::int64_t j = -node.reach[1]; j <= 0; ++j)
  {
    GaborKernel::Row row{ j, 0, 0 };
    for (std::int64_t i = -node.reach[0]; i <= (j < 0 ? node.reach[0] : -1); ++i)
    {
      const double x = static_cast<double>(i) * spacing[filter.axis];
      const double y = static_cast<double>(j) * spacing[filter.secondAxis];
      const double along = x * cosine + y * sine;
      const double across = y * cosine - x * sine;
      const double u = along / filter.sigma;
      const double v = filter.gamma * across / filter.sigma;
      const double exponent = 0.5 * (u * u + v * v);
      if (exponent <= 0.5 * gaborDeviations * gaborDeviations)
      {
        const double envelope = std::exp(-exponent);
        const double phase = fullTurn * (along / filter.wavelength);
        row.first = row.count == 0 ? i : row.first;
        ++row.count;
        kernel.numbers.push_back(envelope * std::cos(phase));
        kernel.numbers.push_back(envelope * std::sin(phase));
      }
    }
    // Tables of the device are not empty.
    if (row.count > 0 || j == 0)
    {
      kernel.rows.push_back(row);
    }
  }
  return kernel;
}

FilteredImage
MakeGaborImage(const GaborFilter & filter)
{
  constexpr double halfTurn = fullTurn / 2.0;
  constexpr double maxAngles = 4096.0;
  double           angles = 1.0;
  if (filter.angleStep != 0.0)
  {
    if (!(filter.angleStep > 0.0 && std::isfinite(filter.angleStep)))
    {
      Refuse("AngleStep is ", filter.angleStep, " radians, but must be finite and above 0, or 0 for one angle.");
    }
    const double perHalfTurn = std::round(halfTurn / filter.angleStep);
    const bool   isHalfTurn = std::abs(perHalfTurn * filter.angleStep - halfTurn) < 1e-9;
    angles = isHalfTurn ? perHalfTurn : std::max(1.0, std::ceil(fullTurn / filter.angleStep - 1e-9));
    if (angles > maxAngles)
    {
      Refuse(
        "A Gabor filter has ", angles, " angles, but must have at most ", maxAngles, ": choose a larger AngleStep.");
    }
  }
  const double  planes = filter.hasAllPlanes ? 3.0 : 1.0;
  FilteredImage image;
  for (const auto & [axis, secondAxis] : { std::array{ 0u, 1u }, std::array{ 0u, 2u }, std::array{ 1u, 2u } })
  {
    for (double k = 0.0; k < angles && (filter.hasAllPlanes || secondAxis == 1); ++k)
    {
      AxisFilter one;
      one.axis = axis;
      one.secondAxis = secondAxis;
      one.sigma = filter.sigma;
      one.wavelength = filter.wavelength;
      one.gamma = filter.gamma;
      one.angle = filter.angle + k * filter.angleStep;
      one.boundary = filter.boundary;
      image.terms.push_back({ { one }, 1.0 / (planes * angles) });
    }
  }
  return image;
}

FilterPlan::FilterPlan(const FilterImageJob & job, bool hasArrays)
{
  VerifyEnumerator("The pixel type", job.pixelType, PixelType::Double);
  double voxels = 1.0;
  for (int d = 0; d < 3; ++d)
  {
    if (job.size[d] < 0 || job.outputSize[d] < 0 || job.outputIndex[d] < 0 || job.outputSize[d] > job.size[d] ||
        job.outputIndex[d] > job.size[d] - job.outputSize[d])
    {
      Refuse("A job has an output of index ",
             job.outputIndex[d],
             " and size ",
             job.outputSize[d],
             " along axis ",
             d,
             ", but it must be within the array, whose size is ",
             job.size[d],
             '.');
    }
    if (!(job.spacing[d] > 0.0 && std::isfinite(job.spacing[d])))
    {
      Refuse("A job has the spacing ", job.spacing[d], " along axis ", d, ", but it must be finite and above 0.");
    }
    if (job.appended[d] < 0 || job.appended[d] > 1)
    {
      Refuse("A job appends ", job.appended[d], " planes along axis ", d, ", but it must be 0 or 1.");
    }
    voxels *= static_cast<double>(job.size[d] + 1);
    size[d] = job.size[d] + job.appended[d];
    output.begin[d] = job.outputIndex[d];
    output.end[d] = job.outputIndex[d] + job.outputSize[d];
  }
  constexpr double maxVoxels = 0x1p52;
  if (voxels * static_cast<double>(job.images.size() + 1) > maxVoxels)
  {
    Refuse("A job makes ",
           job.images.size(),
           " images of an array of the size ",
           job.size[0],
           " x ",
           job.size[1],
           " x ",
           job.size[2],
           ", but all together must have at most 2^52 voxels.");
  }
  if (hasArrays && (job.pixels == nullptr || job.output == nullptr) && !this->IsEmpty())
  {
    Refuse("A job has ", output.GetNumberOfVoxels(), " voxels of output, but an array is null.");
  }
  valueBytes = job.isSingle ? sizeof(float) : sizeof(double);
  for (std::size_t i = 0; i < job.images.size(); ++i)
  {
    const FilteredImage & image = job.images[i];
    const std::size_t     terms = image.terms.size();
    hasSums = hasSums || (terms > 1 && job.outputIsDouble == job.isSingle);
    if (terms == 0)
    {
      Refuse("The image ", i, " of a job has no terms, but must have one.");
    }
    VerifyEnumerator("The combination of an image", image.combination, FilterCombination::Maximum);
    // Terms of a mean keep their order: only those that follow each other share results.
    const bool isOrdered = image.combination == FilterCombination::Mean;
    for (std::size_t t = 0; t < terms; ++t)
    {
      if (image.terms[t].filters.empty() || !std::isfinite(image.terms[t].factor))
      {
        Refuse("The image ", i, " of a job has a term without filters, or whose factor is not finite.");
      }
      std::vector<FilterNode> * nodes = &roots;
      FilterNode *              last = nullptr;
      for (const AxisFilter & filter : image.terms[t].filters)
      {
        VerifyFilter(filter, job.spacing);
        const bool isEnd = &filter == &image.terms[t].filters.back();
        auto       found = std::find_if(
          isOrdered && !nodes->empty() ? nodes->end() - 1 : nodes->begin(), nodes->end(), [&](const FilterNode & node) {
            return IsSame(*node.filter, filter) && !(isOrdered && isEnd && !node.children.empty());
          });
        if (found == nodes->end())
        {
          nodes->emplace_back();
          nodes->back().filter = &filter;
          found = nodes->end() - 1;
        }
        last = &*found;
        nodes = &last->children;
      }
      last->leaves.push_back(
        { i, image.terms[t].factor, image.combination, image.isAbsolute, 0, static_cast<std::int64_t>(terms) });
    }
  }
  // The order of terms is that of the tree.
  std::vector<std::int64_t> numbers(job.images.size());
  const auto                number = [&](const auto & self, std::vector<FilterNode> & nodes) -> void {
    for (FilterNode & node : nodes)
    {
      for (FilterLeaf & leaf : node.leaves)
      {
        leaf.number = numbers[leaf.image]++;
      }
      self(self, node.children);
    }
  };
  number(number, roots);
  input = SetBoxes(roots, job, *this);
}

std::uint64_t
GetFilterBytes(const FilterPlan & plan)
{
  Counter counter(plan);
  ComputeNodes(counter, plan.roots, std::shared_ptr<void>());
  return counter.GetMost();
}

std::uint64_t
GetFilterMemory(const FilterImageJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  const FilterPlan                      plan(job);
  return GetFilterBytes(plan);
}

void
VerifyFilterMemory(std::uint64_t needed, std::uint64_t usable, const char * where)
{
  if (needed > usable)
  {
    Refuse("The filters need ",
           needed,
           " bytes of ",
           where,
           ", but ",
           usable,
           " can be used. Filter a smaller part of the image at a time, in ITK by itk::StreamingImageFilter, or free "
           "memory.");
  }
}
} // namespace voxelmaps
