// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// What the papers measured, for papers.py, which makes the tables:
//   PapersBenchmark run-lengths T1.raw T2.raw PD.raw --size=181,217,1   Zhang et al. 2019: 8-bit images without header
//   PapersBenchmark connectedness                                      Li et al. 2016: synthetic CTs
//   PapersBenchmark race                                               wrong voxels of CUDA-kFOE; exit code 77: no
//   device
// Every measurement is a line of JSON on the standard output. Where programs must agree and do not, the exit code is 1.
#include "Benchmark.h"
#include "SyntheticImages.h"
#include "baselines/PaperKFOE.h"
#include "baselines/SequentialRunLength.h"
#include "connectedness/AffinityPlan.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "glrlm/paper/CudaSortReduce.h"

#include "voxelmaps/RunLengthJob.h"

#include <cmath>
#include <fstream>
#include <future>
#include <iomanip>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace
{
using namespace VoxelMapsBenchmarks;
using Numbers = std::vector<double>;

int repetitions = 15;

// --- Measurements ----------------------------------------------------------------------------------------------------

double
GetMilliseconds(const std::function<void()> & call)
{
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/** What a call returns, for each repetition, after a first one that does not count. */
Numbers
Repeat(const std::function<double()> & call)
{
  Numbers numbers;
  for (int i = -1; i < repetitions; ++i)
  {
    const double number = call();
    if (i >= 0)
    {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::string
ToJson(const std::string & text)
{
  std::ostringstream json;
  json << std::quoted(text);
  return json.str();
}

std::string
ToJson(const Numbers & numbers)
{
  std::ostringstream text;
  text.precision(10);
  for (const double number : numbers)
  {
    text << (text.tellp() == 0 ? "" : ", ") << number;
  }
  return "[" + text.str() + "]";
}

void
PrintJson(const std::vector<std::pair<std::string, std::string>> & fields)
{
  std::string line;
  for (const auto & field : fields)
  {
    line += (line.empty() ? "{ " : ", ") + ToJson(field.first) + ": " + field.second;
  }
  std::cout << line << " }" << std::endl;
}

// --- Zhang et al. 2019 -----------------------------------------------------------------------------------------------

const std::pair<const char *, Triple> directions[] = { { "0°", { { 1, 0, 0 } } },
                                                       { "45°", { { 1, -1, 0 } } },
                                                       { "90°", { { 0, -1, 0 } } },
                                                       { "135°", { { -1, -1, 0 } } } };

struct Slice
{
  std::string                name;
  Triple                     size;
  std::vector<std::uint16_t> levels;
};

/** The sequential program is exact if its numerators are integers and it is in double precision. Other values are
 * within this part of those of the engines. */
template <typename TReal>
TReal
GetTolerance(std::size_t feature)
{
  const bool isInteger = feature != 0 && feature != 5 && feature != 7 && feature != 8 && feature != 9;
  return std::is_same_v<TReal, float> ? static_cast<TReal>(1e-5) : isInteger ? 0 : static_cast<TReal>(1e-11);
}

/** The time of all programs for windows of one size, which begin at their pixel; and, with parts, of the matrices, and
 * of each direction. Returns the values of the engines. */
template <typename TReal>
std::vector<TReal>
MeasureRunLengths(const Slice & slice, std::int64_t window, bool withParts)
{
  voxelmaps::RunLengthJob job;
  job.levels = slice.levels.data();
  job.levelsSize = slice.size;
  job.outputSize = slice.size;
  job.numberOfGrayLevels = 256;
  job.windowSize = { { window, window, 1 } };
  job.features = voxelmaps::RunLengthFeatureMapEnums::GetElevenFeatures();
  job.aggregation = voxelmaps::RunLengthJob::Aggregation::PerDirection;
  job.outputIsDouble = std::is_same_v<TReal, double>;
  for (const auto & direction : directions)
  {
    job.offsets.push_back(direction.second);
  }
  std::vector<TReal> expected(slice.levels.size() * job.GetNumberOfComponents());
  std::vector<TReal> output(expected.size());
  job.output = expected.data();
  job.execution = MakeExecution(allThreads);
  voxelmaps::ComputeFeatureMaps(job);
  job.output = output.data();

  // With the directions of the job, or one of them.
  const auto print = [&](const std::string & part, const std::string & program, const Numbers & numbers) {
    PrintJson({ { "image", ToJson(slice.name) },
                { "precision", ToJson(job.outputIsDouble ? "double" : "float") },
                { "window", std::to_string(window) },
                { "part", ToJson(part) },
                { "program", ToJson(program) },
                { "milliseconds", ToJson(numbers) } });
  };
  const auto measure = [&](const std::string & part, const std::string & program, const auto & call) {
    print(part, program, Repeat([&] { return call(job); }));
  };
  const auto measureDirections = [&](const std::string & part, const std::string & program, const auto & call) {
    const auto all = job.offsets;
    for (const auto & direction : directions)
    {
      job.offsets = { direction.second };
      measure(direction.first + part, program, call);
    }
    job.offsets = all;
  };
  const auto verify = [&](const std::string & program, const auto & getTolerance) {
    for (std::size_t i = 0; i < output.size(); ++i)
    {
      if (!(std::abs(output[i] - expected[i]) <= getTolerance(i % 11) * std::abs(expected[i])))
      {
        throw std::runtime_error(program + " differs from the engine: " + ToText(output[i]) + " for " +
                                 ToText(expected[i]));
      }
    }
    std::fill(output.begin(), output.end(), std::numeric_limits<TReal>::quiet_NaN());
  };
  const auto exactly = [](std::size_t) { return TReal{ 0 }; };

  const auto sequential = [&](const voxelmaps::RunLengthJob & thisJob, bool matricesOnly) {
    return GetMilliseconds([&] { ComputeSequentialRunLengthFeatures(thisJob, output.data(), matricesOnly); });
  };
  measure("total", "Sequential", [&](const auto & thisJob) { return sequential(thisJob, false); });
  verify("Sequential", GetTolerance<TReal>);
  if (withParts)
  {
    measure("matrices", "Sequential", [&](const auto & thisJob) { return sequential(thisJob, true); });
    measureDirections(" features", "Sequential", [&](const auto & thisJob) {
      return sequential(thisJob, false) - sequential(thisJob, true);
    });
  }
  for (const unsigned int threads : { 1u, allThreads })
  {
    const std::string program = threads == 1 ? "Engine, 1 thread" : "Engine, all threads";
    const auto        call = [](const voxelmaps::RunLengthJob & thisJob) {
      return GetMilliseconds([&] { voxelmaps::ComputeFeatureMaps(thisJob); });
    };
    job.execution = MakeExecution(threads);
    measure("total", program, call);
    verify(program, exactly);
    if (withParts)
    {
      measureDirections("", program, call);
    }
  }
  job.execution = {};
  for (const std::string method : { "SortReduce", "" })
  {
    if (!voxelmaps::CudaDevices::IsUsable(0))
    {
      break;
    }
    const std::string program = method.empty() ? "Cuda" : method;
    job.method = method;
    voxelmaps::CudaReport report;
    const auto            call = [&](const voxelmaps::RunLengthJob & thisJob) {
      return GetMilliseconds([&] { report = voxelmaps::ComputeFeatureMapsCuda(thisJob, {}); });
    };
    const auto kernels = [&](const voxelmaps::RunLengthJob & thisJob) {
      call(thisJob);
      return report.kernelMilliseconds;
    };
    measure("total", program, call);
    verify(program, exactly);
    measure("kernels", program, kernels);
    if (withParts && method.empty())
    {
      measureDirections("", program, kernels);
    }
#ifdef VOXELMAPS_BENCHMARK_CUDA
    if (withParts && !method.empty())
    {
      Numbers              matrices;
      std::vector<Numbers> features(std::size(directions));
      for (int i = 0; i < repetitions; ++i)
      {
        matrices.push_back(0.0);
        const auto results = voxelmaps::ComputeSortReduceMatrices(job, false);
        for (std::size_t direction = 0; direction < results.size(); ++direction)
        {
          matrices.back() += results[direction].matrixMilliseconds;
          features[direction].push_back(results[direction].featureMilliseconds);
        }
      }
      print("matrices", program, matrices);
      for (std::size_t direction = 0; direction < features.size(); ++direction)
      {
        print(std::string(directions[direction].first) + " features", program, features[direction]);
      }
    }
#endif
  }
  return expected;
}

void
MeasureSlices(const std::vector<std::string> & fileNames, const Triple & size, const std::string & mapsFolder)
{
  std::vector<Slice> slices;
  for (const std::string & fileName : fileNames)
  {
    std::ifstream             file(fileName, std::ios::binary);
    std::vector<std::uint8_t> pixels(std::istreambuf_iterator<char>(file), {});
    Verify(static_cast<std::int64_t>(pixels.size()) == GetNumberOfVoxels(size),
           fileName + " has " + ToText(pixels.size()) + " bytes; it must hold the 8-bit pixels of --size alone");
    const auto begin = fileName.find_last_of('/') + 1;
    slices.push_back({ fileName.substr(begin, fileName.find('.', begin) - begin), size, {} });
    std::transform(pixels.begin(), pixels.end(), std::back_inserter(slices.back().levels), [](std::uint8_t pixel) {
      return static_cast<std::uint16_t>(pixel + 1);
    });
  }
  for (const Slice & slice : slices)
  {
    const auto maps = MeasureRunLengths<float>(slice, 4, true);
    MeasureRunLengths<double>(slice, 4, true);
    if (!mapsFolder.empty())
    {
      std::ofstream(mapsFolder + "/" + slice.name + ".maps", std::ios::binary)
        .write(reinterpret_cast<const char *>(maps.data()), static_cast<std::streamsize>(maps.size() * sizeof(float)));
    }
  }
  for (std::int64_t window = 5; window <= 20 && !slices.empty(); ++window)
  {
    MeasureRunLengths<float>(slices.front(), window, false);
    MeasureRunLengths<double>(slices.front(), window, false);
  }
}

// --- Li et al. 2016 --------------------------------------------------------------------------------------------------

using Job = voxelmaps::FuzzyConnectednessJob;
using Keys = std::vector<std::uint32_t>;

/** The job of a paper's table, with affinities so wide that each seed reaches all voxels. */
Job
MakeJob(const std::vector<std::int16_t> & image, const Triple & size, const Triple & seed)
{
  Job job;
  job.image = image.data();
  job.pixelType = Job::PixelType::Int16;
  job.size = size;
  job.affinity.objectMean = { 110.0 };
  job.affinity.objectCovariance = { 200.0 * 200.0 };
  job.affinity.differenceCovariance = { 50.0 * 50.0 };
  job.seeds = { seed[0] + size[0] * (seed[1] + size[1] * seed[2]) };
  return job;
}

struct Program
{
  std::string name;
  bool        isExact;
  /** Returns the milliseconds of kernels, 0 on the CPU. */
  std::function<double(const Job &, std::uint32_t * keys)> compute;
};

Program
MakeCpuProgram(const std::string & name, const std::string & method, unsigned int threads)
{
  return { name, true, [=](Job job, std::uint32_t * keys) {
            job.method = method;
            job.execution = MakeExecution(threads);
            voxelmaps::ComputeFuzzyConnectednessKeys(job, keys);
            return 0.0;
          } };
}

/** Empty where there is no device. */
std::vector<Program>
MakeDevicePrograms()
{
  std::vector<Program> programs;
#ifdef VOXELMAPS_BENCHMARK_CUDA
  if (voxelmaps::CudaDevices::IsUsable(0))
  {
    for (const auto & program : { std::make_pair("CUDA-kFOE", PaperProgram::Original),
                                  std::make_pair("corrected, as printed", PaperProgram::Corrected) })
    {
      programs.push_back({ program.first, false, [=](const Job & job, std::uint32_t * keys) {
                            return ComputePaperKFOE(job, program.second, keys);
                          } });
    }
    for (const std::string method : { "CorrectedKFOE", "Hierarchy" })
    {
      programs.push_back({ "Cuda" + method, true, [=](Job job, std::uint32_t * keys) {
                            job.method = method;
                            return voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, {}, keys).kernelMilliseconds;
                          } });
    }
  }
#endif
  return programs;
}

/** Runs of a program: the number of voxels whose key differs from the expected one, and the time. */
struct Runs
{
  Numbers milliseconds;
  Numbers kernels;
  Numbers wrong;
};

Runs
Run(const Program & program, const Job & job, const Keys & expected, int number)
{
  Runs runs;
  Keys keys(expected.size());
  for (int i = 0; i < number; ++i)
  {
    // So that voxels which a program leaves out are wrong.
    std::fill(keys.begin(), keys.end(), ~std::uint32_t{ 0 });
    double kernels = 0.0;
    runs.milliseconds.push_back(GetMilliseconds([&] { kernels = program.compute(job, keys.data()); }));
    runs.kernels.push_back(kernels);
    runs.wrong.push_back(static_cast<double>(std::inner_product(
      keys.begin(), keys.end(), expected.begin(), std::size_t{ 0 }, std::plus<>{}, std::not_equal_to<>{})));
    Verify(!program.isExact || runs.wrong.back() == 0.0, program.name + " differs from the CPU");
  }
  return runs;
}

/** Tables 1 to 3, for images whose edges are so many times shorter. */
void
MeasureTables(std::int64_t divisor)
{
  // The sizes and seeds of the paper. In the synthetic CT, all of them are in the liver or its vessels.
  const std::pair<std::int64_t, std::vector<Triple>> tables[] = {
    { 155, { { { 197, 258, 123 } }, { { 163, 187, 86 } }, { { 196, 188, 110 } } } },
    { 215, { { { 189, 244, 180 } }, { { 144, 239, 147 } }, { { 107, 223, 117 } } } },
    { 175, { { { 183, 279, 76 } }, { { 167, 257, 107 } }, { { 158, 247, 148 } } } }
  };
  int table = 0;
  for (const auto & [slices, seeds] : tables)
  {
    ++table;
    const Triple      size{ { 512 / divisor, 512 / divisor, slices / divisor } };
    const auto        image = MakeCT(size);
    std::vector<Job>  jobs;
    std::vector<Keys> expected;
    for (const Triple & seed : seeds)
    {
      jobs.push_back(MakeJob(image, size, { { seed[0] / divisor, seed[1] / divisor, seed[2] / divisor } }));
      expected.emplace_back(image.size());
      MakeCpuProgram("", "Hierarchy", allThreads).compute(jobs.back(), expected.back().data());
      Verify(std::count(expected.back().begin(), expected.back().end(), voxelmaps::noKey) == 0,
             "a seed does not reach all voxels");
    }
    const auto print = [&](std::size_t i, const Program & program, const Runs & runs) {
      PrintJson({ { "table", std::to_string(table) },
                  { "seed", std::to_string(i) },
                  { "program", ToJson(program.name) },
                  { "milliseconds", ToJson(runs.milliseconds) },
                  { "kernels", ToJson(runs.kernels) },
                  { "wrong", ToJson(runs.wrong) } });
    };

    // The queue takes minutes, so it runs once, and for the seeds of a table at the same time where processors are
    // idle.
    const Program                  queue = MakeCpuProgram("Queue", "Queue", 1);
    const auto                     policy = allThreads < 6 ? std::launch::deferred : std::launch::async;
    std::vector<std::future<Runs>> queueRuns;
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      queueRuns.push_back(std::async(policy, [&, i] { return Run(queue, jobs[i], expected[i], 1); }));
    }
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      print(i, queue, queueRuns[i].get());
    }

    std::vector<Program> programs = MakeDevicePrograms();
    programs.push_back(MakeCpuProgram("Engine, 1 thread", "Hierarchy", 1));
    programs.push_back(MakeCpuProgram("Engine, all threads", "Hierarchy", allThreads));
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      for (const Program & program : programs)
      {
        print(i, program, Run(program, jobs[i], expected[i], repetitions));
      }
    }
  }
}

/** Shows that CUDA-kFOE errs where the exact programs do not. A race need not have an effect in every run. */
int
ShowRace()
{
  constexpr int maxAttempts = 10;
  RequireDevice();
  const Triple size{ { 256, 256, 64 } };
  const auto   image = MakeCT(size);
  const Job    job = MakeJob(image, size, { { 96, 128, 32 } });
  Keys         expected(image.size());
  MakeCpuProgram("", "Queue", 1).compute(job, expected.data());
  for (int attempt = 1; attempt <= maxAttempts; ++attempt)
  {
    double wrong = 0.0;
    for (const Program & program : MakeDevicePrograms())
    {
      const double wrongOfProgram = Run(program, job, expected, 1).wrong.front();
      wrong += program.name == "CUDA-kFOE" ? wrongOfProgram : 0.0;
      std::cout << program.name << ": " << wrongOfProgram << " wrong voxels of " << image.size() << std::endl;
    }
    if (wrong > 0.0)
    {
      return EXIT_SUCCESS;
    }
  }
  throw std::runtime_error("CUDA-kFOE gave no wrong voxel in " + ToText(maxAttempts) + " runs");
}
} // namespace

