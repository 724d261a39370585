# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Module "Feature maps" of 3D Slicer: a thin form around VoxelMapsLib.logic. It also registers the effect "Connected labels"."""

import contextlib

import qt
import slicer
from slicer.ScriptedLoadableModule import ScriptedLoadableModule, ScriptedLoadableModuleWidget
from VoxelMapsLib import logic


class VoxelMapsFeatureMaps(ScriptedLoadableModule):
    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        parent.title = "Feature maps"
        parent.categories = ["Quantification"]
        parent.contributors = ["VoxelMaps"]
        parent.helpText = "Texture maps of a volume or a segment, as PyRadiomics and the IBSI define them."
        slicer.app.connect("startupCompleted()", self.registerEffect)

    def registerEffect(self):
        # Without the Segment Editor, there are no effects.
        with contextlib.suppress(ImportError):
            from VoxelMapsLib.ConnectedLabelsEffect import new_effect

            new_effect().self().register()


class VoxelMapsFeatureMapsWidget(ScriptedLoadableModuleWidget):
    def setup(self):
        ScriptedLoadableModuleWidget.setup(self)
        self.volume = slicer.qMRMLNodeComboBox()
        self.volume.nodeTypes = ["vtkMRMLScalarVolumeNode"]
        self.segment = slicer.qMRMLSegmentSelectorWidget()
        self.segment.noneEnabled = True
        for widget in (self.volume, self.segment):
            widget.setMRMLScene(slicer.mrmlScene)
        self.features = qt.QLineEdit("glcm_Contrast, glcm_JointEntropy")
        self.radius = qt.QSpinBox()
        self.radius.value, self.radius.minimum = 2, 1
        self.binWidth = qt.QDoubleSpinBox()
        self.binWidth.maximum, self.binWidth.value = 1e6, 25
        button = qt.QPushButton("Compute")
        button.connect("clicked()", self.onCompute)
        form = qt.QFormLayout()
        form.addRow("Volume", self.volume)
        form.addRow("Segment", self.segment)
        form.addRow("Features", self.features)
        form.addRow("Radius (voxels)", self.radius)
        form.addRow("Bin width", self.binWidth)
        form.addRow(button)
        self.layout.addLayout(form)
        self.layout.addStretch(1)

    def onCompute(self):
        with slicer.util.tryWithErrorDisplay("Feature maps:", waitCursor=True):
            nodes = logic.add_feature_maps(
                slicer.mrmlScene,
                self.volume.currentNode(),
                self.segment.currentNode(),
                self.segment.currentSegmentID(),
                features=[name.strip() for name in self.features.text.split(",") if name.strip()],
                neighborhood_radius=self.radius.value,
                bin_width=self.binWidth.value,
            )
            for node in nodes:
                node.CreateDefaultDisplayNodes()
            slicer.util.setSliceViewerLayers(foreground=nodes[0], foregroundOpacity=0.6)
