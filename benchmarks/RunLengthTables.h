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
#ifndef RunLengthTables_h
#define RunLengthTables_h

#include <string>

namespace VoxelMapsBenchmarks
{
/** Write the slices of BrainWeb that the tables use to files of their own. */
void
WriteSlices(const std::string & directory, const std::string & target);

/** Measure a table of the CUDA engine beside the CPU, print it as Markdown, and write it to a folder as Markdown and
 * JSON, too, if the folder's name is not empty:
 *
 * r1       the paper's slice, windows of 4 x 4: all methods, kernels and Update()
 * paper    tables 4 to 6 and figure 11 of the paper
 * r2       512 x 512 x 155 voxels, windows of 5 x 5 x 5, 13 directions averaged
 * windows  other windows and numbers of levels in 3D */
void
MeasureTable(const std::string & table, const std::string & directory, const std::string & outputDirectory);
} // namespace VoxelMapsBenchmarks

#endif // RunLengthTables_h
