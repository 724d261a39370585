// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FilterPropertyChecks.h"
#include "ItkTestUtilities.h"
#include "PipelineTestUtilities.h"
#include "TestedFilters.h"

#include "itkConstantBoundaryCondition.h"
#include "itkNeighborhoodOperatorImageFilter.h"
#include "itkPeriodicBoundaryCondition.h"
#include "itkResponseMapImageFilter.h"
#include "itkStreamingImageFilter.h"
#include "itkZeroFluxNeumannBoundaryCondition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

// The tests of the core check all filters and boundaries.
namespace
{
using ImageType = itk::Image<short, 3>;
using RealImageType = itk::Image<double, 3>;
using FilterType = itk::ResponseMapImageFilter<ImageType, RealImageType>;
using Filter = itk::ResponseMapEnums::Filter;
using Boundary = itk::ResponseMapEnums::Boundary;
using Pooling = itk::ResponseMapEnums::Pooling;
using Kernel = std::vector<double>;
using namespace VoxelMapsTest;

/** Noise on anisotropic voxels. */
ImageType::Pointer
MakeNoise(const ImageType::SizeType & size, const ImageType::IndexType & start = ImageType::IndexType{ {} })
{
  RandomNumbers      random(3);
  std::vector<short> pixels(size[0] * size[1] * size[2]);
  for (short & pixel : pixels)
  {
    pixel = static_cast<short>(random.Between(-1000, 1000));
  }
  const auto image = MakeImage<ImageType>(size, pixels, start);
  Place(image.GetPointer());
  return image;
}

FilterType::Pointer
MakeFilter(const ImageType * image, Filter which)
{
  const auto filter = NewFilter<FilterType>();
  filter->SetInput(image);
  filter->SetFilter(which);
  switch (which)
  {
    case Filter::LaplacianOfGaussian:
      filter->SetSigma(1.3);
      break;
    case Filter::Laws:
      filter->SetKernels("E5L5R5");
      filter->SetPooling(Pooling::Maximum);
      filter->ComputeEnergyOn();
      filter->SetEnergyDistance(2);
      break;
    case Filter::Gabor:
      filter->SetSigma(1.0);
      filter->SetWavelength(2.5);
      filter->SetAngleStep(0.78539816339744831);
      break;
    case Filter::Wavelet:
      filter->SetSubband("LHH");
      filter->SetPooling(Pooling::Mean);
      break;
    default:
      filter->SetSupportSize(3);
  }
  return filter;
}

/** Convolution by ITK with the product of kernels along x, y and z. */
RealImageType::Pointer
ConvolveByITK(const ImageType * image, const std::array<Kernel, 3> & kernels, Boundary boundary)
{
  using OperatorFilter = itk::NeighborhoodOperatorImageFilter<ImageType, RealImageType, double>;
  itk::Neighborhood<double, 3> neighborhood;
  neighborhood.SetRadius({ { kernels[0].size() / 2, kernels[1].size() / 2, kernels[2].size() / 2 } });
  for (unsigned int i = 0; i < neighborhood.Size(); ++i)
  {
    const auto offset = neighborhood.GetOffset(i);
    neighborhood[i] = 1.0;
    for (unsigned int d = 0; d < 3; ++d)
    {
      // The filter correlates.
      const auto middle = static_cast<itk::OffsetValueType>(kernels[d].size() / 2);
      neighborhood[i] *= kernels[d][static_cast<std::size_t>(middle - offset[d])];
    }
  }
  itk::ConstantBoundaryCondition<ImageType>        zero;
  itk::ZeroFluxNeumannBoundaryCondition<ImageType> nearest;
  itk::PeriodicBoundaryCondition<ImageType>        periodic;
  const auto                                       filter = OperatorFilter::New();
  filter->SetInput(image);
  filter->SetOperator(neighborhood);
  if (boundary == Boundary::Zero)
  {
    filter->OverrideBoundaryCondition(&zero);
  }
  else if (boundary == Boundary::Nearest)
  {
    filter->OverrideBoundaryCondition(&nearest);
  }
  else
  {
    filter->OverrideBoundaryCondition(&periodic);
  }
  filter->Update();
  return filter->GetOutput();
}

void
ExpectNear(const std::vector<double> & expected, const std::vector<double> & found)
{
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
  {
    // For intensities up to 1000, and sums in another order.
    ASSERT_NEAR(expected[i], found[i], 1e-9) << i;
  }
}

Kernel
Scale(Kernel kernel, double factor)
{
  std::transform(kernel.begin(), kernel.end(), kernel.begin(), [factor](double value) { return value * factor; });
  return kernel;
}
} // namespace

