# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Module "Feature maps" of 3D Slicer: a thin form around VoxelMapsLib.logic."""

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
        parent.helpText = (
            "Texture maps of a volume, in all of it or in a segment, as PyRadiomics and the IBSI define them."
        )
        parent.acknowledgementText = ""


class VoxelMapsFeatureMapsWidget(ScriptedLoadableModuleWidget):
    def setup(self):
        ScriptedLoadableModuleWidget.setup(self)
        form = qt.QFormLayout()
        self.layout.addLayout(form)
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
        rows = {"Volume": self.volume, "Segment": self.segment, "Features": self.features}
        rows.update({"Radius (voxels)": self.radius, "Bin width": self.binWidth, "": button})
        for label, widget in rows.items():
            form.addRow(label, widget)
        button.connect("clicked()", self.onCompute)
        self.layout.addStretch(1)

    def onCompute(self):
        with slicer.util.tryWithErrorDisplay("Feature maps:", waitCursor=True):
            logic.require_voxelmaps()
            segment = self.segment.currentSegmentID()
            nodes = logic.add_feature_maps(
                slicer.mrmlScene,
                self.volume.currentNode(),
                self.segment.currentNode() if segment else None,
                segment or None,
                features=[name.strip() for name in self.features.text.split(",") if name.strip()],
                neighborhood_radius=self.radius.value,
                bin_width=self.binWidth.value,
            )
            for node in nodes:
                node.CreateDefaultDisplayNodes()
            slicer.util.setSliceViewerLayers(foreground=nodes[0], foregroundOpacity=0.6)
