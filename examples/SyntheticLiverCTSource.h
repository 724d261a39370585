/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef SyntheticLiverCTSource_h
#define SyntheticLiverCTSource_h

// A computed tomography of an abdomen that never was: air, fat, organs, bones, and a liver with a tree of vessels whose
// thinnest branches are thinner than a voxel. For tests, benchmarks and demonstrations.
//
// The same settings give the same voxels on every machine and for any number of threads: all that decides about a voxel
// is integer arithmetic, lengths in micrometers, and the noise of a voxel depends on its place only.

#include "itkImage.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
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
  /** In mm. Where it is 0, the field of view has the size that the anatomy has by nature: 358.4 x 358.4 x 232.5 mm,
   * which is 0.7 x 0.7 x 1.5 mm for 512 x 512 x 155 voxels. The anatomy fills the volume in any case. */
  ImageType::SpacingType spacing{ 0.0 };
};

struct Result
{
  ImageType::Pointer image;
  /** In the middle of the trunk of the vessels. */
  ImageType::IndexType vesselSeed;
  /** In the liver, as far from vessels as can be. */
  ImageType::IndexType liverSeed;
  /** In the middle of a vertebra. */
  ImageType::IndexType boneSeed;
};

namespace Detail
{
/** A length or a coordinate in micrometers. */
using Length = std::int64_t;
/** Left, back and up of the center of the field of view. */
using Point = std::array<Length, 3>;

constexpr Point  FieldOfView{ { 358400, 358400, 232500 } };
constexpr Length Millimeter = 1000;
constexpr Length Endless = 1000000 * Millimeter;
/** 1 as a number with 20 binary digits behind the point. */
constexpr std::int64_t One = std::int64_t{ 1 } << 20;
/** Samples along each axis of a voxel; a voxel is the mean of all of them. */
constexpr int Samples = 4;

constexpr short Air = -1000;
constexpr short Lung = -850;
constexpr short Fat = -100;
constexpr short SoftTissue = 50;
constexpr short Liver = 110;
constexpr short SpongyBone = 420;
constexpr short DenseBone = 800;
constexpr short ThinVessel = 180;
constexpr short Trunk = 200;

constexpr std::int64_t
DivideDown(std::int64_t numerator, std::int64_t denominator)
{
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

/** The whole part of the square root; the last digit of the floating point root does not matter. */
inline std::int64_t
SquareRoot(std::int64_t value)
{
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value)
  {
    --root;
  }
  while ((root + 1) * (root + 1) <= value)
  {
    ++root;
  }
  return root;
}

/** SplitMix64 of Steele, Lea and Flood (2014): number n of a sequence is known without those before. */
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
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < 3; ++i)
    {
      const std::uint64_t bits = this->Get(3 * n + i);
      sum += static_cast<std::int64_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
    }
    return sum - 6 * 65535;
  }

private:
  std::uint64_t m_Seed;
  std::uint64_t m_Next{ 0 };
};

inline Point
Add(const Point & a, const Point & b)
{
  return { { a[0] + b[0], a[1] + b[1], a[2] + b[2] } };
}

/** The vector times numerator / denominator. */
inline Point
Scale(const Point & a, std::int64_t numerator, std::int64_t denominator)
{
  return { { a[0] * numerator / denominator, a[1] * numerator / denominator, a[2] * numerator / denominator } };
}

