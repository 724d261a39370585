# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Effect "Connected labels" of the Segment Editor: Slicer's auto-complete with the labels of logic."""

import os

from SegmentEditorEffects import AbstractScriptedSegmentEditorAutoCompleteEffect
from VoxelMapsLib import logic


def new_effect():
    import qSlicerSegmentationsEditorEffectsPythonQt as effects

    effect = effects.qSlicerSegmentEditorScriptedEffect(None)
    effect.setPythonSource(os.path.abspath(__file__).replace("\\", "/"))
    return effect


class SegmentEditorEffect(AbstractScriptedSegmentEditorAutoCompleteEffect):
    def __init__(self, scriptedEffect):
        AbstractScriptedSegmentEditorAutoCompleteEffect.__init__(self, scriptedEffect)
        scriptedEffect.name = scriptedEffect.title = "Connected labels"
        self.minimumNumberOfSegments = self.minimumNumberOfSegmentsWithEditableArea = 2
        self.clippedMasterImageDataRequired = True
        self.clippedMaskImageDataRequired = False
        self.labels = logic.ConnectedLabels()

    def clone(self):
        return new_effect()

    def helpText(self):
        return (
            "Paint a few strokes in each object, and in the background, each with a segment of its own. <b>Initialize</b> labels "
            "every voxel with the segment to which it is connected most strongly; further strokes update it. Labels depend on the "
            "strokes only, not on their order. <b>Apply</b> keeps them."
        )

    def computePreviewLabelmap(self, mergedImage, outputLabelmap):
        self.labels.update(self.clippedMasterImageData, mergedImage, outputLabelmap)
