# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
from . import radiomics as radiomics
from ._connectedness import fuzzy_connectedness as fuzzy_connectedness
from ._connectedness import suggest_threshold as suggest_threshold
from ._describe import Description as Description, describe as describe
from ._devices import release_device_memory as release_device_memory
from ._feature_maps import feature_maps as feature_maps
from ._filter_image import filter_image as filter_image
from ._files.dicom import DicomSeries as DicomSeries, list_dicom_series as list_dicom_series
from ._files.images import check_image_file as check_image_file
from ._reading import read_dicom_series as read_dicom_series, read_maps as read_maps
from ._ibsi.features import ibsi_features as ibsi_features
from ._ibsi.response_maps import response_map as response_map
from ._labels import Segmentation as Segmentation, labels as labels
from ._maps import FeatureMaps as FeatureMaps
from ._pictures import map_limits as map_limits, show as show
from ._regions import RegionFeatures as RegionFeatures, region_features as region_features
from ._resample import resample as resample
from ._sample import sample_ct as sample_ct
from ._seed_session import SeedSession as SeedSession
from ._transforms import FeatureMapsd as FeatureMapsd

__version__: str
