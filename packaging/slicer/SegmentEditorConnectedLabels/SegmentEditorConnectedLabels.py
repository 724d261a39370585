# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Registers the effect "Connected labels" of the Segment Editor of 3D Slicer."""

import os

import slicer
from slicer.ScriptedLoadableModule import ScriptedLoadableModule


class SegmentEditorConnectedLabels(ScriptedLoadableModule):
    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        parent.title = "Connected labels"
        parent.categories = ["Segmentation"]
        parent.contributors = ["VoxelMaps"]
        parent.hidden = True
        slicer.app.connect("startupCompleted()", self.registerEffect)

    def registerEffect(self):
        import qSlicerSegmentationsEditorEffectsPythonQt as effects

        effect = effects.qSlicerSegmentEditorScriptedEffect(None)
        effect.setPythonSource(os.path.join(os.path.dirname(__file__), "ConnectedLabelsEffect.py").replace("\\", "/"))
        effect.self().register()
