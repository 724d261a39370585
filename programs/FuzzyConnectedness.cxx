// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Computes the strength of connectedness of every voxel of an image file or DICOM directory to seeds from the command
// line, or which of several labels of seeds is connected to it most strongly.

#include "FuzzyConnectednessRun.h"

namespace
{
using namespace FuzzyConnectednessProgram;

void
Run(const Options & options)
{
  VerifyOptions(options);
  const auto input = ProgramIO::FindScalarInput(options.input, options.dicom);
  if (!options.quiet && !input.remark.empty())
  {
    std::cout << input.remark << '\n';
  }
  options.labels.empty() ? ComputeObject(input, options) : ComputeLabels(input, options);
}
} // namespace

int
main(int argc, char * argv[])
{
  // The defaults of options are those of a filter, which makes threads.
  ProgramIO::PrepareProcess();
  Options  options;
  CLI::App app{
    "Compute the strength of connectedness of every voxel to the seeds, or which of several labels of seeds is "
    "connected to it most strongly.",
    "FuzzyConnectedness"
  };
  ProgramIO::ModuleDescription module(app, "Segmentation", "Fuzzy Connectedness");
  AddOptions(app, module, options);

  return ProgramIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
