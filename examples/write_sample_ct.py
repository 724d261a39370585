#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Write the CT of voxelmaps.sample_ct as a DICOM series, one file per slice, as a CT scanner would write it.

Prints the indices of seeds in its organs. The other examples read the series.
"""

import argparse
import pathlib

import pydicom
import SimpleITK
import voxelmaps
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian


def write_series(image, folder):
    """The identifiers of study and series are the same in all files, and depend on the voxels only."""
    folder.mkdir(parents=True)
    voxels = image.array.astype("<i2")
    uids = [pydicom.uid.generate_uid(entropy_srcs=[voxels.tobytes().hex(), name]) for name in "abc"]
    for k, pixels in enumerate(voxels):
        data = pydicom.Dataset()
        data.file_meta = pydicom.dataset.FileMetaDataset()
        data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = CTImageStorage
        data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = f"{uids[2][:54]}.{k + 1}"
        data.StudyInstanceUID, data.SeriesInstanceUID = uids[:2]
        data.FrameOfReferenceUID = uids[0]
        data.PatientName, data.SeriesDescription, data.Modality = "Synthetic", "Synthetic liver", "CT"
        # Empty, but required, for instance of segmentations of the series.
        data.PatientID = data.PatientBirthDate = data.PatientSex = data.StudyDate = data.StudyTime = ""
        data.StudyID = data.AccessionNumber = data.ReferringPhysicianName = data.PositionReferenceIndicator = ""
        data.Manufacturer, data.SeriesNumber = "VoxelMaps", 1
        data.InstanceNumber, data.ImageOrientationPatient = k + 1, [1, 0, 0, 0, 1, 0]
        x, y, z = image.origin
        data.ImagePositionPatient = [x, y, round(z + k * image.spacing[2], 6)]
        data.PixelSpacing, data.SliceThickness = [image.spacing[1], image.spacing[0]], image.spacing[2]
        data.Rows, data.Columns = pixels.shape
        data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
        data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
        data.RescaleSlope, data.RescaleIntercept, data.WindowCenter, data.WindowWidth = 1, 0, 100, 400
        data.PixelData = pixels.tobytes()
        data.save_as(folder / f"slice{k + 1:04}.dcm", enforce_file_format=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="new folder for the series")
    parser.add_argument("--size", default="192,192,80", metavar="X,Y,Z", help="number of voxels (default: %(default)s)")
    parser.add_argument("--strokes", help="file to write of seeds in all organs")
    arguments = parser.parse_args()
    try:
        ct = voxelmaps.sample_ct([int(n) for n in arguments.size.split(",")])
        write_series(ct.image, arguments.folder)
    except (OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    if arguments.strokes:
        strokes = SimpleITK.GetImageFromArray(ct.strokes.array)
        strokes.SetSpacing(ct.strokes.spacing)
        strokes.SetOrigin(ct.strokes.origin)
        SimpleITK.WriteImage(strokes, arguments.strokes)
    for name in ("vessel", "liver", "bone", "spleen"):
        index = ct.seeds[name]
        print(f"{name} seed {','.join(map(str, index[::-1]))} (x,y,z), in Python {index}")


if __name__ == "__main__":
    main()
