// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/RegionTypes.h"

#include "common/WideInteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

namespace voxelmaps
{
namespace
{
constexpr double pi = 3.14159265358979323846;

// --- Principal axes

using Matrix3 = std::array<std::array<double, 3>, 3>;

/** Eigenvalues of a symmetric matrix in ascending order, by Jacobi's rotations. Negative ones are rounding: 0. */
std::array<double, 3>
ComputeEigenvalues(Matrix3 a)
{
  constexpr int maxRotations = 150;
  for (int rotation = 0; rotation < maxRotations; ++rotation)
  {
    // The planes 0 and 1, 0 and 2, 1 and 2 in turn.
    const int r = 2 - rotation % 3;
    const int p = r == 0 ? 1 : 0;
    const int q = 3 - p - r;
    if (a[p][q] == 0.0)
    {
      continue;
    }
    // The tangent of the angle for which the element becomes 0.
    const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double magnitude = 1.0 / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
    const double t = theta < 0.0 ? -magnitude : magnitude;
    const double cosine = 1.0 / std::sqrt(t * t + 1.0);
    const double sine = t * cosine;
    const double change = t * a[p][q];
    const double first = a[r][p];
    const double second = a[r][q];
    a[p][p] -= change;
    a[q][q] += change;
    a[p][q] = a[q][p] = 0.0;
    a[r][p] = a[p][r] = cosine * first - sine * second;
    a[r][q] = a[q][r] = sine * first + cosine * second;
  }
  std::array<double, 3> values{ { a[0][0], a[1][1], a[2][2] } };
  std::sort(values.begin(), values.end());
  for (double & value : values)
  {
    value = value > 0.0 ? value : 0.0;
  }
  return values;
}

/** Variances of the positions of the voxels along the principal axes in ascending order. */
std::array<double, 3>
ComputeAxisVariances(const ShapeCounts & counts, const std::array<double, 3> & spacing)
{
  using Integer = WideInteger<2>;
  const auto voxels = static_cast<double>(counts.voxels);
  Matrix3    covariance{};
  for (int i = 0; i < 3; ++i)
  {
    for (int j = i; j < 3; ++j)
    {
      const double numerator = ToDouble(Integer(counts.voxels) * Integer(counts.products[i][j]) -
                                        Integer(counts.sums[i]) * Integer(counts.sums[j]));
      covariance[i][j] = covariance[j][i] = numerator / voxels / voxels * (spacing[i] * spacing[j]);
    }
  }
  return ComputeEigenvalues(covariance);
}

double
AxisLength(double variance)
{
  return 4.0 * std::sqrt(variance);
}

/** The root of a quotient of variances; NaN for a single voxel. */
double
AxisRatio(double lesser, double greater)
{
  return std::sqrt(lesser / greater);
}

// --- Diameters

/** Coordinates in half voxels, so that vertices in the middle of edges are exact. */
using Point = std::array<std::int64_t, 3>;

/** The vertices of the convex hull of points in a plane, which are sorted by the axes u and v. */
std::vector<Point>
ComputeHull(const std::vector<Point> & points, int u, int v)
{
  if (points.size() < 3)
  {
    return points;
  }
  const auto isLeftTurn = [u, v](const Point & a, const Point & b, const Point & c) {
    return (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]) > 0;
  };
  std::vector<Point> hull;
  const auto         addChain = [&](auto begin, auto end) {
    const std::size_t first = hull.size();
    for (auto point = begin; point != end; ++point)
    {
      while (hull.size() >= first + 2 && !isLeftTurn(hull[hull.size() - 2], hull.back(), *point))
      {
        hull.pop_back();
      }
      hull.push_back(*point);
    }
    // The other chain begins here.
    hull.pop_back();
  };
  addChain(points.begin(), points.end());
  addChain(points.rbegin(), points.rend());
  return hull;
}

double
SquaredDistance(const Point & a, const Point & b, const std::array<double, 3> & spacing)
{
  double sum = 0.0;
  for (int d = 0; d < 3; ++d)
  {
    const double part = 0.5 * static_cast<double>(a[d] - b[d]) * spacing[d];
    sum += part * part;
  }
  return sum;
}

/** The greatest squared distance of two points. */
double
ComputeGreatestDistance(const std::vector<Point> & points, const std::array<double, 3> & spacing)
{
  Point lower = points.empty() ? Point{} : points.front();
  Point upper = lower;
  for (const Point & point : points)
  {
    for (int d = 0; d < 3; ++d)
    {
      lower[d] = std::min(lower[d], point[d]);
      upper[d] = std::max(upper[d], point[d]);
    }
  }
  // Two points are at most as far apart as their distances from the center add up to: those far from it come first.
  const Point center{ { (lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2, (lower[2] + upper[2]) / 2 } };
  std::vector<std::pair<double, Point>> byRadius;
  byRadius.reserve(points.size());
  for (const Point & point : points)
  {
    byRadius.emplace_back(std::sqrt(SquaredDistance(point, center, spacing)) * (1.0 + 1e-12), point);
  }
  std::sort(byRadius.begin(), byRadius.end(), [](const auto & a, const auto & b) { return a > b; });
  double greatest = 0.0;
  for (std::size_t i = 1; i < byRadius.size(); ++i)
  {
    for (std::size_t j = 0; j < i; ++j)
    {
      const double bound = byRadius[i].first + byRadius[j].first;
      if (bound * bound <= greatest)
      {
        break;
      }
      greatest = std::max(greatest, SquaredDistance(byRadius[i].second, byRadius[j].second, spacing));
    }
  }
  return greatest;
}

/** Diameters in planes across x, y and z, and in space. */
std::array<double, 4>
ComputeDiameters(const ShapeCounts & counts, const std::array<double, 3> & spacing)
{
  // By axis and plane across it: the first and the last vertex of each line.
  std::array<std::vector<std::vector<Point>>, 3> planes;
  for (int axis = 0; axis < 3; ++axis)
  {
    planes[axis].resize(static_cast<std::size_t>(2 * counts.size[axis]));
  }
  const auto forEachVertex = [&counts](const std::vector<ShapeCounts::Line> & lines, std::int64_t width, auto add) {
    for (std::int64_t z = 0; z < 2 * counts.size[2]; ++z)
    {
      for (std::int64_t across = 0; across < width; ++across)
      {
        const ShapeCounts::Line & line = lines[static_cast<std::size_t>(z * width + across)];
        for (int end = line[0] < 0 ? 2 : line[0] == line[1] ? 1 : 0; end < 2; ++end)
        {
          add(line[static_cast<std::size_t>(end)], across, z);
        }
      }
    }
  };
  const auto plane = [&planes](int axis, std::int64_t at) -> std::vector<Point> & {
    return planes[axis][static_cast<std::size_t>(at)];
  };
  forEachVertex(counts.alongX, 2 * counts.size[1], [&plane](std::int64_t x, std::int64_t y, std::int64_t z) {
    plane(1, y).push_back({ { x, y, z } });
    plane(2, z).push_back({ { x, y, z } });
  });
  forEachVertex(counts.alongY, 2 * counts.size[0], [&plane](std::int64_t y, std::int64_t x, std::int64_t z) {
    plane(0, x).push_back({ { x, y, z } });
  });
  std::array<double, 4> greatest{};
  // A vertex of the convex hull in space is one of the hull in each plane through it.
  std::vector<Point> common;
  for (int axis = 0; axis < 3; ++axis)
  {
    std::vector<Point> vertices;
    for (const std::vector<Point> & points : planes[axis])
    {
      const std::vector<Point> hull = ComputeHull(points, axis == 2 ? 1 : 2, axis == 0 ? 1 : 0);
      greatest[axis] = std::max(greatest[axis], ComputeGreatestDistance(hull, spacing));
      vertices.insert(vertices.end(), hull.begin(), hull.end());
    }
    std::sort(vertices.begin(), vertices.end());
    std::vector<Point> both;
    std::set_intersection(common.begin(), common.end(), vertices.begin(), vertices.end(), std::back_inserter(both));
    common = axis == 0 ? std::move(vertices) : std::move(both);
  }
  greatest[3] = ComputeGreatestDistance(common, spacing);
  std::transform(greatest.begin(), greatest.end(), greatest.begin(), [](double square) { return std::sqrt(square); });
  return greatest;
}

// --- The mesh

// Corners of a cube, in the order x, y, z: bit i of a case is set if corner i is inside.
constexpr std::array<std::int64_t, 3> corners[8] = {
  { { 0, 0, 0 } }, { { 1, 0, 0 } }, { { 1, 1, 0 } }, { { 0, 1, 0 } },
  { { 0, 0, 1 } }, { { 1, 0, 1 } }, { { 1, 1, 1 } }, { { 0, 1, 1 } }
};

// Ends of the edges, whose middles are the vertices of triangles.
constexpr int edges[12][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, { 4, 5 }, { 5, 6 },
                               { 6, 7 }, { 7, 4 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };

// Triangles of the marching cubes (Lorensen and Cline 1987, numbered as by Bourke 1994): a word for each of the first
// 128 cases, of hexadecimal numbers of three edges per triangle. Cases whose corner 7 is inside have the triangles of
// their complement, facing the other way.
constexpr char triangles[] =
  "- 083 190 183198 12a 08312a 92a029 2832a8a98 b23 b2008b 190b23 b2119b98b 3a1ba3 a1008a8ba 9033b9ba9 98aba8 "
  "478 043473 190478 194147173 12a478 34730412a 92a902478 2a9297273479 478b23 b47b24204 190478b23 47b94bb29192 "
  "3a1ba3478 ba114b10447b 4789033b9ba9 47b4b99ba 954 954083 054015 854835315 12a954 08312a954 2a5542240 "
  "2a5325354834 954b23 b2008b954 054015b23 215258b28548 3a1ba3954 549a1008a8ba 54050ba5bb03 548a58ba8 789579 "
  "309539357 780017715 157173 78957912a 12a309395357 0288258572a5 2a5253357 579789b23 579972209b27 b23018178157 "
  "21b17b157 7895793a1ba3 5705097b0a10ba0 ba003ba50078570 ba557b 65a 08365a 19065a 18319865a 165126 165126083 "
  "965906026 598582526832 b2365a b2008b65a 190b2365a b2119b98b65a 63b653513 08b0b50515b6 63b036065059 65969bb98 "
  "47865a 04347365a 19047865a 19414717365a 478165126 043473165126 478965906026 739479329596269 b2347865a "
  "b47b2420465a 190b2347865a 47b94bb2919265a 47863b653513 51b5b610b47b04b 47863b036065059 65969b4797b9 a4964a "
  "a4964a083 01aa60640 18316886461a 149124264 149124264083 024426 832824426 b23a4964a b2008ba4964a b2301aa60640 "
  "64161a148b2118b 964369139b63 18b081b61149641 63b036640 86468b 67a78a89a 67a0a709a073 67a1a7178018 67a1a7173 "
  "126168189678 269129679309739 078706602 273267 b2367a78a89a 207b2709767a9a7 67a1a7178018b23 b2117ba61167 "
  "896678169b63136 09167b 07870603bb60 67b";

double
EdgeMiddle(char digit, int axis)
{
  const int edge = digit <= '9' ? digit - '0' : digit - 'a' + 10;
  return 0.5 * static_cast<double>(corners[edges[edge][0]][axis] + corners[edges[edge][1]][axis]);
}

/** What the triangles of a cube add to area and volume: the signed volume of the tetrahedra with the origin of the
 * cube, and a third of the sum of the normals, for a cube elsewhere: faces of neighbors need not agree, so that the
 * position matters. */
struct CubeMesh
{
  double                area{ 0.0 };
  double                volume{ 0.0 };
  std::array<double, 3> volumePerStep{};
};

CubeMesh
MakeCubeMesh(int cube, const std::array<double, 3> & spacing)
{
  const bool   isFlipped = (cube & 0x80) != 0;
  const double sign = isFlipped ? -1.0 : 1.0;
  const char * digit = triangles;
  for (int word = isFlipped ? 0xff ^ cube : cube; word > 0; --word)
  {
    digit = std::strchr(digit, ' ') + 1;
  }
  CubeMesh mesh;
  for (; *digit != '\0' && *digit != ' '; digit += 3)
  {
    double points[3][3];
    for (int d = 0; d < 3; ++d)
    {
      // The orientation of the table is that of the order z, y, x.
      for (int i = 0; i < 3; ++i)
      {
        points[i][d] = EdgeMiddle(digit[i], 2 - d) * spacing[2 - d];
      }
    }
    const auto cross = [](const double(&a)[3], const double(&b)[3], int d) {
      return a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    };
    double first[3];
    double second[3];
    for (int d = 0; d < 3; ++d)
    {
      first[d] = points[1][d] - points[0][d];
      second[d] = points[2][d] - points[0][d];
    }
    double squares = 0.0;
    for (int d = 0; d < 3; ++d)
    {
      const double normal = cross(first, second, d);
      squares += normal * normal;
      mesh.volume += sign * cross(points[0], points[1], d) * points[2][d] / 6.0;
      mesh.volumePerStep[2 - d] += sign * normal * spacing[2 - d] / 6.0;
    }
    mesh.area += 0.5 * std::sqrt(squares);
  }
  return mesh;
}

// --- Counts

void
CountCubes(const RegionMask & mask, std::int64_t z, ShapeCounts & counts)
{
  for (std::int64_t y = 0; y + 1 < mask.size[1]; ++y)
  {
    const std::uint8_t * const rows[4] = {
      mask.Row(y, z), mask.Row(y + 1, z), mask.Row(y, z + 1), mask.Row(y + 1, z + 1)
    };
    // Bits of the corners 0, 3, 4 and 7 of a cube, and those of 1, 2, 5 and 6, which are the others of the next one.
    unsigned int left = 0;
    for (std::int64_t x = 0; x + 1 < mask.size[0]; ++x)
    {
      const auto right =
        static_cast<unsigned int>(rows[0][x + 1] | rows[1][x + 1] << 3 | rows[2][x + 1] << 4 | rows[3][x + 1] << 7);
      const unsigned int cube = left | (right & 1) << 1 | (right & 8) >> 1 | (right & 16) << 1 | (right & 128) >> 1;
      left = right;
      if (cube != 0 && cube != 255)
      {
        CubeCount & count = counts.cubes[cube];
        ++count.cubes;
        count.positions[0] += x;
        count.positions[1] += y;
        count.positions[2] += z;
      }
    }
  }
}

void
CountMoments(const RegionMask & mask, std::int64_t z, ShapeCounts & counts)
{
  for (std::int64_t y = 0; y < mask.size[1]; ++y)
  {
    const std::uint8_t * const row = mask.Row(y, z);
    std::int64_t               number = 0;
    std::int64_t               sum = 0;
    std::int64_t               squares = 0;
    for (std::int64_t x = 0; x < mask.size[0]; ++x)
    {
      number += row[x];
      sum += row[x] * x;
      squares += row[x] * x * x;
    }
    counts.voxels += number;
    const Triple at{ { sum, y * number, z * number } };
    const Triple unit{ { 0, y, z } };
    for (int i = 0; i < 3; ++i)
    {
      counts.sums[i] += at[i];
      for (int j = std::max(i, 1); j < 3; ++j)
      {
        counts.products[i][j] += at[i] * unit[j];
      }
    }
    counts.products[0][0] += squares;
  }
}

/** The vertices in a plane, of half voxels. */
void
CountVertices(const RegionMask & mask, std::int64_t z, ShapeCounts & counts)
{
  for (std::int64_t y = 1 + z % 2; y < 2 * mask.size[1] - 1; y += 1 + z % 2)
  {
    const std::int64_t         isAlongX = y % 2 == 0 && z % 2 == 0 ? 1 : 0;
    const std::uint8_t * const row = mask.Row(y / 2, z / 2);
    const std::uint8_t * const neighbors = isAlongX == 1 ? row + 1 : mask.Row((y + 1) / 2, (z + 1) / 2);
    const std::int64_t         size = mask.size[0] - 1;
    std::int64_t               first = 0;
    std::int64_t               last = size;
    for (; first < last && row[first] == neighbors[first]; ++first)
    {
    }
    for (; first < last && row[last - 1] == neighbors[last - 1]; --last)
    {
    }
    if (first == last)
    {
      continue;
    }
    const auto coordinate = [isAlongX](std::int64_t x) { return static_cast<std::int32_t>(2 * x + isAlongX); };
    counts.alongX[static_cast<std::size_t>(2 * mask.size[1] * z + y)] = { { coordinate(first), coordinate(last - 1) } };
    ShapeCounts::Line * const lines = counts.alongY.data() + 2 * mask.size[0] * z + isAlongX;
    for (std::int64_t x = first; x < last; ++x)
    {
      if (row[x] != neighbors[x])
      {
        ShapeCounts::Line & line = lines[2 * x];
        line[0] = line[0] < 0 ? static_cast<std::int32_t>(y) : line[0];
        line[1] = static_cast<std::int32_t>(y);
      }
    }
  }
}
} // namespace

ShapeCounts
CountShape(const RegionMask & mask, const JobExecution & execution)
{
  ShapeCounts counts(mask.size);
  for (std::int64_t z = 0; z < mask.size[2]; ++z)
  {
    CountMoments(mask, z, counts);
    CountVertices(mask, 2 * z, counts);
    if (z + 1 < mask.size[2])
    {
      CountCubes(mask, z, counts);
      CountVertices(mask, 2 * z + 1, counts);
    }
    execution.CheckAbort();
  }
  return counts;
}

std::array<double, 17>
ComputeShapeValues(const ShapeCounts & counts, const std::array<double, 3> & spacing)
{
  CompensatedSum area, volume;
  for (int cube = 1; cube < 255; ++cube)
  {
    const CubeCount & count = counts.cubes[static_cast<std::size_t>(cube)];
    if (count.cubes != 0)
    {
      const CubeMesh mesh = MakeCubeMesh(cube, spacing);
      area += static_cast<double>(count.cubes) * mesh.area;
      volume += static_cast<double>(count.cubes) * mesh.volume;
      for (int d = 0; d < 3; ++d)
      {
        volume += static_cast<double>(count.positions[d]) * mesh.volumePerStep[d];
      }
    }
  }
  const std::array<double, 3> variances = ComputeAxisVariances(counts, spacing);
  const std::array<double, 4> lengths = ComputeDiameters(counts, spacing);

  // Area of a ball with this volume.
  const double ballArea = std::cbrt(36.0 * pi * volume * volume);

  // In the order of the table.
  return { { AxisRatio(variances[1], variances[2]),
             AxisRatio(variances[0], variances[2]),
             AxisLength(variances[0]),
             AxisLength(variances[2]),
             lengths[1],
             lengths[0],
             lengths[2],
             lengths[3],
             volume,
             AxisLength(variances[1]),
             ballArea / area,
             area,
             area / volume,
             static_cast<double>(counts.voxels) * (spacing[0] * spacing[1] * spacing[2]),
             volume / (area * std::sqrt(area * pi)),
             36.0 * pi * volume * volume / (area * area * area),
             area / ballArea } };
}

std::array<double, 10>
ComputePlanarShapeValues(const ShapeCounts & counts, const std::array<double, 3> & spacing, int across)
{
  // By the bits of the pixels (0, 0), (1, 0), (0, 1) and (1, 1) of a square: the part of it that is inside, and half
  // diagonals of the line around that part. Opposite pixels are cut off one by one.
  constexpr double parts[16] = { 0.0,   0.125, 0.125, 0.5,   0.125, 0.5,   0.25,  0.875,
                                 0.125, 0.25,  0.5,   0.875, 0.5,   0.875, 0.875, 1.0 };
  constexpr double halfDiagonals[16] = { 0, 1, 1, 0, 1, 0, 2, 1, 1, 2, 0, 1, 0, 1, 1, 0 };

  const int first = across == 0 ? 1 : 0;
  const int second = across == 2 ? 1 : 2;
  // The cubes that begin in the plane have no corners inside elsewhere.
  std::array<double, 16> squares{};
  for (std::size_t square = 1; square < squares.size(); ++square)
  {
    std::size_t cube = 0;
    for (int i = 0; i < 8; ++i)
    {
      const auto bit = static_cast<std::size_t>(corners[i][first] + 2 * corners[i][second]);
      cube |= corners[i][across] == 0 && (square >> bit & 1) != 0 ? std::size_t{ 1 } << i : 0;
    }
    squares[square] = static_cast<double>(counts.cubes[cube].cubes);
  }
  const double width = spacing[first];
  const double height = spacing[second];
  const double surface = width * height * std::inner_product(squares.begin(), squares.end(), parts, 0.0);
  const double perimeter = std::inner_product(squares.begin(), squares.end(), halfDiagonals, 0.0) * 0.5 *
                             std::sqrt(width * width + height * height) +
                           width * (squares[3] + squares[12]) + height * (squares[5] + squares[10]);
  // The variance across the plane is 0, and so the least.
  const std::array<double, 3> variances = ComputeAxisVariances(counts, spacing);
  const double                circlePerimeter = 2.0 * std::sqrt(pi * surface);
  // In the order of the table.
  return { { AxisRatio(variances[1], variances[2]),
             AxisLength(variances[2]),
             ComputeDiameters(counts, spacing)[across],
             surface,
             AxisLength(variances[1]),
             perimeter,
             perimeter / surface,
             static_cast<double>(counts.voxels) * (width * height),
             circlePerimeter / perimeter,
             perimeter / circlePerimeter } };
}
} // namespace voxelmaps
