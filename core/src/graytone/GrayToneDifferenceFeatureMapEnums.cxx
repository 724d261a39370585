// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"

namespace voxelmaps
{
const FeatureTable &
GrayToneDifferenceFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table("ngtdm",
                                  {
                                    { "BUS", "Busyness", "", "busyness" },
                                    { "COA", "Coarseness", "", "coarseness" },
                                    { "COM", "Complexity", "", "complexity" },
                                    { "CON", "Contrast", "", "contrast" },
                                    { "STR", "Strength", "", "strength" },
                                  });
  return table;
}
} // namespace voxelmaps
