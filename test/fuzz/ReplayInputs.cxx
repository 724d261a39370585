// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

// Runs a fuzz target over the files of a folder, without libFuzzer: the stored inputs, with any compiler.
//   <Target>Inputs folder

extern "C" int
LLVMFuzzerInitialize(int * argc, char *** argv);
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * data, std::size_t size);

int
main(int argc, char * argv[])
{
  LLVMFuzzerInitialize(&argc, &argv);
  if (argc != 2 || !std::filesystem::is_directory(argv[1]))
  {
    std::cerr << "usage: " << argv[0] << " <folder of inputs>" << std::endl;
    return EXIT_FAILURE;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto & entry : std::filesystem::directory_iterator(argv[1]))
  {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto & path : paths)
  {
    // A target ends the process when it finds an error; the last line names the input.
    std::cout << path.string() << std::endl;
    std::ifstream           file(path, std::ios::binary);
    const std::vector<char> input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file)
    {
      std::cerr << "cannot read " << path << std::endl;
      return EXIT_FAILURE;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(input.data()), input.size());
  }
  std::cout << paths.size() << " inputs pass" << std::endl;
  return paths.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