int
main(int argc, char * argv[])
{
  try
  {
    const Triple      size = TakeSize(argc, argv, { { 181, 217, 1 } });
    const std::string maps = TakeOption(argc, argv, "maps");
    const std::string number = TakeOption(argc, argv, "repetitions");
    const std::string divisor = TakeOption(argc, argv, "divisor");
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "race")
    {
      return ShowRace();
    }
    Verify(what == "run-lengths" || (what == "connectedness" && argc == 2),
           "PapersBenchmark run-lengths [--size=X,Y,1] [--maps=FOLDER] [--repetitions=15] IMAGE.raw...\n"
           "PapersBenchmark connectedness [--divisor=1] [--repetitions=3]\n"
           "PapersBenchmark race");
    repetitions = number.empty() ? (what == "connectedness" ? 3 : 15) : std::stoi(number);
    PrintJson({ { "device", ToJson(voxelmaps::CudaDevices::GetName(0)) },
                { "reason", ToJson(voxelmaps::CudaDevices::GetReasonForNoDevice()) },
                { "driver", std::to_string(voxelmaps::CudaDevices::GetDriverVersion()) },
                { "threads", std::to_string(allThreads) },
                { "repetitions", std::to_string(repetitions) } });
    if (what == "connectedness")
    {
      MeasureTables(divisor.empty() ? 1 : std::stoi(divisor));
    }
    else
    {
      MeasureSlices({ argv + 2, argv + argc }, size, maps);
    }
    return EXIT_SUCCESS;
  }
  catch (const Skipped & reason)
  {
    std::cout << reason.what() << std::endl;
    return 77;
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