TEST(ResponseMapImageFilter, ConvolutionsAreThoseOfITK)
{
  const auto image = MakeNoise({ { 11, 12, 10 } }, { { 5, -3, 100 } });
  for (const Boundary boundary : { Boundary::Zero, Boundary::Nearest, Boundary::Periodic })
  {
    SCOPED_TRACE(boundary);
    const auto check = [&](const FilterType::Pointer & filter, const std::array<Kernel, 3> & kernels) {
      filter->SetBoundary(boundary);
      ExpectNear(GetBuffer(ConvolveByITK(image, kernels, boundary).GetPointer()), Compute(filter));
    };
    const Kernel third(3, 1.0 / 3.0);
    const auto   mean = MakeFilter(image, Filter::Mean);
    check(mean, { third, third, third });
    mean->SetFilterDimension(2);
    check(mean, { third, third, { 1.0 } });

    const auto laws = NewFilter<FilterType>();
    laws->SetInput(image);
    laws->SetFilter(Filter::Laws);
    laws->SetKernels("W5S3L5");
    check(laws,
          { Scale({ -1, 2, 0, -2, 1 }, 1 / std::sqrt(10)),
            Scale({ -1, 2, -1 }, 1 / std::sqrt(6)),
            Scale({ 1, 4, 6, 4, 1 }, 1 / std::sqrt(70)) });

    const auto   wavelet = NewFilter<FilterType>();
    const double root = std::sqrt(3.0);
    const Kernel db2 = Scale({ 1 - root, 3 - root, 3 + root, 1 + root, 0 }, 1 / std::sqrt(32));
    const Kernel high = Scale({ -1 - root, 3 + root, -3 + root, 1 - root, 0 }, 1 / std::sqrt(32));
    wavelet->SetInput(image);
    wavelet->SetFilter(Filter::Wavelet);
    wavelet->SetWavelet("db2");
    wavelet->SetSubband("LHL");
    check(wavelet, { db2, high, db2 });
    wavelet->SetWavelet("coif1");
    wavelet->SetLowPassFilter({ 0.0, 1.0, 2.0 });
    wavelet->SetHighPassFilter({ 3.0, 0.0, -1.0 });
    check(wavelet, { { { 0.0, 1.0, 2.0 }, { 3.0, 0.0, -1.0 }, { 0.0, 1.0, 2.0 } } });
  }
}

/** Voxels of the reference response maps of IBSI 2, phase 1: phantoms of 64 x 64 x 64 voxels of 2 mm, an impulse and a
 * checkerboard. Values are to be within 1 % of the range of the map. */
