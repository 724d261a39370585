// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "ItkTestUtilities.h"

#include "itkFuzzyConnectednessImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#if defined(__unix__)
#  include <sys/wait.h>
#  include <unistd.h>
#endif

// What a process keeps of a device from one job to the next.
namespace
{
using ImageType = itk::Image<unsigned char, 3>;
using TextureFilter = itk::RunLengthFeatureMapImageFilter<ImageType>;
using ConnectednessFilter = itk::FuzzyConnectednessImageFilter<ImageType>;
using Device = itk::DeviceEnums::Device;
using namespace VoxelMapsTest;

class CudaDevices : public CudaTest
{};

ImageType::Pointer
MakeNoise(unsigned int seed, const ImageType::SizeType & size)
{
  RandomNumbers              random(seed);
  std::vector<unsigned char> pixels(size[0] * size[1] * size[2]);
  for (unsigned char & pixel : pixels)
  {
    pixel = static_cast<unsigned char>(random.Below(200));
  }
  return MakeImage<ImageType>(size, pixels);
}

TextureFilter::Pointer
ComputeMaps(const ImageType * image, unsigned int numberOfGrayLevels = 32, Device device = Device::CUDA)
{
  const auto filter = TextureFilter::New();
  filter->SetDevice(device);
  filter->SetInput(image);
  filter->SetNumberOfGrayLevels(numberOfGrayLevels);
  filter->Update();
  return filter;
}

ConnectednessFilter::Pointer
ComputeStrengths(const ImageType * image)
{
  const auto filter = ConnectednessFilter::New();
  filter->SetDevice(Device::CUDA);
  filter->EstimateAffinityFromSeedsOn();
  filter->SetInput(image);
  filter->SetSeed({ { 3, 4, 2 } });
  filter->Update();
  return filter;
}

/** Resident memory of this process in megabytes. */
double
GetResidentMegabytes()
{
  std::ifstream status("/proc/self/statm");
  double        size = 0.0;
  double        resident = 0.0;
  status >> size >> resident;
  return resident * 4096.0 / 1e6;
}
} // namespace

TEST_F(CudaDevices, ReleaseResourcesGivesEverythingBack)
{
  const auto large = MakeNoise(1, { { 128, 128, 64 } });
  const auto run = [&] {
    for (const unsigned int levels : { 8u, 32u, 200u })
    {
      ComputeMaps(large, levels);
    }
    ComputeStrengths(large);
  };
  // Kernels are loaded when they are first used, and stay.
  run();
  itk::CudaDevices::ReleaseResources();
  const auto before = itk::CudaDevices::GetFreeMemory(0);
  run();
  EXPECT_LT(itk::CudaDevices::GetFreeMemory(0), before) << "nothing was kept";
  itk::CudaDevices::ReleaseResources();
  EXPECT_EQ(before, itk::CudaDevices::GetFreeMemory(0));
  itk::CudaDevices::ReleaseResources();
  EXPECT_EQ(before, itk::CudaDevices::GetFreeMemory(0));
}

TEST_F(CudaDevices, EightThreadsGetTheirOwnResultsWhileResourcesAreReleased)
{
  constexpr unsigned int threads = 8;
  constexpr int          jobsPerThread = 25;

  std::vector<ImageType::Pointer> images;
  std::vector<std::vector<float>> maps;
  std::vector<std::vector<float>> strengths;
  for (unsigned int i = 0; i < threads; ++i)
  {
    images.push_back(MakeNoise(i, { { 28 + 4 * i, 30, 10 } }));
    maps.push_back(GetBuffer(ComputeMaps(images.back(), 16 + i, Device::CPU)->GetOutput()));
    strengths.push_back(GetBuffer(ComputeStrengths(images.back())->GetOutput()));
  }
  std::atomic<int>          wrong{ 0 };
  std::atomic<unsigned int> working{ threads };
  std::vector<std::thread>  workers;
  for (unsigned int i = 0; i < threads; ++i)
  {
    workers.emplace_back([&, i] {
      for (int job = 0; job < jobsPerThread; ++job)
      {
        try
        {
          wrong += HasSameBits(maps[i], GetBuffer(ComputeMaps(images[i], 16 + i)->GetOutput())) ? 0 : 1;
          wrong += HasSameBits(strengths[i], GetBuffer(ComputeStrengths(images[i])->GetOutput())) ? 0 : 1;
        }
        catch (const std::exception & error)
        {
          ADD_FAILURE() << error.what();
        }
      }
      --working;
    });
  }
  while (working > 0)
  {
    itk::CudaDevices::ReleaseResources();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread & worker : workers)
  {
    worker.join();
  }
  EXPECT_EQ(0, wrong);
}

TEST_F(CudaDevices, TenThousandJobsDoNotGrow)
{
  const auto image = MakeNoise(2, { { 12, 11, 5 } });
  const auto run = [&](int jobs) {
    for (int job = 0; job < jobs; ++job)
    {
      // More numbers of gray levels than tables are kept.
      ComputeMaps(image, 8 + static_cast<unsigned int>(job % 40));
    }
  };
  run(1000);
  const auto   freeBefore = itk::CudaDevices::GetFreeMemory(0);
  const double residentBefore = GetResidentMegabytes();
  run(9000);
  EXPECT_EQ(freeBefore, itk::CudaDevices::GetFreeMemory(0));
  constexpr double fragmentation = 8.0;
  EXPECT_LT(GetResidentMegabytes(), residentBefore + fragmentation);
}

#if defined(__unix__)
TEST_F(CudaDevices, AForkedProcessGetsAnError)
{
  const auto image = MakeNoise(3, { { 12, 11, 5 } });
  const auto expected = GetBuffer(ComputeMaps(image)->GetOutput());
  int        fromChild[2];
  ASSERT_EQ(0, pipe(fromChild));
  const pid_t child = fork();
  ASSERT_NE(-1, child);
  if (child == 0)
  {
    std::string message = "no error";
    try
    {
      itk::CudaDevices::ReleaseResources();
      ComputeMaps(image);
    }
    catch (const std::exception & error)
    {
      message = error.what();
    }
    const bool isWritten = write(fromChild[1], message.data(), message.size()) > 0;
    _exit(isWritten ? 0 : 1);
  }
  close(fromChild[1]);
  std::string message;
  char        buffer[512];
  for (ssize_t number = 0; (number = read(fromChild[0], buffer, sizeof(buffer))) > 0;)
  {
    message.append(buffer, static_cast<std::size_t>(number));
  }
  close(fromChild[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
  EXPECT_NE(std::string::npos, message.find("forked")) << message;
  EXPECT_NE(std::string::npos, message.find("spawn")) << message;
  EXPECT_TRUE(HasSameBits(expected, GetBuffer(ComputeMaps(image)->GetOutput())));
}
#endif

TEST(DevicesOfCuda, TheirReasonFitsTheirNumber)
{
  using itk::CudaDevices;
  const int number = CudaDevices::GetNumberOfDevices();
  EXPECT_GE(number, 0);
  EXPECT_EQ(number == 0, !CudaDevices::GetReasonForNoDevice().empty());
  for (const int deviceID : { -1, number, number + 5 })
  {
    EXPECT_FALSE(CudaDevices::IsUsable(deviceID));
    EXPECT_EQ("", CudaDevices::GetName(deviceID));
    EXPECT_EQ(0u, CudaDevices::GetFreeMemory(deviceID));
  }
}
