# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Which image files may be read, and which folders of DICOM files are a volume: the library of the C++ programs."""

import os

from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include "voxelmaps/DicomVolume.h"
    #include "voxelmaps/ImageFile.h"

    #include <Python.h>

    namespace
    {
    /** Raise the C++ exception that is being handled as ValueError; names of files in it may be no UTF-8. */
    void
    RaiseFileError()
    {
      std::string message = "unknown error";
      try
      {
        throw;
      }
      catch (const std::bad_alloc &)
      {
        PyGILState_STATE state = PyGILState_Ensure();
        PyErr_NoMemory();
        PyGILState_Release(state);
        return;
      }
      catch (const std::exception & error)
      {
        message = error.what();
      }
      PyGILState_STATE state = PyGILState_Ensure();
      PyObject * text = PyUnicode_DecodeFSDefaultAndSize(message.data(), static_cast<Py_ssize_t>(message.size()));
      if (text)
      {
        PyErr_SetObject(PyExc_ValueError, text);
        Py_DECREF(text);
      }
      PyGILState_Release(state);
    }

    int
    GetNumberOfFormat(const voxelmaps::ImageFile & file)
    {
      return static_cast<int>(file.format);
    }
    } // namespace
    """
    void RaiseFileError()

    cppclass ImageFile "voxelmaps::ImageFile":
        vector[string] files
        cpp_bool needsLink

    cppclass DicomOptions "voxelmaps::DicomOptions":
        string series
        cpp_bool allowUnevenSlices
        string seriesAdvice
        string unevenAdvice

    cppclass DicomVolume "voxelmaps::DicomVolume":
        string uid
        string modality
        string description
        vector[string] fileNames
        string problem
        string remark
        size_t size[3]
        double spacing[3]
        cpp_bool hasGeometry
        double origin[3]
        double direction[9]

    int GetNumberOfFormat(const ImageFile & file)
    ImageFile InspectImageFile "voxelmaps::InspectImageFile"(const string & name) except +RaiseFileError nogil
    void VerifyCompressedVoxels "voxelmaps::VerifyCompressedVoxels"(const ImageFile & file) except +RaiseFileError nogil
    vector[string] GetFilesOfImage "voxelmaps::GetFilesOfImage"(const string & name) except +RaiseFileError nogil
    vector[DicomVolume] ListDicomSeries "voxelmaps::ListDicomSeries"(const string & folder, string & unreadable) except +RaiseFileError nogil
    DicomVolume FindDicomSeries "voxelmaps::FindDicomSeries"(const string & folder, const DicomOptions & options) except +RaiseFileError nogil


# The classes of ITK that read the formats, in the order of voxelmaps::ImageFileFormat.
IMAGE_IOS = ("NiftiImageIO", "MetaImageIO", "NrrdImageIO", "PNGImageIO", "GDCMImageIO")


cdef class CheckedFile:
    """An image file whose header has been checked. Raises ValueError, with the file and the rule, if it may not be read.

    files         The files that reading it opens: the header, then that of the voxels if it is another one.
    image_io      The class of ITK that reads the format.
    needs_link    Whether ITK's reader would read the voxels of a neighbor; give it a link in another folder.
    """

    cdef ImageFile file
    cdef readonly tuple files
    cdef readonly str image_io
    cdef readonly bint needs_link

    def __init__(self, path):
        cdef string name = os.fsencode(path)
        with nogil:
            self.file = InspectImageFile(name)
        self.files = _decoded(self.file.files)
        self.image_io = IMAGE_IOS[GetNumberOfFormat(self.file)]
        self.needs_link = self.file.needsLink

    def verify(self):
        """Decompress compressed voxels. Raises ValueError if they are damaged or too few."""
        with nogil:
            VerifyCompressedVoxels(self.file)


cdef tuple _decoded(const vector[string] & names):
    cdef size_t i
    return tuple([os.fsdecode(names[i]) for i in range(names.size())])


def check_image_file(path):
    """Raise ValueError, with one line that names the file and the rule, unless an image file is complete.

    path    A file of NIfTI, NRRD, MetaImage, PNG or DICOM. Other formats are refused, since their files cannot be checked.

    Use it before itk.imread or SimpleITK.ReadImage, which read some cut and damaged files without an error. The header is
    checked, the length of the file, and compressed voxels with their checksums, which takes about as long as reading them.

    Examples

    >>> import itk, numpy as np, voxelmaps
    >>> itk.imwrite(itk.image_from_array(np.zeros((4, 4, 4), np.int16)), "ct.nrrd")
    >>> voxelmaps.check_image_file("ct.nrrd")
    >>> with open("ct.nrrd", "r+b") as file:
    ...     size = file.truncate(file.seek(-10, 2))
    >>> voxelmaps.check_image_file("ct.nrrd")
    Traceback (most recent call last):
    ValueError: cannot read 'ct.nrrd': it has 411 bytes, but the header promises 421 bytes
    """
    CheckedFile(path).verify()


def files_of_image(path):
    """All files that reading an image would open: header and voxels, or the entries of a folder, and the path itself."""
    return _decoded(GetFilesOfImage(os.fsencode(path)))


cdef dict _series(const DicomVolume & volume):
    cdef int i
    return {
        "uid": volume.uid.decode("latin-1"),
        "modality": volume.modality.decode("ascii"),
        "description": volume.description.decode("ascii"),
        "files": _decoded(volume.fileNames),
        "problem": os.fsdecode(volume.problem),
        "warning": os.fsdecode(volume.remark),
        "size": tuple([volume.size[i] for i in range(3)]),
        "spacing": tuple([volume.spacing[i] for i in range(3)]),
        "has_geometry": volume.hasGeometry,
        "origin": tuple([volume.origin[i] for i in range(3)]),
        "direction": tuple([volume.direction[i] for i in range(9)]),
    }


def list_dicom_series(folder):
    """List of dicts, one for each series with images in a folder, and a text that names files that cannot be read."""
    cdef string name = os.fsencode(folder)
    cdef string unreadable
    cdef vector[DicomVolume] found
    with nogil:
        found = ListDicomSeries(name, unreadable)
    return [_series(volume) for volume in found], os.fsdecode(unreadable)


def find_dicom_series(folder, series, allow_uneven_slices):
    """The dict of the series with a UID, or of the only one if that is None. Raises ValueError if it is no volume."""
    cdef string name = os.fsencode(folder)
    cdef DicomOptions options
    cdef DicomVolume volume
    options.series = (series or "").encode("latin-1", "replace")
    options.allowUnevenSlices = allow_uneven_slices
    options.seriesAdvice = b": series=UID chooses one, and list_dicom_series lists them"
    options.unevenAdvice = b"; allow_uneven_slices=True reads them as if they were even"
    with nogil:
        volume = FindDicomSeries(name, options)
    return _series(volume)