TEST(ResponseMapImageFilter, ReferenceMapsOfIBSI)
{
  struct Reference
  {
    const char *                                name;
    bool                                        isCheckerboard;
    std::function<void(FilterType *)>           prepare;
    double                                      range;
    std::vector<std::pair<std::size_t, double>> voxels;
  };
  const auto laws = [](const char * kernels, bool isPooled, bool hasEnergy) {
    return [=](FilterType * filter) {
      filter->SetFilter(Filter::Laws);
      filter->SetKernels(kernels);
      filter->SetPooling(isPooled ? Pooling::Maximum : Pooling::None);
      filter->SetComputeEnergy(hasEnergy);
    };
  };
  const auto gabor = [](double angle, double angleStep) {
    return [=](FilterType * filter) {
      filter->SetFilter(Filter::Gabor);
      filter->SetSigma(10.0);
      filter->SetWavelength(4.0);
      filter->SetGamma(0.5);
      filter->SetAngle(angle);
      filter->SetAngleStep(angleStep);
    };
  };
  const auto db2 = [](bool isPooled) {
    return [=](FilterType * filter) {
      filter->SetFilter(Filter::Wavelet);
      filter->SetWavelet("db2");
      filter->SetSubband("LHL");
      filter->SetPooling(isPooled ? Pooling::Mean : Pooling::None);
    };
  };
  constexpr double             pi = 3.14159265358979323846;
  const std::vector<Reference> references{
    { "1.a.4",
      true,
      [](FilterType * f) { f->SetSupportSize(15); },
      255.0,
      { { 4158, 223.26666 }, { 257916, 176.12 } } },
    { "1.b.1",
      false,
      [](FilterType * f) {
        f->SetSupportSize(15);
        f->SetFilterDimension(2);
      },
      1.13333,
      { { 128869, 1.13333 }, { 128753, 0.0 } } },
    { "2.a",
      false,
      [](FilterType * f) {
        f->SetFilter(Filter::LaplacianOfGaussian);
        f->SetSigma(3.0);
      },
      6.74598,
      { { 124894, -2.88609 }, { 137313, 0.3457 } } },
    { "2.b",
      true,
      [](FilterType * f) {
        f->SetFilter(Filter::LaplacianOfGaussian);
        f->SetSigma(5.0);
      },
      51.37234,
      { { 112332, -25.69885 }, { 181523, -25.69885 } } },
    { "3.a.1", false, laws("E5L5S5", false, false), 188.86729, { { 129056, 62.95577 }, { 120736, -31.47788 } } },
    { "3.a.2", false, laws("E5L5S5", true, false), 94.43364, { { 120863, 47.21682 }, { 137245, 15.73894 } } },
    { "3.a.3", false, laws("E5L5S5", true, true), 1.24046, { { 116954, 1.24046 }, { 128739, 1.24046 } } },
    { "3.b.3", true, laws("E3W5R5", true, true), 7.48759, { { 44389, 7.75414 }, { 46771, 7.75414 } } },
    { "4.a.1", false, gabor(pi / 3, 0.0), 255.0, { { 129118, 243.10521 }, { 129191, 92.13403 } } },
    { "4.a.2", false, gabor(0.0, pi / 4), 255.0, { { 112607, 139.6859 }, { 128862, 79.87818 } } },
    { "5.a.1", false, db2(false), 235.44614, { { 133024, 49.75562 }, { 120797, -0.95719 } } },
    { "5.a.2", false, db2(true), 55.39038, { { 120799, -12.30075 }, { 137185, 2.14223 } } },
    { "7.a.1",
      true,
      [](FilterType * f) {
        f->SetFilter(Filter::Wavelet);
        f->SetWavelet("haar");
        f->SetSubband("LLL");
        f->SetLevel(2);
        f->SetPooling(Pooling::Mean);
      },
      2040.0,
      { { 204, 2040.0 }, { 2835, 2040.0 } } }
  };
  for (const Reference & reference : references)
  {
    SCOPED_TRACE(reference.name);
    std::vector<short> pixels(64 * 64 * 64, 0);
    for (std::size_t v = 0; v < pixels.size() && reference.isCheckerboard; ++v)
    {
      pixels[v] = (v % 64 / 8 + v / 64 % 64 / 8 + v / 4096 / 8) % 2 == 1 ? 255 : 0;
    }
    pixels[31 * 4096 + 31 * 64 + 31] = 255;
    const auto image = MakeImage<ImageType>({ { 64, 64, 64 } }, pixels);
    image->SetSpacing(ImageType::SpacingType(2.0));
    const auto filter = NewFilter<FilterType>();
    filter->SetInput(image);
    filter->SetBoundary(reference.isCheckerboard ? Boundary::Mirror : Boundary::Zero);
    reference.prepare(filter);
    const std::vector<double> map = Compute(filter);
    for (const auto & [voxel, value] : reference.voxels)
    {
      EXPECT_NEAR(value, map[voxel], 0.01 * reference.range) << voxel;
    }
  }
}

TEST(ResponseMapImageFilter, PlanesOfTwoDimensionalImages)
{
  const auto image = MakeNoise({ { 13, 9, 1 } });
  using PlaneType = itk::Image<short, 2>;
  const auto plane = MakeImage<PlaneType>({ { 13, 9 } }, GetBuffer(image.GetPointer()));
  plane->SetSpacing(image->GetSpacing().GetDataPointer());
  const auto filter = NewFilter<itk::ResponseMapImageFilter<PlaneType, itk::Image<double, 2>>>();
  filter->SetInput(plane);
  EXPECT_EQ(2u, filter->GetFilterDimension());
  filter->SetFilter(Filter::LaplacianOfGaussian);
  filter->SetSigma(1.3);
  const auto expected = MakeFilter(image, Filter::LaplacianOfGaussian);
  EXPECT_EQ(3u, expected->GetFilterDimension());
  expected->SetFilterDimension(2);
  EXPECT_TRUE(HasSameBits(Compute(expected), Compute(filter)));
  filter->SetFilterDimension(3);
  ExpectError([&] { filter->Update(); }, { "FilterDimension", "3", "2 dimensions" });
}

