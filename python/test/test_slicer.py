# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The descriptions of the programs as modules of 3D Slicer, read by ctk-cli, which shares no code with them."""

import logging
import pathlib
from xml.etree import ElementTree

import ctk_cli
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "programs" / "slicer"


@pytest.mark.parametrize("name", ["FeatureMaps", "FuzzyConnectedness"])
def test_descriptions(programs, name, caplog):
    with caplog.at_level(logging.WARNING):
        modules = [ctk_cli.CLIModule(str(FOLDER / f"{name}.xml")), ctk_cli.CLIModule(str(programs / name))]
    assert not caplog.records
    groups = ElementTree.parse(FOLDER / f"{name}.xml").getroot().iter("parameters")
    expected = [parameter.findtext("name") for group in groups for parameter in group[2:]]
    for module in modules:
        assert [parameter.name for parameter in module.parameters()] == expected
        arguments, options, outputs = module.classifyParameters()
        assert len(arguments) + len(options) == len(expected) and not outputs
