# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""PET series in SUV: values that were computed by hand, and headers on which they cannot depend."""

import json
import math
import os
import pathlib
import warnings

import numpy as np
import pytest

pydicom = pytest.importorskip("pydicom")
sitk = pytest.importorskip("SimpleITK")

import voxelmaps  # noqa: E402
from test_dicom import AXIAL, header, items, save  # noqa: E402

PET = "1.2.840.10008.5.1.4.1.1.128"
STORED = np.random.default_rng(3).integers(0, 30000, (3, 4, 5)).astype("i2")
SLOPES = np.array([0.5, 2.25, 7.125])
ACTIVITY = STORED * SLOPES[:, None, None]
# 70 kg = 70,000 g; 350 MBq; injected one half-life of 6,600 s before the series: 10:10:00 to 12:00:00.
DOSE, HALF_LIFE = 3.5e8, 6600
ITEM = {"RadionuclideTotalDose": DOSE, "RadionuclideHalfLife": HALF_LIFE, "RadiopharmaceuticalStartTime": "101000"}
HEADER = {"SOPClassUID": PET, "Modality": "PT", "Units": "BQML", "DecayCorrection": "START", "PatientSex": "M"}
HEADER |= {"CorrectedImage": ["DECY", "ATTN", "SCAT"], "PatientWeight": 70, "PatientSize": 1.75}
HEADER |= {"SeriesDate": "20260301", "SeriesTime": "120000", "AcquisitionDate": "20260301", "AcquisitionTime": "120030"}
HEADER |= {"ActualFrameDuration": 180000, "FrameReferenceTime": 90000}
# 70,000 g / (350 MBq / 2).
FACTOR = 70000 / 1.75e8