TEST(ResponseMapImageFilter, RegionsAndStreamingDoNotChangeBits)
{
  const auto                  image = MakeNoise({ { 19, 14, 40 } }, { { -7, 3, 50 } });
  const ImageType::RegionType part{ { { -3, 4, 61 } }, { { 4, 5, 6 } } };
  for (const Filter which : voxelmaps::GetEnumerators<Filter>())
  {
    for (const Boundary boundary : voxelmaps::GetEnumerators<Boundary>())
    {
      SCOPED_TRACE(::testing::Message() << which << ", " << boundary);
      const auto make = [&] {
        const auto filter = MakeFilter(image, which);
        filter->SetBoundary(boundary);
        return filter;
      };
      const auto entire = make();
      const auto expected = Compute(entire);
      const auto partial = make();
      partial->GetOutput()->SetRequestedRegion(part);
      partial->Update();
      EXPECT_EQ(part, partial->GetOutput()->GetBufferedRegion());
      EXPECT_TRUE(HasSameBits(GetBuffer(entire->GetOutput(), part), GetBuffer(partial->GetOutput())));
      for (const unsigned int divisions : { 2u, 7u, 40u })
      {
        const auto streamer = itk::StreamingImageFilter<RealImageType, RealImageType>::New();
        const auto streamed = make();
        streamer->SetInput(streamed->GetOutput());
        streamer->SetNumberOfStreamDivisions(divisions);
        EXPECT_TRUE(HasSameBits(expected, Compute(streamer))) << divisions;
      }
    }
  }
}

TEST(ResponseMapImageFilter, RequestsWhatKernelsReach)
{
  const auto image = MakeNoise({ { 19, 14, 60 } }, { { -7, 3, 50 } });
  const auto filter = MakeFilter(image, Filter::Laws);
  const auto getRequested = [&](itk::IndexValueType z, itk::SizeValueType size) {
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(ImageType::RegionType({ { -7, 3, z } }, { { 19, 14, size } }));
    filter->PropagateRequestedRegion(filter->GetOutput());
    const auto region = image->GetRequestedRegion();
    EXPECT_EQ(19u, region.GetSize(0));
    return std::array<itk::IndexValueType, 2>{ { region.GetIndex(2), region.GetUpperIndex()[2] + 1 } };
  };
  using Range = std::array<itk::IndexValueType, 2>;
  // Two voxels of the energy, and two of the kernels.
  EXPECT_EQ((Range{ { 71, 85 } }), getRequested(75, 6));
  EXPECT_EQ((Range{ { 50, 60 } }), getRequested(50, 6));
  filter->SetBoundary(Boundary::Periodic);
  EXPECT_EQ((Range{ { 71, 85 } }), getRequested(75, 6));
  EXPECT_EQ((Range{ { 50, 110 } }), getRequested(50, 6));
}

TEST(ResponseMapImageFilter, RefusesRegionsOutsideTheImage)
{
  const auto image = MakeNoise({ { 5, 5, 5 } }, { { -7, 3, 50 } });
  for (const ImageType::IndexType & index : { ImageType::IndexType{ { -8, 3, 50 } }, { { -6, 3, 50 } } })
  {
    const auto filter = MakeFilter(image, Filter::Mean);
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegion(ImageType::RegionType(index, { { 5, 5, 5 } }));
    EXPECT_THROW(filter->Update(), itk::InvalidRequestedRegionError);
  }
}

TEST(ResponseMapImageFilter, LengthsAreInTheUnitOfTheSpacing)
{
  const auto image = MakeNoise({ { 12, 12, 12 } });
  const auto expected = Compute(MakeFilter(image, Filter::LaplacianOfGaussian));
  image->SetSpacing(2.0 * image->GetSpacing());
  const auto filter = MakeFilter(image, Filter::LaplacianOfGaussian);
  EXPECT_FALSE(HasSameBits(expected, Compute(filter)));
  filter->SetSigma(2.6);
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  ImageType::DirectionType direction;
  direction.SetIdentity();
  image->SetDirection(direction);
  filter->Modified();
  EXPECT_TRUE(HasSameBits(expected, Compute(filter)));
  ExpectGeometry(filter.GetPointer(), image.GetPointer());
}

