// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Filters of itk::CudaImage.

#include "CudaTestMemory.h"
#include "CudaTestUtilities.h"
#include "DeviceImageChecks.h"

#include "itkCudaSquareImageFilter.h"
#include "itkVoxelMapsCudaImage.h"

#include <cupti.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace VoxelMapsTest
{
struct CudaDevice
{
  template <typename TPixel>
  using Image = itk::CudaImage<TPixel, 3>;

  static itk::DeviceEnums::Device
  GetDevice()
  {
    return itk::DeviceEnums::Device::Automatic;
  }
  static void
  SetUp()
  {}
  template <typename TImage>
  static bool
  IsHostOutOfDate(const TImage * image)
  {
    return image->GetCudaDataManager()->IsCPUBufferDirty();
  }
  template <typename TImage>
  static bool
  IsDeviceOutOfDate(const TImage * image)
  {
    return image->GetCudaDataManager()->IsGPUBufferDirty();
  }
  template <typename TImage>
  static void
  SetOnDevice(TImage * image, const std::vector<typename TImage::PixelType> & pixels)
  {
    CheckCudaCall(cudaMemcpy(image->GetCudaDataManager()->GetGPUBufferPointer(),
                             pixels.data(),
                             pixels.size() * sizeof(pixels[0]),
                             cudaMemcpyHostToDevice));
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, DeviceImages, CudaDevice);

namespace
{
using ImageType = itk::CudaImage<float, 3>;

class CudaImages : public CudaTest
{};

/** Sums of the bytes of copies between host and device, as the driver reports them. */
class CopiedBytes
{
public:
  CopiedBytes()
  {
    Check(cuptiActivityRegisterCallbacks(&CopiedBytes::Request, &CopiedBytes::Complete));
    Check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    m_Bytes = {};
  }
  CopiedBytes(const CopiedBytes &) = delete;
  CopiedBytes &
  operator=(const CopiedBytes &) = delete;
  ~CopiedBytes() { cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY); }

  /** Bytes to the device and to the host since the last call. */
  std::array<std::uint64_t, 2>
  Take()
  {
    CheckCudaCall(cudaDeviceSynchronize());
    Check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    return std::exchange(m_Bytes, {});
  }

private:
  static void
  Check(CUptiResult result)
  {
    const char * text = "";
    if (result != CUPTI_SUCCESS)
    {
      cuptiGetResultString(result, &text);
      throw std::runtime_error(std::string("CUPTI: ") + text);
    }
  }
  static void CUPTIAPI
  Request(std::uint8_t ** buffer, std::size_t * size, std::size_t * maxRecords)
  {
    *size = std::size_t{ 1 } << 20;
    *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, *size));
    *maxRecords = 0;
  }
  static void CUPTIAPI
  Complete(CUcontext, std::uint32_t, std::uint8_t * buffer, std::size_t, std::size_t size)
  {
    CUpti_Activity * record = nullptr;
    while (size > 0 && cuptiActivityGetNextRecord(buffer, size, &record) == CUPTI_SUCCESS)
    {
      if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
      {
        // The first members are the same in all versions.
        const auto * const copy = reinterpret_cast<const CUpti_ActivityMemcpy6 *>(record);
        m_Bytes[0] += copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? copy->bytes : 0;
        m_Bytes[1] += copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? copy->bytes : 0;
      }
    }
    std::free(buffer);
  }

  static inline std::array<std::uint64_t, 2> m_Bytes;
};

/** An image on the host with a bright ball in noise. */
itk::Image<float, 3>::Pointer
MakeBall(itk::SizeValueType length)
{
  RandomNumbers      random(5);
  std::vector<float> pixels(length * length * length);
  for (std::size_t i = 0; i < pixels.size(); ++i)
  {
    double distance = 0.0;
    for (std::size_t rest = i, d = 0; d < 3; ++d, rest /= length)
    {
      const double offset = static_cast<double>(rest % length) - static_cast<double>(length) / 2;
      distance += offset * offset;
    }
    const bool isInside = distance < static_cast<double>(length * length) / 9;
    pixels[i] = static_cast<float>((isInside ? 12 : 6) + random.Between(0, 3));
  }
  return MakeImage<itk::Image<float, 3>>(itk::Size<3>::Filled(length), pixels);
}
} // namespace

