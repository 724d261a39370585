// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SyntheticLiverCT_h
#define SyntheticLiverCT_h

// A synthetic computed tomography of the abdomen: air, fat, organs, bones, and a liver with a tree of vessels whose
// thinnest branches are thinner than a voxel, as the stored results were measured on it.
//
// The same settings give the same voxels on every machine and for any number of threads: only integer arithmetic, with
// lengths in micrometers, decides about a voxel, and its noise depends on its position only.

#include "itkImage.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace SyntheticLiverCT
{
using ImageType = itk::Image<short, 3>;

struct Settings
{
  ImageType::SizeType size{ { 256, 256, 80 } };
  std::uint64_t       randomSeed{ 1 };
  /** Standard deviation of the noise in Hounsfield units. */
  double noise{ 10.0 };
};

struct Result
{
  ImageType::Pointer image;
  /** In the middle of the trunk of the vessels. */
  ImageType::IndexType vesselSeed;
  /** In the liver, far from the vessels. */
  ImageType::IndexType liverSeed;
  /** In the middle of a vertebra. */
  ImageType::IndexType boneSeed;
};

namespace Detail
{
/** A length or a coordinate in micrometers. */
using Length = std::int64_t;
/** Left, back, and up of the center of the field of view. */
using Point = std::array<Length, 3>;

constexpr Point  FieldOfView{ { 358400, 358400, 232500 } };
constexpr Length Millimeter = 1000;
/** 1 in fixed-point numbers with 20 binary fraction digits. */
constexpr std::int64_t One = std::int64_t{ 1 } << 20;
/** A voxel has so many samples along each axis; its value is their mean. */
constexpr std::int64_t Samples = 4;

constexpr std::int64_t
DivideDown(std::int64_t numerator, std::int64_t denominator)
{
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

/** The integer square root of a number below 2^52, for which the IEEE square root rounds down correctly. */
inline std::int64_t
SquareRoot(std::int64_t value)
{
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
}

/** SplitMix64 of Steele, Lea and Flood (2014); every number of the sequence can be computed directly. */
class RandomSequence
{
public:
  explicit RandomSequence(std::uint64_t seed)
    : m_Seed(seed)
  {}

  std::uint64_t
  Get(std::uint64_t n) const
  {
    std::uint64_t z = m_Seed + (n + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  /** A number from first to last. */
  std::int64_t
  Next(std::int64_t first, std::int64_t last)
  {
    const auto count = static_cast<std::uint64_t>(last - first + 1);
    return first + static_cast<std::int64_t>((this->Get(m_Next++) >> 32) * count >> 32);
  }

  /** 65536 times a number whose distribution is close to normal, mean 0 and variance 1: 12 uniform numbers of 16 bits
   * have a sum of variance 65536^2 - 1. */
  std::int64_t
  GetNormal(std::uint64_t n) const
  {
    std::int64_t sum = -6 * 65535;
    for (std::uint64_t i = 0; i < 3; ++i)
    {
      const std::uint64_t bits = this->Get(3 * n + i);
      sum += static_cast<std::int64_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
    }
    return sum;
  }

private:
  std::uint64_t m_Seed;
  std::uint64_t m_Next{ 0 };
};

/** a + b * numerator / denominator */
inline Point
Add(const Point & a, const Point & b, std::int64_t numerator = 1, std::int64_t denominator = 1)
{
  return { { a[0] + b[0] * numerator / denominator,
             a[1] + b[1] * numerator / denominator,
             a[2] + b[2] * numerator / denominator } };
}

inline Length
GetDistance(const Point & a, const Point & b)
{
  const Point d = Add(a, b, -1);
  return SquareRoot(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/** The vector of length One from a point towards another. */
inline Point
GetDirection(const Point & from, const Point & to)
{
  return Add({}, Add(to, from, -1), One, std::max<Length>(GetDistance(from, to), 1));
}

struct Ellipsoid
{
  Point center;
  Point semiAxes;
  short value;

  /** Half the length of the chord along x at y and z; negative if there is none. */
  Length
  GetHalfWidth(Length y, Length z) const
  {
    const auto ratioY = (y - center[1]) * One / semiAxes[1];
    const auto ratioZ = (z - center[2]) * One / semiAxes[2];
    const auto rest = One * One - ratioY * ratioY - ratioZ * ratioZ;
    return rest < 0 ? -1 : semiAxes[0] * SquareRoot(rest) / One;
  }

  constexpr Ellipsoid
  Grow(Length margin) const
  {
    return { center, { { semiAxes[0] + margin, semiAxes[1] + margin, semiAxes[2] + margin } }, value };
  }

  bool
  Contains(const Point & point) const
  {
    return std::abs(point[0] - center[0]) <= this->GetHalfWidth(point[1], point[2]);
  }
};

/** Center, semi-axes, and value in millimeters and Hounsfield units. */
constexpr Ellipsoid
MakeEllipsoid(Length x, Length y, Length z, Length semiX, Length semiY, Length semiZ, short value)
{
  return { { { x * Millimeter, y * Millimeter, z * Millimeter } },
           { { semiX * Millimeter, semiY * Millimeter, semiZ * Millimeter } },
           value };
}

/** A cylinder along z is an ellipsoid whose third semi-axis is very long. */
constexpr Ellipsoid
MakeCylinder(Length x, Length y, Length semiX, Length semiY, short value)
{
  return MakeEllipsoid(x, y, 0, semiX, semiY, 1000000, value);
}

constexpr short SoftTissue = 50;
constexpr short SpongyBone = 420;
constexpr short DenseBone = 800;

// From the skin inwards; later shapes cover earlier ones.
constexpr Ellipsoid Skin = MakeCylinder(0, 0, 168, 122, -100);
constexpr Ellipsoid Wall = MakeCylinder(0, 0, 154, 108, SoftTissue);
constexpr Ellipsoid RibCage = MakeCylinder(0, 0, 147, 101, SoftTissue);
constexpr Ellipsoid Diaphragm = MakeEllipsoid(0, 5, -45, 139, 92, 130, -100);
constexpr Ellipsoid LowerCavity = MakeCylinder(0, 0, 138, 92, -100);
constexpr Length    LungBase = -45 * Millimeter;

constexpr std::array<Ellipsoid, 4> Chest{ {
  MakeCylinder(0, 0, 138, 92, -850),            // lungs
  MakeCylinder(5, 48, 32, 32, SoftTissue),      // mediastinum
  MakeEllipsoid(25, -25, 120, 50, 42, 45, 130), // heart
  Diaphragm,
} };

constexpr Ellipsoid                 SpleenShape = MakeEllipsoid(102, 30, 5, 30, 38, 42, 120);
constexpr std::array<Ellipsoid, 12> OtherOrgans{ {
  MakeEllipsoid(60, -35, 0, 42, 36, 50, SoftTissue),    // stomach
  MakeEllipsoid(62, -58, 10, 22, 9, 24, -950),          // gas in the stomach
  MakeEllipsoid(62, 60, -85, 25, 22, 45, 170),          // kidneys
  MakeEllipsoid(-62, 62, -95, 25, 22, 45, 170),         //
  MakeEllipsoid(15, -40, -100, 38, 30, 22, SoftTissue), // bowel
  MakeEllipsoid(85, -20, -95, 26, 34, 40, 40),          //
  MakeEllipsoid(85, -30, -92, 15, 15, 25, -950),        // gas in the bowel
  MakeEllipsoid(-95, -15, -118, 25, 30, 28, 40),        //
  MakeCylinder(-36, 84, 26, 15, 55),                    // muscles of the back
  MakeCylinder(36, 84, 26, 15, 55),                     //
  MakeCylinder(17, 37, 9, 9, 185),                      // aorta
  MakeCylinder(0, 64, 27, 20, SoftTissue),              // around the spine
} };

constexpr Ellipsoid RightLobe = MakeEllipsoid(-58, -8, -10, 72, 68, 80, 110);
constexpr Ellipsoid LeftLobe = MakeEllipsoid(18, -36, 12, 70, 38, 42, 110);
/** Distance between the diaphragm and the liver. */
constexpr Length DiaphragmThickness = 4 * Millimeter;

constexpr Length    VertebraHeight = 34 * Millimeter;
constexpr Length    DiskHeight = 8 * Millimeter;
constexpr Length    CortexThickness = 2 * Millimeter;
constexpr Ellipsoid VertebralBody = MakeCylinder(0, 64, 23, 17, DenseBone);
constexpr Ellipsoid SpongyBody{ VertebralBody.center, VertebralBody.Grow(-CortexThickness).semiAxes, SpongyBone };
constexpr Ellipsoid Disk = MakeCylinder(0, 64, 23, 17, 80);
constexpr Ellipsoid VertebralArch = MakeCylinder(0, 90, 16, 13, DenseBone);
constexpr Ellipsoid SpinalCanal = MakeCylinder(0, 90, 10, 8, 40);
constexpr Ellipsoid SpinousProcess = MakeCylinder(0, 108, 4, 11, 600);

constexpr Length RibDistance = 27 * Millimeter;
constexpr Length RibHalfHeight = 6 * Millimeter;
constexpr Length RibHalfWidth = 4 * Millimeter;

inline bool
IsInLiver(const Point & point, Length margin)
{
  return (RightLobe.Grow(-margin).Contains(point) || LeftLobe.Grow(-margin).Contains(point)) &&
         Diaphragm.Grow(-margin - DiaphragmThickness).Contains(point);
}

/** Vessels are rows of overlapping balls. */
struct Ball
{
  Point  center;
  Length radius;
};

/** The portal vein: a trunk that forks again and again. */
struct VesselTree
{
  static constexpr Length TrunkRadius = 6000;
  static constexpr Point  Hilum{ { -8 * Millimeter, -4 * Millimeter, -54 * Millimeter } };
  static constexpr Point  Fork{ { -30 * Millimeter, -10 * Millimeter, -24 * Millimeter } };

  /** A parabola from its start, where it has the given tangent, in a direction. */
  struct Branch
  {
    Branch(const Point & from, const Point & tangent, const Point & direction, Length theRadius, Length theLength)
      : start(from)
      , control(Add(from, tangent, theLength / 2, One))
      , end(Add(from, direction, theLength, One))
      , radius(theRadius)
      , length(theLength)
    {}

    /** The point at t, from 0 to n. */
    Point
    GetPoint(std::int64_t t, std::int64_t n) const
    {
      Point point;
      for (unsigned int d = 0; d < 3; ++d)
      {
        point[d] = ((n - t) * (n - t) * start[d] + 2 * t * (n - t) * control[d] + t * t * end[d]) / (n * n);
      }
      return point;
    }

    Point  start;
    Point  control;
    Point  end;
    Length radius;
    Length length;
  };

  explicit VesselTree(std::uint64_t randomSeed)
    : random(randomSeed)
  {
    const Point trunk = GetDirection(Hilum, Fork);
    const Point right{ { -64 * Millimeter, 0, -8 * Millimeter } };
    const Point left{ { 22 * Millimeter, -38 * Millimeter, 8 * Millimeter } };
    this->Draw({ Hilum, trunk, trunk, TrunkRadius, GetDistance(Hilum, Fork) });
    this->Draw({ Fork, trunk, GetDirection(Fork, right), TrunkRadius * 888 / 1000, GetDistance(Fork, right) });
    this->Draw({ Fork, trunk, GetDirection(Fork, left), TrunkRadius * 669 / 1000, GetDistance(Fork, left) });
    // branches[0] is the trunk.
    for (std::size_t i = 1; i < branches.size(); ++i)
    {
      this->Grow(Branch(branches[i]));
    }
    // Wide vessels are painted over thin ones.
    std::stable_sort(balls.begin(), balls.end(), [](const Ball & a, const Ball & b) { return a.radius < b.radius; });
  }

  void
  Draw(const Branch & branch)
  {
    const auto steps = 3 * branch.length / branch.radius + 1;
    for (std::int64_t t = 0; t <= steps; ++t)
    {
      // The last branches end in a point.
      const Length taper = branch.radius * t / steps;
      balls.push_back(
        { branch.GetPoint(t, steps), branch.radius - (branch.radius < ThinnestRadius ? taper * 3 / 4 : taper / 20) });
    }
    nodes.push_back(branch.GetPoint(1, 2));
    nodes.push_back(branch.end);
    branches.push_back(branch);
  }

  /** Continue a branch with two others, each toward the most free space. */
  void
  Grow(const Branch & parent)
  {
    if (parent.radius < ThinnestRadius)
    {
      return;
    }
    // Radii in thousandths of the parent's. Murray's law: the sum of their cubes is that of the parent.
    constexpr Length ratios[4][2] = { { 794, 794 }, { 843, 737 }, { 888, 669 }, { 928, 585 } };
    const Point      tangent = GetDirection(parent.control, parent.end);
    for (const auto thousandths : ratios[random.Next(0, 3)])
    {
      const Length radius = parent.radius * thousandths / 1000;
      const Length margin = radius + 2 * Millimeter;
      Branch       best(parent.end, tangent, tangent, radius, 0);
      Length       bestRoom = -1;
      for (int attempt = 0; attempt < 24; ++attempt)
      {
        // The thicker branch turns less; later attempts turn more and are shorter, to find a way out of a corner.
        const std::int64_t ahead = attempt < 12 ? (thousandths > 800 ? 2 : 1) : 0;
        const Point        direction = GetDirection({}, Add(this->NextDirection(), tangent, ahead));
        const Length       length = (4 * Millimeter + 5 * radius) * random.Next(75, 125) / (attempt < 12 ? 100 : 160);
        const Branch       branch(parent.end, tangent, direction, radius, length);
        if (!IsInLiver(branch.GetPoint(1, 2), margin) || !IsInLiver(branch.end, margin))
        {
          continue;
        }
        // The free space around the end; more than this makes no difference.
        Length room = 31622;
        for (const auto & node : nodes)
        {
          room = std::min(room, GetDistance(node, branch.end));
        }
        if (room > bestRoom)
        {
          bestRoom = room;
          best = branch;
        }
      }
      if (bestRoom >= 0)
      {
        this->Draw(best);
      }
    }
  }

  Point
  NextDirection()
  {
    for (;;)
    {
      const Point point{ { random.Next(-1000, 1000), random.Next(-1000, 1000), random.Next(-1000, 1000) } };
      const auto  squaredNorm = point[0] * point[0] + point[1] * point[1] + point[2] * point[2];
      if (squaredNorm <= 1000 * 1000 && squaredNorm > 0)
      {
        return GetDirection({}, point);
      }
    }
  }

  /** Of hundreds of random points of the right lobe, the one that is farthest from the vessels and the surface. */
  Point
  FindPointWithoutVessels()
  {
    constexpr Length margin = 12 * Millimeter;
    Point            best = RightLobe.center;
    Length           bestDistance = -1;
    for (int i = 0; i < 400; ++i)
    {
      const Point fromCenter{ { random.Next(-60, 60), random.Next(-55, 55), random.Next(-65, 65) } };
      const Point point = Add(RightLobe.center, fromCenter, Millimeter);
      if (IsInLiver(point, margin))
      {
        Length distance = margin;
        for (const auto & ball : balls)
        {
          distance = std::min(distance, GetDistance(point, ball.center) - ball.radius);
        }
        if (distance > bestDistance)
        {
          bestDistance = distance;
          best = point;
        }
      }
    }
    return best;
  }

  static constexpr Length ThinnestRadius = 500;

  RandomSequence      random;
  std::vector<Branch> branches;
  std::vector<Ball>   balls;
  std::vector<Point>  nodes;
};

/** The position of sample s of n along an axis. */
inline Length
GetPosition(unsigned int axis, std::int64_t s, std::int64_t n)
{
  return (2 * s + 1) * FieldOfView[axis] / (2 * n) - FieldOfView[axis] / 2;
}

/** The samples of a line along x. */
struct Line
{
  std::vector<short> values;
  Length             y;
  Length             z;

  /** Set the samples in a closed interval. */
  void
  Paint(Length low, Length high, short value)
  {
    const auto size = static_cast<std::int64_t>(values.size());
    const auto getFirstFrom = [size](Length x) {
      const auto numerator = FieldOfView[0] - 2 * size * (x + FieldOfView[0] / 2);
      return std::clamp<std::int64_t>(-DivideDown(numerator, 2 * FieldOfView[0]), 0, size);
    };
    const auto first = getFirstFrom(low);
    const auto end = std::max(first, getFirstFrom(high + 1));
    std::fill(values.begin() + first, values.begin() + end, value);
  }

  void
  Paint(const Ellipsoid & ellipsoid)
  {
    const Length halfWidth = ellipsoid.GetHalfWidth(y, z);
    if (halfWidth >= 0)
    {
      this->Paint(ellipsoid.center[0] - halfWidth, ellipsoid.center[0] + halfWidth, ellipsoid.value);
    }
  }

  void
  Paint(const Ball & ball)
  {
    const Length dy = y - ball.center[1];
    const Length dz = z - ball.center[2];
    const auto   squared = ball.radius * ball.radius - dy * dy - dz * dz;
    if (squared >= 0)
    {
      const Length halfWidth = SquareRoot(squared);
      const auto   value = 180 + 20 * ball.radius / VesselTree::TrunkRadius;
      this->Paint(ball.center[0] - halfWidth, ball.center[0] + halfWidth, static_cast<short>(value));
    }
  }

  /** Ribs descend toward the front, and end there. */
  void
  PaintRibs()
  {
    const Length height = (z - y * 2 / 5 + 100 * RibDistance) % RibDistance - RibDistance / 2;
    for (const Length cortex : { Length{ 0 }, CortexThickness })
    {
      const Length halfHeight = RibHalfHeight - cortex;
      if (y < -75 * Millimeter || std::abs(height) >= halfHeight)
      {
        return;
      }
      const Length halfWidth =
        (RibHalfWidth - cortex) * SquareRoot(halfHeight * halfHeight - height * height) / halfHeight;
      const Length outer = RibCage.Grow(halfWidth).GetHalfWidth(y, z);
      const Length inner = std::max<Length>(RibCage.Grow(-halfWidth).GetHalfWidth(y, z), 0);
      if (outer >= 0)
      {
        this->Paint(-outer, -inner, cortex == 0 ? DenseBone : SpongyBone);
        this->Paint(inner, outer, cortex == 0 ? DenseBone : SpongyBone);
      }
    }
  }

  void
  PaintLiver()
  {
    const Length limit = Diaphragm.Grow(-DiaphragmThickness).GetHalfWidth(y, z);
    for (const auto & lobe : { RightLobe, LeftLobe })
    {
      const Length halfWidth = lobe.GetHalfWidth(y, z);
      if (halfWidth >= 0 && limit >= 0)
      {
        this->Paint(
          std::max(lobe.center[0] - halfWidth, -limit), std::min(lobe.center[0] + halfWidth, limit), lobe.value);
      }
    }
  }

  /** The middle of a vertebra is at z = 0. */
  void
  PaintSpine()
  {
    const Length fromMiddle =
      std::abs((z + 100 * VertebraHeight + VertebraHeight / 2) % VertebraHeight - VertebraHeight / 2);
    const Length halfHeight = (VertebraHeight - DiskHeight) / 2;
    if (fromMiddle < halfHeight)
    {
      this->Paint(VertebralArch);
      this->Paint(SpinousProcess);
      this->Paint(VertebralBody);
      if (fromMiddle < halfHeight - CortexThickness)
      {
        this->Paint(SpongyBody);
      }
    }
    else
    {
      this->Paint(Disk);
    }
    this->Paint(SpinalCanal);
  }

  /** All but the vessels of the liver. */
  void
  PaintAnatomy()
  {
    std::fill(values.begin(), values.end(), short{ -1000 });
    this->Paint(Skin);
    this->Paint(Wall);
    this->PaintRibs();
    if (z <= LungBase)
    {
      this->Paint(LowerCavity);
    }
    for (const auto & part : Chest)
    {
      if (z > LungBase)
      {
        this->Paint(part);
      }
    }
    this->Paint(SpleenShape);
    for (const auto & shape : OtherOrgans)
    {
      this->Paint(shape);
    }
    this->PaintLiver();
    this->PaintSpine();
  }
};

/** The balls that may touch samples of a voxel, in the same order. */
inline std::vector<Ball>
SelectBalls(const std::vector<Ball> & balls, unsigned int axis, std::int64_t voxel, std::int64_t size)
{
  const Length      low = GetPosition(axis, voxel * Samples, size * Samples);
  const Length      high = GetPosition(axis, voxel * Samples + Samples - 1, size * Samples);
  std::vector<Ball> result;
  std::copy_if(balls.begin(), balls.end(), std::back_inserter(result), [=](const Ball & ball) {
    return ball.center[axis] + ball.radius >= low && ball.center[axis] - ball.radius <= high;
  });
  return result;
}

inline void
PaintSlice(const Result & result, std::int64_t k, const std::vector<Ball> & balls, const Settings & settings)
{
  // The noise has 16 + 10 binary fraction digits.
  constexpr std::int64_t unit = std::int64_t{ 1 } << 26;
  constexpr std::int64_t numberOfSamples = Samples * Samples * Samples;
  const RandomSequence   noise(RandomSequence(settings.randomSeed).Get(0));
  const std::int64_t     noiseScale = std::llround(settings.noise * 1024.0);

  const auto size = settings.size;
  const auto sliceBalls = SelectBalls(balls, 2, k, size[2]);
  Line       line{ std::vector<short>(size[0] * Samples), 0, 0 };
  for (itk::SizeValueType j = 0; j < size[1]; ++j)
  {
    const auto                rowBalls = SelectBalls(sliceBalls, 1, j, size[1]);
    std::vector<std::int32_t> sums(size[0]);
    for (std::int64_t sample = 0; sample < Samples * Samples; ++sample)
    {
      line.y = GetPosition(1, j * Samples + sample % Samples, size[1] * Samples);
      line.z = GetPosition(2, k * Samples + sample / Samples, size[2] * Samples);
      line.PaintAnatomy();
      for (const auto & ball : rowBalls)
      {
        line.Paint(ball);
      }
      const short * values = line.values.data();
      for (auto & sum : sums)
      {
        sum += values[0] + values[1] + values[2] + values[3];
        values += Samples;
      }
    }
    const std::uint64_t start = (k * size[1] + j) * size[0];
    for (std::size_t i = 0; i < size[0]; ++i)
    {
      const auto fromMean = noiseScale == 0 ? 0 : noise.GetNormal(start + i) * noiseScale;
      const auto value = DivideDown(sums[i] * (unit / numberOfSamples) + fromMean + unit / 2, unit);
      // Scanners store 12 bits.
      result.image->GetBufferPointer()[start + i] = static_cast<short>(std::clamp<std::int64_t>(value, -1024, 3071));
    }
  }
}

inline ImageType::IndexType
GetIndex(const Point & point, const ImageType::SizeType & size)
{
  ImageType::IndexType index;
  for (unsigned int d = 0; d < 3; ++d)
  {
    const auto n = static_cast<std::int64_t>(size[d]);
    index[d] = static_cast<itk::IndexValueType>((point[d] + FieldOfView[d] / 2) * n / FieldOfView[d]);
  }
  return index;
}

} // namespace Detail

/** Make the image. Its field of view has the natural size of the anatomy, 358.4 x 358.4 x 232.5 mm, which is 0.7 x 0.7
 * x 1.5 mm for 512 x 512 x 155 voxels. Throws std::invalid_argument if a setting is out of range. */
inline Result
Make(const Settings & settings)
{
  using namespace Detail;
  if (!(settings.noise >= 0.0 && settings.noise <= 1000.0))
  {
    throw std::invalid_argument("the noise is " + std::to_string(settings.noise) + ", not from 0 to 1000");
  }
  ImageType::SpacingType spacing;
  ImageType::PointType   origin;
  for (unsigned int d = 0; d < 3; ++d)
  {
    const std::string axis = " along axis " + std::to_string(d) + " is ";
    if (settings.size[d] < 1 || settings.size[d] > 4096)
    {
      throw std::invalid_argument("the size" + axis + std::to_string(settings.size[d]) + ", not from 1 to 4096");
    }
    // Every file format can store an integer number of nanometers.
    const auto size = static_cast<std::int64_t>(settings.size[d]);
    spacing[d] = static_cast<double>((FieldOfView[d] * 1000 + size / 2) / size) / 1e6;
    origin[d] = std::round(-500.0 * spacing[d] * static_cast<double>(settings.size[d] - 1)) / 1e3;
  }

  Result result;
  result.image = ImageType::New();
  result.image->SetRegions(settings.size);
  result.image->SetSpacing(spacing);
  result.image->SetOrigin(origin);
  result.image->Allocate();

  VesselTree tree(settings.randomSeed);
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0,
    settings.size[2],
    [&](itk::SizeValueType k) { PaintSlice(result, static_cast<std::int64_t>(k), tree.balls, settings); },
    nullptr);

  const Point trunkCenter = Add({}, Add(VesselTree::Hilum, VesselTree::Fork), 1, 2);
  result.vesselSeed = GetIndex(trunkCenter, settings.size);
  result.liverSeed = GetIndex(tree.FindPointWithoutVessels(), settings.size);
  result.boneSeed = GetIndex({ { 0, VertebralBody.center[1], 0 } }, settings.size);
  return result;
}
} // namespace SyntheticLiverCT

#endif // SyntheticLiverCT_h