TEST(ResponseMapImageFilter, Properties)
{
  const auto filter = FilterType::New();
  const auto expectModified = MakeModifiedCheck(filter.GetPointer());
  for (const bool modified : { true, false })
  {
    expectModified([&] { filter->SetFilter(Filter::Wavelet); }, modified);
    expectModified([&] { filter->SetBoundary(Boundary::Periodic); }, modified);
    expectModified([&] { filter->SetFilterDimension(2); }, modified);
    expectModified([&] { filter->SetPooling(Pooling::Maximum); }, modified);
    expectModified([&] { filter->SetSupportSize(7); }, modified);
    expectModified([&] { filter->SetSigma(1.5); }, modified);
    expectModified([&] { filter->SetCutoff(3.0); }, modified);
    expectModified([&] { filter->SetKernels("E5L5"); }, modified);
    expectModified([&] { filter->ComputeEnergyOn(); }, modified);
    expectModified([&] { filter->SetEnergyDistance(4); }, modified);
    expectModified([&] { filter->SetWavelength(2.5); }, modified);
    expectModified([&] { filter->SetGamma(0.5); }, modified);
    expectModified([&] { filter->SetAngle(0.25); }, modified);
    expectModified([&] { filter->SetAngleStep(0.75); }, modified);
    expectModified([&] { filter->SetWavelet("db3"); }, modified);
    expectModified([&] { filter->SetLowPassFilter({ 1.0, 2.0 }); }, modified);
    expectModified([&] { filter->SetHighPassFilter({ 3.0, 4.0 }); }, modified);
    expectModified([&] { filter->SetSubband("LH"); }, modified);
    expectModified([&] { filter->SetLevel(2); }, modified);
    expectModified([&] { filter->SetDeviceID(1); }, modified);
  }
  ExpectPrints(filter.GetPointer(),
               { "Filter: Wavelet\n",     "Boundary: Periodic\n", "FilterDimension: 2\n", "Pooling: Maximum\n",
                 "SupportSize: 7\n",      "Sigma: 1.5\n",         "Cutoff: 3\n",          "Kernels: E5L5\n",
                 "ComputeEnergy: On\n",   "EnergyDistance: 4\n",  "Wavelength: 2.5\n",    "Gamma: 0.5\n",
                 "Angle: 0.25\n",         "AngleStep: 0.75\n",    "Wavelet: db3\n",       "LowPassFilter: 1 2\n",
                 "HighPassFilter: 3 4\n", "Subband: LH\n",        "Level: 2\n",           "DeviceID: 1\n" });
  EXPECT_EQ(0.75, filter->GetAngleStep());
  EXPECT_EQ((Kernel{ 3.0, 4.0 }), filter->GetHighPassFilter());
}

TEST(ResponseMapImageFilter, ErrorsNameTheValues)
{
  const auto image = MakeNoise({ { 5, 5, 5 } });
  const auto expectError = [&](Filter which, const std::vector<std::string> & words, const auto & change) {
    const auto filter = MakeFilter(image, which);
    filter->Update();
    change(filter);
    ExpectError([&] { filter->Update(); }, words);
  };
  expectError(Filter::Mean, { "Filter", "9", "Wavelet" }, [](const auto & f) { f->SetFilter(static_cast<Filter>(9)); });
  expectError(Filter::Mean, { "SupportSize", "4", "odd" }, [](const auto & f) { f->SetSupportSize(4); });
  expectError(Filter::Mean, { "Kernels", "E5", "no effect", "Laws" }, [](const auto & f) { f->SetKernels("E5"); });
  expectError(Filter::LaplacianOfGaussian, { "Sigma", "0", "spacing" }, [](const auto & f) { f->SetSigma(0.0); });
  expectError(Filter::Laws, { "Kernels", "E5L5", "3 names" }, [](const auto & f) { f->SetKernels("E5L5"); });
  expectError(Filter::Wavelet, { "Subband", "LH", "3 letters" }, [](const auto & f) { f->SetSubband("LH"); });
  expectError(Filter::Gabor, { "Wavelength", "-1" }, [](const auto & f) { f->SetWavelength(-1.0); });
}