def written(folder, item={}, private=(), of_slice=lambda k: {}, **changes):
    """A series whose elements and those of its radiopharmaceutical are changed; None removes one."""
    folder.mkdir(exist_ok=True)
    known = {**ITEM, **item}
    for k, plane in enumerate(STORED):
        elements = {"ImagePositionPatient": [0, 0, 3 * k], "ImageOrientationPatient": AXIAL, "PixelSpacing": [4, 4]}
        elements |= {"RescaleSlope": SLOPES[k], "RescaleIntercept": 0, **HEADER}
        elements["RadiopharmaceuticalInformationSequence"] = [items(**known)]
        # Also what is not valid.
        with pydicom.config.disable_value_validation():
            dataset = header(**{**elements, **changes, **of_slice(k)})
        for group, creator, element, kind, value in private:
            dataset.private_block(group, creator, create=True).add_new(element, kind, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(folder / f"{k}.dcm", dataset, plane)
    return folder


def suv_of(folder, kind="bw", warning=None):
    """The array in SUV, with this warning."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        image = voxelmaps.read_dicom_series(folder, suv=kind)
    texts = [str(each.message) for each in found if each.category is UserWarning]
    assert len(texts) == (warning is not None) and all(warning in text for text in texts), texts
    get = sitk.GetArrayFromImage if isinstance(image, sitk.Image) else pytest.importorskip("itk").array_from_image
    return get(image)


def expect(folder, factor, kind="bw", values=ACTIVITY):
    np.testing.assert_allclose(suv_of(folder, kind), values * factor, rtol=1e-12)


PHILIPS, GE = "Philips PET Private Group", "GEMS_PETD_01"
NEVER_MIND = {"SeriesTime": "150000"}
# Janmahasatian, James and Du Bois for 70 kg and 175 cm, by hand: BMI = 22.857142857.
LEAN = {"M": 9270 * 70 / (6680 + 216 * 22.857142857142858), "F": 9270 * 70 / (8780 + 244 * 22.857142857142858)}
JAMES = {"M": 1.1 * 70 - 128 * 0.16, "F": 1.07 * 70 - 148 * 0.16}
SURFACE = 0.007184 * math.exp(0.425 * math.log(70) + 0.725 * math.log(175))


@pytest.mark.parametrize(
    "changes, factor",
    [
        ({}, FACTOR),
        # Values are corrected to the injection.
        ({"DecayCorrection": "ADMIN"}, FACTOR / 2),
        # Injected before midnight: 23:10 to 01:00.
        (
            {
                "item": {"RadiopharmaceuticalStartTime": "231000.5"},
                "SeriesTime": "010000.500000",
                "AcquisitionTime": "010100",
            },
            FACTOR,
        ),
        ({"item": {"RadiopharmaceuticalStartTime": "10:10"}}, FACTOR),
        # A date and time, also in another time zone, and two half-lives before, on the day before.
        (
            {"item": {"RadiopharmaceuticalStartTime": None, "RadiopharmaceuticalStartDateTime": "20260301101000.000"}},
            FACTOR,
        ),
        (
            {
                "item": {
                    "RadiopharmaceuticalStartTime": None,
                    "RadiopharmaceuticalStartDateTime": "20260301081000+0000",
                },
                "TimezoneOffsetFromUTC": "+0200",
            },
            FACTOR,
        ),
        (
            {
                "item": {
                    "RadiopharmaceuticalStartTime": "230000",
                    "RadiopharmaceuticalStartDateTime": "20260228230000",
                },
                **{"SeriesTime": "024000", "AcquisitionTime": "024000"},
            },
            2 * FACTOR,
        ),
        # The series was computed later: the scan began 30 s before its first frame, as GE says.
        ({**NEVER_MIND, "private": [(9, GE, 0x0D, "DT", "20260301120000.00")]}, FACTOR),
        ({**NEVER_MIND, "private": [(9, GE, 0x0D, "UN", b"20260301120000.00 ")]}, FACTOR),
        # From the time that the values of a frame are of, counted from the start of the scan.
        ({**NEVER_MIND, "FrameReferenceTime": 119716.45}, None),
        # SUV already; of Philips, from counts, by slices that have factors of their own.
        ({"Units": "GML", "DecayCorrection": None, "CorrectedImage": None}, 1),
        ({"Units": "GML", "SUVType": "LBMJAMES128"}, 70 / JAMES["M"]),
        ({"Units": "CNTS", "private": [(0x7053, PHILIPS, 0, "DS", "0.00123")]}, 0.00123),
        (
            {"Units": "CNTS", "private": [(0x7053, PHILIPS, 0, "DS", "0"), (0x7053, PHILIPS, 9, "DS", "1.5")]},
            1.5 * FACTOR,
        ),
        ({"Units": "CNTS", "private": [(0x7053, PHILIPS, 9, "UN", b"1.5 ")]}, 1.5 * FACTOR),
    ],
)
def test_body_weight(tmp_path, changes, factor):
    folder = written(tmp_path / "pet", **changes)
    tolerance = 1e-12
    if factor is None:
        # Mean of the activity in a frame of 180 s, by summing it, in seconds from its begin.
        times = (np.arange(10**6) + 0.5) * 180e-6
        mean = -np.log2((2 ** (-times / HALF_LIFE)).mean()) * HALF_LIFE
        factor, tolerance = 70000 / (DOSE * 2 ** (-(6600 + 30 + mean - 119.71645) / HALF_LIFE)), 1e-9
    np.testing.assert_allclose(suv_of(folder), ACTIVITY * factor, rtol=tolerance)


# Headers of real series, and their factors, as cornerstonejs/calculate-suv (MIT) has computed them: weight, dose, half-life, time of the
# injection, time of the series and of the acquisition, reference time and duration of the frame.
REAL = {
    "Siemens": (67, 374e6, 6586.2, "083045", "104829", "104830.351370", 38513.36, 74324, 0.00042748316187197236),
    "GE": (52, 152022720, 6586.2001953125, "084500", "095621", "095621", 0, 120000, 0.0005367387681819742),
    "Philips": (64, 126e6, 6586.199707, "100058", "110155", "110156", 1328700, 120700, 0.0007463747013889488),
    "Siemens, injected on an unknown day": (
        *(102, 412e6, 6586.2, "125000", "135431.843", "141555.687", 1372857.9232493, 180000),
        0.0003721089202818729,
    ),
    "Siemens, acquired before the series": (
        *(65, 225e6, 6586.2, "114100", "123515", "123514.999995", 59936.854672596, 120000),
        0.0004069156854009332,
    ),
    "CPS": (69, 388e6, 6586.2, "120037", "134918", "130348.234", 0, 180000, 0.00026503312764157046),
    "Philips, counts": (47, 208230000, 6588, "123000", "134551", "141336", 1755000, 180000, 0.000728),
    "Philips, counts with two factors": (54, 238e6, 6588, "083000", "093556", "095439", 1183000, 120000, 0.000551),
}
# Philips' private factors, of SUV and of activity; they are for counts only.
FACTORS = {"Philips": ("0.003515736", "4.709921"), "Philips, counts": ("0.000728", None)}
FACTORS["Philips, counts with two factors"] = ("0.000551", "1.602563")


@pytest.mark.parametrize("name", REAL)
def test_real_headers(tmp_path, name):
    weight, dose, half_life, start, series, acquisition, reference, duration, factor = REAL[name]
    item = {"RadionuclideTotalDose": dose, "RadionuclideHalfLife": half_life, "RadiopharmaceuticalStartTime": start}
    times = {"SeriesTime": series, "AcquisitionTime": acquisition, "FrameReferenceTime": reference}
    pairs = zip((0, 9), FACTORS.get(name, ()))
    private = [(0x7053, PHILIPS, element, "DS", text) for element, text in pairs if text is not None]
    times["Units"] = "CNTS" if "counts" in name else "BQML"
    folder = written(tmp_path / "pet", item, private, PatientWeight=weight, ActualFrameDuration=duration, **times)
    warning = "FrameReferenceTime (0054,1300) is 0: the scan is taken to begin with the earliest acquisition, at 2026-03-01 13:03:48"
    values = suv_of(folder, warning=warning if name == "CPS" else None)
    np.testing.assert_allclose(values, ACTIVITY * factor, rtol=1e-11)


# Folder with a copy of github.com/oncoray/suv_computation, if available.
OBJECTS = os.environ.get("VOXELMAPS_SUV_DATA")


@pytest.mark.skipif(not OBJECTS, reason="VOXELMAPS_SUV_DATA is no copy of github.com/oncoray/suv_computation")
def test_digital_reference_objects():
    """Greatest, least and median SUV are 4, 0.2 and 1, to two digits."""
    objects = sorted(path.name for path in (pathlib.Path(OBJECTS) / "DRO").glob("DRO_*_*"))
    assert len(objects) == 17
    for name in objects:
        place = pathlib.Path(OBJECTS) / "DRO" / name
        if name == "DRO_2_2":
            with pytest.raises(ValueError, match="SUVType .* is IBW"):
                voxelmaps.read_dicom_series(place / "PT", suv="bw")
            continue
        values = suv_of(place / "PT", warning="which is read as MBq: " if name == "DRO_3_0" else None)
        mask = sitk.GetArrayFromImage(sitk.ReadImage(place / "mask" / "DRO_mask.nii.gz")) != 0
        found = values[mask].max(), values[mask].min(), np.median(values[mask])
        # Its stored values are 105, 5 and 26, which lack the fractions of 105.6, 5.28 and 26.4.
        expected = [105 / 26.4, 5 / 26.4, 26 / 26.4] if name == "DRO_2_3" else [4, 0.2, 1]
        np.testing.assert_allclose(found, expected, atol=0.005, err_msg=name)


def test_without_decay_correction(tmp_path):
    """Each slice has the time of its own frame."""
    begins = ["120000", "121000", "122000"]
    of_slice = lambda k: {"AcquisitionTime": begins[k]}  # noqa: E731
    folder = written(tmp_path / "pet", DecayCorrection="NONE", CorrectedImage=["ATTN"], of_slice=of_slice)
    decay = math.log(2) * 180 / HALF_LIFE
    mean = HALF_LIFE / math.log(2) * math.log(decay / (1 - math.exp(-decay)))
    factors = [70000 / (DOSE * math.exp(-math.log(2) * (6600 + 600 * k + mean) / HALF_LIFE)) for k in range(3)]
    np.testing.assert_allclose(suv_of(folder), ACTIVITY * np.reshape(factors, (3, 1, 1)), rtol=1e-9)


@pytest.mark.parametrize("sex", "MF")
def test_lean_body_mass_and_surface(tmp_path, sex):
    folder = written(tmp_path / "pet", PatientSex=sex)
    activity = FACTOR / 70000
    for kind, norm in (("lbm", 1000 * LEAN[sex]), ("lbm_james", 1000 * JAMES[sex]), ("bsa", 1e4 * SURFACE)):
        expect(folder, activity * norm, kind)
    # Values for a man and a woman of 70 kg and 1.75 m.
    assert [LEAN["M"], JAMES["M"], LEAN["F"], JAMES["F"], SURFACE] == pytest.approx(
        [55.85, 56.52, 45.20, 51.22, 1.848], abs=0.01
    )
    # From one kind to another.
    folder = written(tmp_path / "other", Units="GML", SUVType="LBMJANMA", PatientSex=sex)
    expect(folder, 70 / LEAN[sex])
    folder = written(tmp_path / "third", Units="CM2ML", SUVType=None, PatientSex=sex)
    expect(folder, 1, "bsa")


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"Modality": "CT"}, ["Modality (0008,0060) is CT, not PT"]),
        ({"Units": None}, ["Units (0054,1001) is missing"]),
        ({"Units": "PROPCPS"}, ["Units (0054,1001) is PROPCPS", "BQML"]),
        ({"Units": "CNTS"}, ["is CNTS", "(7053,1000)", "(7053,1009)"]),
        ({"Units": "CNTS", "private": [(0x7053, PHILIPS, 0, "UN", b"x")]}, ["(7053,1000)", "is x, not a factor"]),
        ({"Units": "GML", "SUVType": "IBW"}, ["SUVType (0054,1006) is IBW"]),
        (
            {"Units": "CM2ML", "SUVType": "BW"},
            ["Units (0054,1001) is CM2ML", "SUVType (0054,1006) is BW", "contradicts"],
        ),
        # Without a date, the day of a long-lived nuclide is not known.
        (
            {"item": {"RadiopharmaceuticalStartTime": "121000", "RadionuclideHalfLife": 45720}},
            [
                "RadiopharmaceuticalStartTime (0018,1072) is 121000",
                "after the scan",
                "RadiopharmaceuticalStartDateTime",
            ],
        ),
        ({"CorrectedImage": ["DECY"]}, ["CorrectedImage (0028,0051)", "ATTN"]),
        ({"CorrectedImage": ["ATTN"]}, ["DecayCorrection (0054,1102) is START", "no DECY"]),
        ({"DecayCorrection": "NONE"}, ["is NONE", "has DECY"]),
        ({"DecayCorrection": None}, ["DecayCorrection (0054,1102) is missing"]),
        ({"DecayCorrection": "LATER"}, ["LATER", "START, ADMIN or NONE"]),
        ({"PatientWeight": None}, ["PatientWeight (0010,1030) is missing"]),
        ({"PatientWeight": 0}, ["PatientWeight (0010,1030) is 0"]),
        ({"PatientWeight": 70000}, ["PatientWeight (0010,1030) is 70000", "in kg"]),
        ({"item": {"RadionuclideTotalDose": None}}, ["RadionuclideTotalDose (0018,1074) is missing"]),
        ({"item": {"RadionuclideTotalDose": 0.35}}, ["RadionuclideTotalDose (0018,1074) is 0.35", "in Bq"]),
        # In MBq or mCi.
        (
            {"item": {"RadionuclideTotalDose": 10}},
            ["RadionuclideTotalDose (0018,1074) is 10, which may be MBq or mCi", "correct the header"],
        ),
        ({"item": {"RadionuclideHalfLife": None}}, ["RadionuclideHalfLife (0018,1075) is missing"]),
        (
            {"item": {"RadiopharmaceuticalStartTime": None}},
            ["RadiopharmaceuticalStartTime (0018,1072) or RadiopharmaceuticalStartDateTime (0018,1078) is missing"],
        ),
        ({"item": {"RadiopharmaceuticalStartTime": "late"}}, ["RadiopharmaceuticalStartTime (0018,1072) is late"]),
        ({"item": {"RadiopharmaceuticalStartDateTime": "2026"}}, ["RadiopharmaceuticalStartDateTime", "is 2026"]),
        # After the scan; and dates of which one was changed by anonymization.
        ({"item": {"RadiopharmaceuticalStartTime": "121000"}}, ["2026-02-28 12:10:00", "10 half-lives"]),
        ({"item": {"RadiopharmaceuticalStartDateTime": "20250101101000"}}, ["2025-01-01", "10 half-lives"]),
        ({"AcquisitionTime": None}, ["AcquisitionTime (0008,0032) is missing"]),
        ({"AcquisitionDate": "tomorrow"}, ["AcquisitionDate (0008,0022) is tomorrow"]),
        ({**NEVER_MIND, "FrameReferenceTime": None}, ["FrameReferenceTime (0054,1300) is missing"]),
        ({**NEVER_MIND, "ActualFrameDuration": None}, ["ActualFrameDuration (0018,1242) is missing"]),
        (
            {"RadiopharmaceuticalInformationSequence": []},
            ["RadiopharmaceuticalInformationSequence (0054,0016) is missing"],
        ),
        ({"RadiopharmaceuticalInformationSequence": [items(**ITEM)] * 2}, ["has 2 items"]),
        ({"item": {"RadionuclideHalfLife": "nan"}}, ["RadionuclideHalfLife (0018,1075) is nan", "in s"]),
        (
            {"of_slice": lambda k: {"RescaleSlope": 1 if k else None}},
            ["RescaleSlope (0028,1053) is missing in '0.dcm'"],
        ),
        ({"of_slice": lambda k: {"RescaleSlope": 1 - 2 * k}}, ["RescaleSlope (0028,1053) is -1 in '1.dcm'", "above 0"]),
        ({"RescaleIntercept": -3}, ["RescaleIntercept (0028,1052) is -3 in '0.dcm'", "must be 0"]),
        ({"of_slice": lambda k: {"PatientWeight": 70 + k}}, ["slices differ in PatientWeight", "70", "71"]),
        ({"of_slice": lambda k: {"Units": "BQML" if k else "GML"}}, ["slices differ in Units"]),
    ],
)
def test_headers_that_do_not_say(tmp_path, changes, words):
    folder = written(tmp_path / "pet", **changes)
    with pytest.raises(ValueError) as error, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        voxelmaps.read_dicom_series(folder, suv="bw")
    message = str(error.value)
    assert str(folder) in message and "\n" not in message
    assert not [word for word in words if word not in message], message
    # Values as they are need none of it.
    voxelmaps.read_dicom_series(folder)


@pytest.mark.parametrize(
    "changes, kind, words",
    [
        ({"PatientSize": None}, "lbm", ["PatientSize (0010,1020) is missing"]),
        ({"PatientSize": 175}, "bsa", ["PatientSize (0010,1020) is 175", "in m"]),
        ({"PatientSex": "O"}, "lbm", ["PatientSex (0010,0040) is O"]),
        ({"PatientSex": None}, "lbm_james", ["PatientSex (0010,0040) is missing"]),
        ({"PatientWeight": 300, "PatientSize": 1.2}, "lbm_james", ["James"]),
        ({}, "body", ["suv is 'body'", "must be bw, lbm, lbm_james, bsa"]),
    ],
)
def test_other_kinds(tmp_path, changes, kind, words):
    folder = written(tmp_path / "pet", **changes)
    with pytest.raises(ValueError) as error:
        voxelmaps.read_dicom_series(folder, suv=kind)
    assert not [word for word in words if word not in str(error.value)], error.value


def test_time_zone_of_injection_alone(tmp_path):
    item = {"RadiopharmaceuticalStartDateTime": "20260301081000+0000", "RadiopharmaceuticalStartTime": None}
    suv_of(written(tmp_path / "pet", item=item), warning="(0008,0201) is missing: it is read as local time")


def test_dose_in_megabecquerels(tmp_path):
    folder = written(tmp_path / "pet", item={"RadionuclideTotalDose": DOSE / 1e6})
    values = suv_of(folder, warning="RadionuclideTotalDose (0018,1074) is 350, which is read as MBq")
    np.testing.assert_allclose(values, ACTIVITY * FACTOR, rtol=1e-12)


@pytest.mark.parametrize("maker, factor", [("Philips Medical Systems", 0.00123), ("SIEMENS", None)])
def test_private_elements_without_their_creator(tmp_path, maker, factor):
    """Anonymization removes it, so that the manufacturer says whose they are."""
    private = [(0x7053, PHILIPS, 0, "DS", "0.00123")]
    folder = written(tmp_path / "pet", private=private, Units="CNTS", Manufacturer=maker)
    for path in folder.iterdir():
        dataset = pydicom.dcmread(path)
        del dataset[0x7053, 0x10]
        dataset.save_as(path)
    if factor is None:
        with pytest.raises(ValueError, match="7053,1000"):
            suv_of(folder)
    else:
        expect(folder, factor)


def test_two_times_of_injection(tmp_path):
    item = {"RadiopharmaceuticalStartDateTime": "20260301101000", "RadiopharmaceuticalStartTime": "111000"}
    folder = written(tmp_path / "pet", item=item)
    values = suv_of(folder, warning="10:10:00, which is used, but RadiopharmaceuticalStartTime (0018,1072) is 11:10:00")
    np.testing.assert_allclose(values, ACTIVITY * FACTOR, rtol=1e-12)


def test_command(tmp_path, capsys):
    from voxelmaps import _cli

    folder = written(tmp_path / "pet")
    image = sitk.GetImageFromArray(np.ones(STORED.shape, np.uint8))
    image.SetSpacing((4, 4, 3))
    mask, out, maps = tmp_path / "mask.nii.gz", tmp_path / "values.csv", tmp_path / "maps"
    sitk.WriteImage(image, str(mask))
    given = [str(folder), "--mask", str(mask), "--features", "firstorder_Mean", "--bin-width", "0.25"]
    assert _cli.main(["regions", *given, "--out", str(out), "--suv", "bw"]) == 0
    head, row = (line.split(",") for line in out.read_text().splitlines())
    expected = (ACTIVITY * FACTOR).mean()
    assert float(dict(zip(head, row))["original_firstorder_Mean"]) == pytest.approx(expected, rel=1e-12)
    record = json.loads((tmp_path / "values.csv.jsonl").read_text().splitlines()[0])
    assert record["origin"]["suv"] == "bw" and record["image"]["units"] == "g/ml"
    # Values of another unit are not mixed with them.
    assert _cli.main(["regions", *given, "--out", str(out)]) == 1
    assert "rows of another suv" in capsys.readouterr().err
    assert _cli.main(["maps", *given, "--out", str(maps), "--suv", "lbm"]) == 0
    entry = json.loads((maps / "provenance.json").read_text())["inputs"]["image"]
    assert (entry["suv"], entry["units"], entry["norm"]) == ("lbm", "g/ml", "lean body mass (Janmahasatian 2005)")
    assert entry["decay_seconds"] == 6600 and entry["factors"] == pytest.approx([FACTOR * LEAN["M"] / 70] * 2)
    assert _cli.main(["maps", *given, "--out", str(maps), "--suv", "bw"]) == 1
    assert _cli.main(["check", str(folder), "--suv", "bsa"]) == 0
    assert "cm2/ml" in capsys.readouterr().out
    assert _cli.main(["check", str(mask), "--suv", "bw"]) == 1
    assert "suv is 'bw', but it is not DICOM" in capsys.readouterr().err