TEST_F(CudaImages, AChainCopiesItsInputAndItsResultOnce)
{
  constexpr itk::SizeValueType        length = 128;
  constexpr std::uint64_t             voxels = length * length * length;
  constexpr std::uint64_t             parameters = 1 << 16;
  const itk::Image<float, 3>::Pointer host = MakeBall(length);
  const auto                          image = ImageType::New();
  image->SetRegions(host->GetLargestPossibleRegion());
  image->SetPixelContainer(host->GetPixelContainer());

  const auto square = itk::CudaSquareImageFilter<ImageType>::New();
  square->SetInput(image);
  const auto levels = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  levels->SetInput(square->GetOutput());
  const auto strengths = itk::FuzzyConnectednessImageFilter<ImageType>::New();
  strengths->SetInput(square->GetOutput());
  strengths->SetSeed({ { 64, 64, 64 } });
  strengths->EstimateAffinityFromSeedsOn();
  const auto object = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  object->SetInput(strengths->GetOutput());
  object->SetBinEdges({ 0.1 });
  using LevelImageType = itk::CudaImage<unsigned short, 3>;
  const auto maps = itk::FeatureMapsImageFilter<LevelImageType, itk::VectorImage<float, 3>, LevelImageType>::New();
  maps->SetFeatureNames({ "glcm_Contrast", "firstorder_Mean" });
  maps->SetNeighborhoodRadius(1);
  maps->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Levels);
  maps->SetNumberOfGrayLevels(32);
  maps->SetInput(levels->GetOutput());
  maps->SetMaskImage(object->GetOutput());

  CopiedBytes copied;
  // The first copy shows that copies are counted.
  const std::vector<char> marker(1000003);
  const DeviceArray<char> onDevice(marker, nullptr);
  ASSERT_EQ(marker.size(), copied.Take()[0]);
  maps->Update();
  const auto bytes = copied.Take();
  RecordProperty("BytesToDevice", static_cast<int>(bytes[0]));
  RecordProperty("BytesToHost", static_cast<int>(bytes[1]));
  EXPECT_GE(bytes[0], voxels * sizeof(float));
  EXPECT_LE(bytes[0], voxels * sizeof(float) + parameters);
  EXPECT_GE(bytes[1], voxels * 2 * sizeof(float));
  EXPECT_LE(bytes[1], voxels * 2 * sizeof(float) + parameters);
  // Asked for again, the pixels of an output are copied once, too.
  GetBuffer(strengths->GetOutput());
  EXPECT_EQ((std::array<std::uint64_t, 2>{ { 0, voxels * sizeof(float) } }), copied.Take());
}

TEST_F(CudaImages, FiltersOnOtherStreamsAreWaitedFor)
{
  const itk::Image<float, 3>::Pointer host = MakeBall(64);
  const auto                          expected = itk::GrayLevelDiscretizationImageFilter<itk::Image<float, 3>>::New();
  expected->SetInput(host);
  const std::vector<float> pixels = GetBuffer(host.GetPointer());
  const auto               result = Compute(expected);

  for (int run = 0; run < 5; ++run)
  {
    const Stream             before;
    const DeviceArray<float> source(pixels, before);
    const auto               image = ImageType::New();
    image->SetRegions(host->GetLargestPossibleRegion());
    image->Allocate();
    // A filter that returns before its stream has written the pixels: others wait in the default stream.
    void * const data = image->GetCudaDataManager()->GetGPUBufferPointer();
    DelayStream<50>(before);
    CheckCudaCall(
      cudaMemcpyAsync(data, source.data(), pixels.size() * sizeof(float), cudaMemcpyDeviceToDevice, before));
    const voxelmaps::CudaEvent isWritten;
    isWritten.Record(before);
    CheckCudaCall(cudaStreamWaitEvent(nullptr, isWritten));

    const auto filter = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
    filter->SetInput(image);
    if (run % 2 == 1)
    {
      // Without a range to find, the filter returns early as well.
      filter->SetRangeMinimum(expected->GetUsedRangeMinimum());
      filter->SetRangeMaximum(expected->GetUsedRangeMaximum());
    }
    filter->Update();

    // A filter that reads in a stream of its own.
    const Stream               after;
    const voxelmaps::CudaEvent isComputed;
    isComputed.Record(nullptr);
    CheckCudaCall(cudaStreamWaitEvent(after, isComputed));
    std::vector<unsigned short> levels(result.size());
    CheckCudaCall(cudaMemcpyAsync(levels.data(),
                                  filter->GetOutput()->GetCudaDataManager()->GetGPUBufferPointer(),
                                  levels.size() * sizeof(levels[0]),
                                  cudaMemcpyDeviceToHost,
                                  after));
    CheckCudaCall(cudaStreamSynchronize(after));
    EXPECT_TRUE(HasSameBits(result, levels));
  }
}
} // namespace VoxelMapsTest