inline std::int64_t
GetSquaredNorm(const Point & a)
{
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

inline Length
GetDistance(const Point & a, const Point & b)
{
  return SquareRoot(GetSquaredNorm({ { a[0] - b[0], a[1] - b[1], a[2] - b[2] } }));
}

/** The vector with the length One. */
inline Point
Normalize(const Point & a)
{
  return Scale(a, One, std::max<std::int64_t>(SquareRoot(GetSquaredNorm(a)), 1));
}

inline Point
GetDirection(const Point & from, const Point & to)
{
  return Normalize({ { to[0] - from[0], to[1] - from[1], to[2] - from[2] } });
}

/** With an endless axis it is a cylinder. */
struct Ellipsoid
{
  Point center;
  Point semiAxes;
  short value;

  /** Half the length of what the line along x at y and z has inside; negative if it passes outside. */
  Length
  GetHalfWidth(Length y, Length z) const
  {
    const auto ratioY = (y - center[1]) * One / semiAxes[1];
    const auto ratioZ = (z - center[2]) * One / semiAxes[2];
    const auto rest = One * One - ratioY * ratioY - ratioZ * ratioZ;
    return rest < 0 ? -1 : semiAxes[0] * SquareRoot(rest) / One;
  }

  Ellipsoid
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

constexpr Ellipsoid
MakeEllipsoid(Length x, Length y, Length z, Length semiX, Length semiY, Length semiZ, short value)
{
  return { { { x * Millimeter, y * Millimeter, z * Millimeter } },
           { { semiX * Millimeter, semiY * Millimeter, semiZ * Millimeter } },
           value };
}

constexpr Ellipsoid
MakeCylinder(Length x, Length y, Length semiX, Length semiY, short value)
{
  return MakeEllipsoid(x, y, 0, semiX, semiY, Endless / Millimeter, value);
}

// From the skin inwards; what comes later lies over what comes before.
constexpr Ellipsoid Skin = MakeCylinder(0, 0, 168, 122, Fat);
constexpr Ellipsoid Wall = MakeCylinder(0, 0, 154, 108, SoftTissue);
constexpr Ellipsoid RibCage = MakeCylinder(0, 0, 147, 101, SoftTissue);
constexpr Ellipsoid Cavity = MakeCylinder(0, 0, 138, 92, Lung);
constexpr Ellipsoid Heart = MakeEllipsoid(25, -25, 120, 50, 42, 45, 130);
constexpr Ellipsoid Mediastinum = MakeCylinder(5, 48, 32, 32, SoftTissue);
constexpr Ellipsoid Diaphragm = MakeEllipsoid(0, 5, -45, 139, 92, 130, Fat);
// Below the lungs.
constexpr Ellipsoid LowerCavity = MakeCylinder(0, 0, 138, 92, Fat);
constexpr Length    LungBase = -45 * Millimeter;

constexpr std::array<Ellipsoid, 13> Organs{ {
  MakeEllipsoid(102, 30, 5, 30, 38, 42, 120),           // spleen
  MakeEllipsoid(60, -35, 0, 42, 36, 50, SoftTissue),    // stomach
  MakeEllipsoid(62, -58, 10, 22, 9, 24, -950),          // gas in it
  MakeEllipsoid(62, 60, -85, 25, 22, 45, 170),          // kidneys
  MakeEllipsoid(-62, 62, -95, 25, 22, 45, 170),         //
  MakeEllipsoid(15, -40, -100, 38, 30, 22, SoftTissue), // bowel
  MakeEllipsoid(85, -20, -95, 26, 34, 40, 40),          //
  MakeEllipsoid(85, -30, -92, 15, 15, 25, -950),        // gas in it
  MakeEllipsoid(-95, -15, -118, 25, 30, 28, 40),        //
  MakeCylinder(-36, 84, 26, 15, 55),                    // muscles of the back
  MakeCylinder(36, 84, 26, 15, 55),                     //
  MakeCylinder(17, 37, 9, 9, 185),                      // aorta
  MakeCylinder(0, 64, 27, 20, SoftTissue),              // around the spine
} };

constexpr Ellipsoid RightLobe = MakeEllipsoid(-58, -8, -10, 72, 68, 80, Liver);
constexpr Ellipsoid LeftLobe = MakeEllipsoid(18, -36, 12, 70, 38, 42, Liver);
// The liver stays this far below the diaphragm.
constexpr Length DiaphragmThickness = 4 * Millimeter;

constexpr Length    VertebraHeight = 34 * Millimeter;
constexpr Length    DiskHeight = 8 * Millimeter;
constexpr Length    CortexThickness = 2 * Millimeter;
constexpr Ellipsoid VertebralBody = MakeCylinder(0, 64, 23, 17, DenseBone);
constexpr Ellipsoid VertebralArch = MakeCylinder(0, 90, 16, 13, DenseBone);
constexpr Ellipsoid SpinalCanal = MakeCylinder(0, 90, 10, 8, 40);
constexpr Ellipsoid SpinousProcess = MakeCylinder(0, 108, 4, 11, 600);

constexpr Length RibDistance = 27 * Millimeter;
constexpr Length RibHalfHeight = 6 * Millimeter;
constexpr Length RibHalfWidth = 4 * Millimeter;

/** Vessels are rows of balls that overlap. */
struct Ball
{
  Point  center;
  Length radius;
};

class VesselTree
{
public:
  static constexpr Length TrunkRadius = 6000;

  explicit VesselTree(std::uint64_t randomSeed)
    : m_Random(randomSeed)
  {
    constexpr Point hilum{ { -8 * Millimeter, -4 * Millimeter, -54 * Millimeter } };
    constexpr Point fork{ { -30 * Millimeter, -10 * Millimeter, -24 * Millimeter } };
    constexpr Point right{ { -64 * Millimeter, 0, -8 * Millimeter } };
    constexpr Point left{ { 22 * Millimeter, -38 * Millimeter, 8 * Millimeter } };
    m_TrunkCenter = Scale(Add(hilum, fork), 1, 2);
    const Point trunk = GetDirection(hilum, fork);
    this->Draw({ hilum, trunk, trunk, TrunkRadius, GetDistance(hilum, fork) });
    const Length rightRadius = TrunkRadius * Ratios[2][0] / 1000;
    const Length leftRadius = TrunkRadius * Ratios[2][1] / 1000;
    for (const auto & branch :
         { Branch{ fork, trunk, GetDirection(fork, right), rightRadius, GetDistance(fork, right) },
           Branch{ fork, trunk, GetDirection(fork, left), leftRadius, GetDistance(fork, left) } })
    {
      this->Draw(branch);
      m_Branches.push_back(branch);
    }

    while (!m_Branches.empty())
    {
      const Branch branch = m_Branches.front();
      m_Branches.pop_front();
      this->Grow(branch);
    }
    // Wide vessels are drawn over thin ones.
    std::stable_sort(
      m_Balls.begin(), m_Balls.end(), [](const Ball & a, const Ball & b) { return a.radius < b.radius; });
  }

  const std::vector<Ball> &
  GetBalls() const
  {
    return m_Balls;
  }

  const Point &
  GetTrunkCenter() const
  {
    return m_TrunkCenter;
  }

  /** The point of the right lobe, of some hundred, that is farthest from vessels and from the surface. */
  Point
  FindPointWithoutVessels()
  {
    Point  best = RightLobe.center;
    Length bestDistance = -1;
    for (int i = 0; i < 400; ++i)
    {
      const Point  point = Add(RightLobe.center,
                               { { m_Random.Next(-60, 60) * Millimeter,
                                   m_Random.Next(-55, 55) * Millimeter,
                                   m_Random.Next(-65, 65) * Millimeter } });
      const Length margin = 12 * Millimeter;
      if (!IsInLiver(point, margin))
      {
        continue;
      }
      Length distance = margin;
      for (const auto & ball : m_Balls)
      {
        distance = std::min(distance, GetDistance(point, ball.center) - ball.radius);
      }
      if (distance > bestDistance)
      {
        bestDistance = distance;
        best = point;
      }
    }
    return best;
  }

private:
  struct Branch
  {
    Point start;
    /** Unit vectors: the tangent at the start, and from the start to the end. */
    Point  tangent;
    Point  direction;
    Length radius;
    Length length;

    /** A parabola; t from 0 to n. */
    Point
    GetPoint(std::int64_t t, std::int64_t n) const
    {
      const Point control = Add(start, Scale(tangent, length / 2, One));
      const Point end = Add(start, Scale(direction, length, One));
      Point       point;
      for (unsigned int d = 0; d < 3; ++d)
      {
        point[d] = ((n - t) * (n - t) * start[d] + 2 * t * (n - t) * control[d] + t * t * end[d]) / (n * n);
      }
      return point;
    }
  };

  static constexpr Length ThinnestRadius = 500;
  /** Radii of the two branches, in thousandths of their parent's. Murray's law: their cubes add up. */
  static constexpr std::array<std::array<Length, 2>, 4> Ratios{
    { { { 794, 794 } }, { { 843, 737 } }, { { 888, 669 } }, { { 928, 585 } } }
  };

  static bool
  IsInLiver(const Point & point, Length margin)
  {
    return (RightLobe.Grow(-margin).Contains(point) || LeftLobe.Grow(-margin).Contains(point)) &&
           Diaphragm.Grow(-margin - DiaphragmThickness).Contains(point);
  }

  void
  Draw(const Branch & branch)
  {
    const bool isLast = branch.radius < ThinnestRadius;
    const auto steps = 3 * branch.length / branch.radius + 1;
    for (std::int64_t t = 0; t <= steps; ++t)
    {
      const Length taper = branch.radius * t / steps;
      m_Balls.push_back({ branch.GetPoint(t, steps), branch.radius - (isLast ? taper * 3 / 4 : taper / 20) });
    }
    m_Nodes.push_back(branch.GetPoint(1, 2));
    m_Nodes.push_back(branch.GetPoint(1, 1));
  }

  Point
  NextDirection()
  {
    for (;;)
    {
      const Point point{ { m_Random.Next(-1000, 1000), m_Random.Next(-1000, 1000), m_Random.Next(-1000, 1000) } };
      const auto  norm = GetSquaredNorm(point);
      if (norm <= 1000 * 1000 && norm > 0)
      {
        return Normalize(point);
      }
    }
  }

  /** Two branches go on from the end of a branch, each where there is most room. */
  void
  Grow(const Branch & parent)
  {
    if (parent.radius < ThinnestRadius)
    {
      return;
    }
    const auto  ratio = Ratios[static_cast<std::size_t>(m_Random.Next(0, 3))];
    const Point start = parent.GetPoint(1, 1);
    // Of a parabola, the tangent at the end is the end less the control point.
    const Point control = Add(parent.start, Scale(parent.tangent, parent.length / 2, One));
    const Point tangent = GetDirection(control, start);

    for (const auto thousandths : ratio)
    {
      Branch branch{ start, tangent, tangent, parent.radius * thousandths / 1000, 0 };
      Branch best = branch;
      Length bestRoom = -1;
      for (int attempt = 0; attempt < 24; ++attempt)
      {
        // The thicker branch turns less; later attempts turn more, and are shorter, to find a way out of a corner.
        const std::int64_t ahead = attempt < 12 ? (thousandths > 800 ? 2 : 1) : 0;
        branch.direction = Normalize(Add(Scale(tangent, ahead, 1), this->NextDirection()));
        branch.length = (4 * Millimeter + 5 * branch.radius) * m_Random.Next(75, 125) / (attempt < 12 ? 100 : 160);
        const Length margin = branch.radius + 2 * Millimeter;
        if (!IsInLiver(branch.GetPoint(1, 2), margin) || !IsInLiver(branch.GetPoint(1, 1), margin))
        {
          continue;
        }
        const Length room = this->GetRoom(branch);
        if (room > bestRoom)
        {
          bestRoom = room;
          best = branch;
        }
      }
      if (bestRoom >= 0)
      {
        this->Draw(best);
        m_Branches.push_back(best);
      }
    }
  }

  /** How far the end of a branch is from all other vessels. */
  Length
  GetRoom(const Branch & branch) const
  {
    const Point  end = branch.GetPoint(1, 1);
    std::int64_t squared = Endless;
    for (const auto & node : m_Nodes)
    {
      squared = std::min(squared, GetSquaredNorm({ { node[0] - end[0], node[1] - end[1], node[2] - end[2] } }));
    }
    return SquareRoot(squared);
  }

  RandomSequence     m_Random;
  Point              m_TrunkCenter{};
  std::deque<Branch> m_Branches;
  std::vector<Ball>  m_Balls;
  std::vector<Point> m_Nodes;
};

/** Samples of one line along x; a voxel has several. */
class SampleLine
{
public:
  explicit SampleLine(std::size_t numberOfVoxels)
    : m_Values(numberOfVoxels * Samples)
  {}

  void
  Fill(short value)
  {
    std::fill(m_Values.begin(), m_Values.end(), value);
  }

  /** Set the samples whose distance from the center is at most the half width. */
  void
  Paint(Length center, Length halfWidth, short value)
  {
    this->PaintBetween(center - halfWidth, center + halfWidth, value);
  }

  void
  PaintBetween(Length low, Length high, short value)
  {
    const auto first = std::max<std::int64_t>(this->GetFirstFrom(low), 0);
    const auto end = std::min<std::int64_t>(this->GetFirstFrom(high + 1), static_cast<std::int64_t>(m_Values.size()));
    if (first < end)
    {
      std::fill(m_Values.begin() + first, m_Values.begin() + end, value);
    }
  }

  void
  Paint(const Ellipsoid & ellipsoid, Length y, Length z)
  {
    const Length halfWidth = ellipsoid.GetHalfWidth(y, z);
    if (halfWidth >= 0)
    {
      this->Paint(ellipsoid.center[0], halfWidth, ellipsoid.value);
    }
  }

  /** Add up the samples of each voxel. */
  void
  AddTo(std::vector<std::int32_t> & sums) const
  {
    const short * values = m_Values.data();
    for (auto & sum : sums)
    {
      for (int i = 0; i < Samples; ++i)
      {
        sum += *values++;
      }
    }
  }

private:
  /** The first sample at or after a position. Sample s of n is at (s + 1/2) / n of the field of view. */
  std::int64_t
  GetFirstFrom(Length x) const
  {
    const auto n = static_cast<std::int64_t>(m_Values.size());
    const auto fromEdge = x + FieldOfView[0] / 2;
    return -DivideDown(FieldOfView[0] - 2 * n * fromEdge, 2 * FieldOfView[0]);
  }

  std::vector<short> m_Values;
};

/** Where the sample s of n along an axis is. */
inline Length
GetPosition(unsigned int axis, std::int64_t s, std::int64_t n)
{
  return (2 * s + 1) * FieldOfView[axis] / (2 * n) - FieldOfView[axis] / 2;
}

inline void
PaintRibs(SampleLine & line, Length y, Length z)
{
  // Ribs go down to the front, and end there.
  if (y < -75 * Millimeter)
  {
    return;
  }
  const Length toNext = z - y * 2 / 5 + 100 * RibDistance;
  const Length height = toNext % RibDistance - RibDistance / 2;
  for (const short value : { DenseBone, SpongyBone })
  {
    const Length cortex = value == DenseBone ? 0 : CortexThickness;
    const Length halfHeight = RibHalfHeight - cortex;
    if (std::abs(height) < halfHeight)
    {
      const Length halfWidth =
        (RibHalfWidth - cortex) * SquareRoot(halfHeight * halfHeight - height * height) / halfHeight;
      const Ellipsoid outer = RibCage.Grow(halfWidth);
      const Ellipsoid inner = RibCage.Grow(-halfWidth);
      const Length    outerHalf = outer.GetHalfWidth(y, z);
      const Length    innerHalf = std::max<Length>(inner.GetHalfWidth(y, z), 0);
      if (outerHalf >= 0)
      {
        line.PaintBetween(-outerHalf, -innerHalf, value);
        line.PaintBetween(innerHalf, outerHalf, value);
      }
    }
  }
}

inline void
PaintSpine(SampleLine & line, Length y, Length z)
{
  // The middle of a vertebra is at z = 0.
  const Length fromMiddle =
    std::abs((z + 100 * VertebraHeight + VertebraHeight / 2) % VertebraHeight - VertebraHeight / 2);
  const Length halfHeight = (VertebraHeight - DiskHeight) / 2;
  if (fromMiddle < halfHeight)
  {
    line.Paint(VertebralArch, y, z);
    line.Paint(SpinousProcess, y, z);
    line.Paint(VertebralBody, y, z);
    if (fromMiddle < halfHeight - CortexThickness)
    {
      Ellipsoid spongy = VertebralBody.Grow(-CortexThickness);
      spongy.value = SpongyBone;
      line.Paint(spongy, y, z);
    }
  }
  else
  {
    Ellipsoid disk = VertebralBody;
    disk.value = 80;
    line.Paint(disk, y, z);
  }
  line.Paint(SpinalCanal, y, z);
}

inline void
PaintLiver(SampleLine & line, Length y, Length z)
{
  const Length limit = Diaphragm.Grow(-DiaphragmThickness).GetHalfWidth(y, z);
  for (const auto & lobe : { RightLobe, LeftLobe })
  {
    const Length halfWidth = lobe.GetHalfWidth(y, z);
    if (halfWidth >= 0 && limit >= 0)
    {
      line.PaintBetween(
        std::max(lobe.center[0] - halfWidth, -limit), std::min(lobe.center[0] + halfWidth, limit), lobe.value);
    }
  }
}

/** All but the vessels of the liver. */
inline void
PaintAnatomy(SampleLine & line, Length y, Length z)
{
  line.Fill(Air);
  line.Paint(Skin, y, z);
  line.Paint(Wall, y, z);
  PaintRibs(line, y, z);
  if (z > LungBase)
  {
    line.Paint(Cavity, y, z);
    line.Paint(Mediastinum, y, z);
    line.Paint(Heart, y, z);
    line.Paint(Diaphragm, y, z);
  }
  else
  {
    line.Paint(LowerCavity, y, z);
  }
  for (const auto & organ : Organs)
  {
    line.Paint(organ, y, z);
  }
  PaintLiver(line, y, z);
  PaintSpine(line, y, z);
}

inline ImageType::IndexType
GetIndex(const Point & point, const ImageType::SizeType & size)
{
  ImageType::IndexType index;
  for (unsigned int d = 0; d < 3; ++d)
  {
    index[d] = static_cast<itk::IndexValueType>((point[d] + FieldOfView[d] / 2) * static_cast<std::int64_t>(size[d]) /
                                                FieldOfView[d]);
  }
  return index;
}

/** Draw slices, each on its own. */
class Painter
{
public:
  Painter(ImageType * image, const std::vector<Ball> & balls, const Settings & settings)
    : m_Image(image)
    , m_Balls(balls)
    , m_Noise(RandomSequence(settings.randomSeed).Get(0))
    , m_NoiseScale(std::llround(settings.noise * 1024.0))
    , m_BallsOfSlice(settings.size[2])
  {
    for (std::size_t i = 0; i < balls.size(); ++i)
    {
      this->ForEachVoxelOf(balls[i], 2, [this, i](std::size_t k) { m_BallsOfSlice[k].push_back(i); });
    }
  }

  void
  PaintSlice(std::size_t k) const
  {
    const auto                            size = m_Image->GetLargestPossibleRegion().GetSize();
    std::vector<std::vector<std::size_t>> ballsOfRow(size[1]);
    for (const auto i : m_BallsOfSlice[k])
    {
      this->ForEachVoxelOf(m_Balls[i], 1, [&ballsOfRow, i](std::size_t j) { ballsOfRow[j].push_back(i); });
    }

    SampleLine                line(size[0]);
    std::vector<std::int32_t> sums(size[0]);
    for (std::size_t j = 0; j < size[1]; ++j)
    {
      std::fill(sums.begin(), sums.end(), 0);
      for (int sample = 0; sample < Samples * Samples; ++sample)
      {
        const Length y = this->GetSamplePosition(1, j, sample % Samples);
        const Length z = this->GetSamplePosition(2, k, sample / Samples);
        PaintAnatomy(line, y, z);
        for (const auto i : ballsOfRow[j])
        {
          this->PaintBall(line, m_Balls[i], y, z);
        }
        line.AddTo(sums);
      }
      this->SetRow(sums, j, k);
    }
  }

private:
  /** Call a function for the voxels along an axis that a ball may touch. */
  template <typename TFunction>
  void
  ForEachVoxelOf(const Ball & ball, unsigned int axis, TFunction && function) const
  {
    const auto size = static_cast<std::int64_t>(m_Image->GetLargestPossibleRegion().GetSize()[axis]);
    const auto toVoxel = [axis, size](Length position) {
      return std::clamp<std::int64_t>(
        DivideDown((position + FieldOfView[axis] / 2) * size, FieldOfView[axis]), 0, size - 1);
    };
    const auto last = toVoxel(ball.center[axis] + ball.radius);
    for (auto i = toVoxel(ball.center[axis] - ball.radius); i <= last; ++i)
    {
      function(static_cast<std::size_t>(i));
    }
  }

  Length
  GetSamplePosition(unsigned int axis, std::size_t voxel, int sample) const
  {
    const auto size = static_cast<std::int64_t>(m_Image->GetLargestPossibleRegion().GetSize()[axis]);
    return GetPosition(axis, static_cast<std::int64_t>(voxel) * Samples + sample, size * Samples);
  }

  static void
  PaintBall(SampleLine & line, const Ball & ball, Length y, Length z)
  {
    const Length dy = y - ball.center[1];
    const Length dz = z - ball.center[2];
    const auto   rest = ball.radius * ball.radius - dy * dy - dz * dz;
    if (rest >= 0)
    {
      const auto value = ThinVessel + (Trunk - ThinVessel) * ball.radius / VesselTree::TrunkRadius;
      line.Paint(ball.center[0], SquareRoot(rest), static_cast<short>(value));
    }
  }

  /** The means of the samples, with noise. */
  void
  SetRow(const std::vector<std::int32_t> & sums, std::size_t j, std::size_t k) const
  {
    const auto        size = m_Image->GetLargestPossibleRegion().GetSize();
    const std::size_t start = (k * size[1] + j) * size[0];
    short *           row = m_Image->GetBufferPointer() + start;
    // The noise has 16 + 10 binary digits behind the point.
    constexpr std::int64_t unit = std::int64_t{ 1 } << 26;
    constexpr std::int64_t numberOfSamples = Samples * Samples * Samples;
    for (std::size_t i = 0; i < sums.size(); ++i)
    {
      const auto noise = m_NoiseScale == 0 ? 0 : m_Noise.GetNormal(start + i) * m_NoiseScale;
      const auto value = DivideDown(sums[i] * (unit / numberOfSamples) + noise + unit / 2, unit);
      // What scanners store has 12 bits.
      row[i] = static_cast<short>(std::clamp<std::int64_t>(value, -1024, 3071));
    }
  }

  ImageType *                           m_Image;
  const std::vector<Ball> &             m_Balls;
  RandomSequence                        m_Noise;
  std::int64_t                          m_NoiseScale;
  std::vector<std::vector<std::size_t>> m_BallsOfSlice;
};
} // namespace Detail

inline Result
Make(const Settings & settings)
{
  using namespace Detail;
  if (!(settings.noise >= 0.0 && settings.noise <= 1000.0))
  {
    throw std::invalid_argument("the noise is " + std::to_string(settings.noise) + ", not from 0 to 1000");
  }

  ImageType::SpacingType spacing = settings.spacing;
  ImageType::PointType   origin;
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (settings.size[d] < 1 || settings.size[d] > 4096)
    {
      throw std::invalid_argument("the size along axis " + std::to_string(d) + " is " +
                                  std::to_string(settings.size[d]) + ", not from 1 to 4096");
    }
    if (!(spacing[d] >= 0.0))
    {
      throw std::invalid_argument("the spacing along axis " + std::to_string(d) + " is " + std::to_string(spacing[d]));
    }
    if (spacing[d] == 0.0)
    {
      // A file of any format can hold a whole number of nanometers.
      const auto size = static_cast<std::int64_t>(settings.size[d]);
      spacing[d] = static_cast<double>((FieldOfView[d] * 1000 + size / 2) / size) / 1e6;
    }
    origin[d] = std::round(-500.0 * spacing[d] * static_cast<double>(settings.size[d] - 1)) / 1e3;
  }

  Result result;
  result.image = ImageType::New();
  result.image->SetRegions(settings.size);
  result.image->SetSpacing(spacing);
  result.image->SetOrigin(origin);
  result.image->Allocate();

  VesselTree    tree(settings.randomSeed);
  const Painter painter(result.image, tree.GetBalls(), settings);
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0, settings.size[2], [&painter](itk::SizeValueType k) { painter.PaintSlice(k); }, nullptr);

  result.vesselSeed = GetIndex(tree.GetTrunkCenter(), settings.size);
  result.liverSeed = GetIndex(tree.FindPointWithoutVessels(), settings.size);
  result.boneSeed = GetIndex({ { 0, VertebralBody.center[1], 0 } }, settings.size);
  return result;
}
} // namespace SyntheticLiverCT

#endif // SyntheticLiverCTSource_h
