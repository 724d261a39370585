# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Standardized uptake values (SUV) of a PET series, from what its headers say, by the rules of QIBA's vendor-neutral pseudo-code: what
rescaled values are multiplied by. Imports no NumPy, so that the command starts at once."""

import datetime
import math
import re

from . import library
from .._suggestions import did_you_mean, warn

# By name: units, what activity is divided by, and SUVType of images that have this kind.
KINDS = {
    "bw": ("g/ml", "body weight", "BW"),
    "lbm": ("g/ml", "lean body mass (Janmahasatian 2005)", "LBMJANMA"),
    "lbm_james": ("g/ml", "lean body mass (James 1976, 128 for men)", "LBMJAMES128"),
    "bsa": ("cm2/ml", "body surface area (Du Bois 1916)", "BSA"),
}
# What is beyond has another unit: least and greatest.
_LIMITS = {
    "PatientWeight": (0.2, 700, "kg"),
    "PatientSize": (0.2, 3, "m"),
    "RadionuclideTotalDose": (1, 1e11, "Bq"),
    "RadionuclideHalfLife": (1, 1e9, "s"),
}
_MOST_HALF_LIVES, _SECONDS_OF_DIFFERENCE = 10, 10
# Doses that are MBq: less may be mCi, and more is Bq.
_LEAST_MBQ, _MOST_MBQ = 20, 1e4
_GE, _PHILIPS = (0x0009, "GEMS_PETD_01"), (0x7053, "Philips PET Private Group")


def _named(keyword):
    """A keyword with its tag."""
    tag = library("pydicom", "SUV").datadict.tag_for_keyword(keyword)
    return f"{keyword} ({tag >> 16:04X},{tag & 0xFFFF:04X})"


def _text(dataset, *keywords):
    """The text of the first of the elements that is there. Raises ValueError if none is."""
    for keyword in keywords:
        value = dataset.get(keyword)
        text = "" if value is None else str(value).strip()
        if text:
            return text
    raise ValueError(f"{' or '.join(map(_named, keywords))} is missing, which SUV depend on")


def _positive(dataset, keyword):
    """A positive number, of which 0 is as if it was missing."""
    least, most, unit = _LIMITS.get(keyword, (0, 1e12, "ms"))
    text = _text(dataset, keyword)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if number == 0:
        raise ValueError(f"{_named(keyword)} is 0, but SUV depend on it")
    if not least <= number <= most:
        raise ValueError(f"{_named(keyword)} is {text[:50]}, but must be in {unit}, from {least:g} to {most:g}")
    return number


def _private(header, block, element):
    """The text of a private element, or an empty one. Anonymization may have removed the creator of an element of the vendor."""
    group, creator = block
    try:
        value = header.private_block(group, creator)[element].value
    except KeyError:
        is_anonymous = (group, 0x10) not in header and str(header.get("Manufacturer") or "")[:2].upper() == creator[
            :2
        ].upper()
        if not is_anonymous or (group, 0x1000 + element) not in header:
            return ""
        value = header[group, 0x1000 + element].value
    return (value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")).strip("\0 ")


def _philips(header, element):
    """A factor of Philips; 0 if there is none."""
    text = _private(header, _PHILIPS, element) or "0"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"({_PHILIPS[0]:04X},{0x1000 + element:04X}) of {_PHILIPS[1]} is {text[:50]}, not a factor")
    return number


# --- Norms -------------------------------------------------------------------------------------------------------------


def _norm(header, kind):
    """What activity per dose is multiplied by: a mass in g, or a surface in cm2."""
    weight = _positive(header, "PatientWeight")
    if kind == "bw":
        return 1000 * weight
    height = _positive(header, "PatientSize")
    if kind == "bsa":
        return 1e4 * 0.007184 * weight**0.425 * (100 * height) ** 0.725
    sex = _text(header, "PatientSex")
    if sex not in ("M", "F"):
        raise ValueError(f"{_named('PatientSex')} is {sex[:50]}, but lean body mass is known for M and F only")
    if kind == "lbm":
        constant, factor = (6680, 216) if sex == "M" else (8780, 244)
        return 1000 * 9270 * weight / (constant + factor * weight / height**2)
    linear, square = (1.10, 128) if sex == "M" else (1.07, 148)
    mass = linear * weight - square * (weight / (100 * height)) ** 2
    if mass <= 0:
        raise ValueError(
            f"{_named('PatientWeight')} is {weight:g} and {_named('PatientSize')} is {height:g}, beyond James' formula"
        )
    return 1000 * mass


# --- Times -------------------------------------------------------------------------------------------------------------


def _date_and_time(text, keyword, header):
    """The local time of a text of VR DT, in the time zone of the header if both have one."""
    from pydicom.valuerep import DT

    try:
        if not re.match("[0-9]{12}", text):
            raise ValueError
        result = DT(text)
        offset = str(header.get("TimezoneOffsetFromUTC") or "").strip()
        if result.tzinfo is not None and offset:
            minutes = int(offset[0] + "1") * (60 * int(offset[1:3]) + int(offset[3:5]))
            result = result.astimezone(datetime.timezone(datetime.timedelta(minutes=minutes)))
        elif result.tzinfo is not None:
            warn(
                f"{keyword} is {text[:50]}, with a time zone, but {_named('TimezoneOffsetFromUTC')} is missing: it is read as local time"
            )
        return datetime.datetime(*result.timetuple()[:6], result.microsecond)
    except (ValueError, IndexError):
        raise ValueError(f"{keyword} is {text[:50]}, which is not a date and time") from None


def _time(text, keyword):
    from pydicom.valuerep import TM

    try:
        time = TM(text.replace(":", ""))
        return datetime.time(time.hour, time.minute, time.second, time.microsecond)
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"{_named(keyword)} is {text[:50]}, which is not a time") from None


def _begin(header, name):
    """The date and time of a series or an acquisition."""
    if name == "Acquisition" and header.get("AcquisitionDateTime") and not header.get("AcquisitionTime"):
        return _date_and_time(str(header.AcquisitionDateTime), _named("AcquisitionDateTime"), header)
    day, time = _text(header, f"{name}Date").replace(".", ""), _time(_text(header, f"{name}Time"), f"{name}Time")
    try:
        return datetime.datetime.combine(datetime.datetime.strptime(day, "%Y%m%d"), time)
    except ValueError:
        raise ValueError(f"{_named(f'{name}Date')} is {day[:50]}, which is not a date") from None


def _injection(header, item, scan):
    """When the radiopharmaceutical was injected: without a date, the last time before the scan."""
    text, time = item.get("RadiopharmaceuticalStartDateTime"), item.get("RadiopharmaceuticalStartTime")
    if text:
        result = _date_and_time(str(text), _named("RadiopharmaceuticalStartDateTime"), header)
        if time:
            other = datetime.datetime.combine(result, _time(str(time), "RadiopharmaceuticalStartTime"))
            if abs((other - result).total_seconds()) > _SECONDS_OF_DIFFERENCE:
                warn(
                    f"{_named('RadiopharmaceuticalStartDateTime')} is {result}, which is used, but "
                    f"{_named('RadiopharmaceuticalStartTime')} is {other.time()}"
                )
        return result
    time = _text(item, "RadiopharmaceuticalStartTime", "RadiopharmaceuticalStartDateTime")
    result = datetime.datetime.combine(scan, _time(time, "RadiopharmaceuticalStartTime"))
    half_life = float(item.get("RadionuclideHalfLife") or 0)
    if result > scan and half_life * _MOST_HALF_LIVES > 86400:
        raise ValueError(
            f"{_named('RadiopharmaceuticalStartTime')} is {time}, after the scan at {scan.time()}, and has no date, which matters for a "
            f"half-life of {half_life:g} s: {_named('RadiopharmaceuticalStartDateTime')} is needed"
        )
    return result - datetime.timedelta(days=result > scan)


def _mean_time(duration, half_life):
    """Seconds from the begin of a frame to when the activity is its mean during the frame."""
    decay = math.log(2) * duration / half_life
    return half_life / math.log(2) * math.log(decay / -math.expm1(-decay))


def _start_of_series(headers, half_life):
    """The time that values are corrected to, if DecayCorrection is START, and where it is from."""
    begins = [_begin(header, "Acquisition") for header in headers]
    first = begins.index(min(begins))
    if headers[first].get("SeriesDate") and headers[first].get("SeriesTime"):
        series = _begin(headers[first], "Series")
        if series <= begins[first]:
            return series, "SeriesTime"
    # The series was made later, by a computation.
    of_vendor = _private(headers[first], _GE, 0x0D)
    if of_vendor:
        tag = f"({_GE[0]:04X},100D) of {_GE[1]}"
        return _date_and_time(of_vendor, tag, headers[first]), tag
    if all(header.get("FrameReferenceTime") == 0 for header in headers):
        warn(
            f"{_named('FrameReferenceTime')} is 0: the scan is taken to begin with the earliest acquisition, at {begins[first]}; SUV are "
            "wrong if slices of the series are missing"
        )
        return begins[first], "AcquisitionTime"
    times = []
    for header, begin in zip(headers, begins):
        duration = _positive(header, "ActualFrameDuration") / 1000
        seconds = _mean_time(duration, half_life) - _positive(header, "FrameReferenceTime") / 1000
        times.append(begin + datetime.timedelta(seconds=seconds))
    spread = (max(times) - min(times)).total_seconds()
    if spread > _SECONDS_OF_DIFFERENCE:
        warn(f"slices differ by {spread:.0f} s in the start of the scan that {_named('FrameReferenceTime')} implies")
    return times[first], "FrameReferenceTime"


# --- Factors -----------------------------------------------------------------------------------------------------------


def _decays(headers, item, half_life):
    """Seconds from the injection to the time that the values of each header are of, and where it is from."""
    correction = _text(headers[0], "DecayCorrection")
    is_corrected = "DECY" in _corrections(headers[0])
    if correction not in ("START", "ADMIN", "NONE"):
        raise ValueError(f"{_named('DecayCorrection')} is {correction[:50]}, but must be START, ADMIN or NONE")
    if is_corrected != (correction != "NONE"):
        raise ValueError(
            f"{_named('DecayCorrection')} is {correction}, but {_named('CorrectedImage')} has {'' if is_corrected else 'no '}DECY"
        )
    if correction == "ADMIN":
        return [0.0] * len(headers), "DecayCorrection ADMIN"
    if correction == "START":
        scan, source = _start_of_series(headers, half_life)
        times = [scan] * len(headers)
    else:
        source = "AcquisitionTime and ActualFrameDuration"
        mean = [_mean_time(_positive(header, "ActualFrameDuration") / 1000, half_life) for header in headers]
        times = [
            _begin(header, "Acquisition") + datetime.timedelta(seconds=each) for header, each in zip(headers, mean)
        ]
    injection = _injection(headers[0], item, min(times))
    seconds = [(time - injection).total_seconds() for time in times]
    if not 0 <= min(seconds) <= max(seconds) <= _MOST_HALF_LIVES * half_life:
        raise ValueError(
            f"the radiopharmaceutical was given at {injection} ({_named('RadiopharmaceuticalStartDateTime')} or "
            f"{_named('RadiopharmaceuticalStartTime')}), but the scan began at {min(times)} ({source}): it must be before and less than "
            f"{_MOST_HALF_LIVES} half-lives of {half_life:g} s"
        )
    return seconds, source


def _corrections(header):
    """The corrections of an image."""
    value = header.get("CorrectedImage") or ()
    return [value] if isinstance(value, str) else list(value)


def factors(frames, kind, origin=None):
    """What the rescaled values of each frame are multiplied by for SUV. Raises ValueError that names the element that is missing or wrong.

    kind      One of KINDS.
    origin    Dict that gets what the factors come from.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"suv is {kind!r}{did_you_mean(str(kind), KINDS)}, but must be {', '.join(KINDS)}")
    files = list({id(frame.file): frame.file for frame in frames}.values())
    headers = [file.header for file in files]
    first = headers[0]
    if first.get("Modality") != "PT":
        raise ValueError(f"suv is {kind!r}, but {_named('Modality')} is {first.get('Modality')}, not PT")
    shared = ("Units", "SUVType", "DecayCorrection", "CorrectedImage", "PatientWeight", "PatientSize", "PatientSex")
    of_item = ("RadionuclideTotalDose", "RadionuclideHalfLife")
    of_item += ("RadiopharmaceuticalStartTime", "RadiopharmaceuticalStartDateTime")
    items = [header.get("RadiopharmaceuticalInformationSequence") or () for header in headers]
    for file, header, of_file in zip(files, headers, items):
        pairs = [(header, first, name) for name in shared]
        pairs += [(*ours, name) for ours in zip(of_file, items[0]) for name in of_item]
        for ours, theirs, name in pairs:
            found, expected = ours.get(name), theirs.get(name)
            # NaN differs from itself; it is refused later.
            if found != expected and (found == found or expected == expected):
                raise ValueError(f"slices differ in {name}: {files[0].name} has {expected}, {file.name} {found}")
    for frame in frames:
        if not frame.has_slope:
            raise ValueError(f"{_named('RescaleSlope')} is missing in {frame.name}, but SUV depend on it")
        for name, value, is_valid in (
            ("Slope", frame.slope, frame.slope > 0),
            ("Intercept", frame.intercept, frame.intercept == 0),
        ):
            if not is_valid:
                rule = "above 0" if name == "Slope" else "0"
                raise ValueError(
                    f"{_named(f'Rescale{name}')} is {value:g} in {frame.name}, but must be {rule} in PET images"
                )
    units, per_file, record = _text(first, "Units"), [1.0] * len(files), {}
    philips = [_philips(header, 0x00) for header in headers] if units == "CNTS" else [0.0]
    given = str(first.get("SUVType") or ("BSA" if units == "CM2ML" else "BW"))
    if units not in ("GML", "CM2ML"):
        if "ATTN" not in _corrections(first):
            raise ValueError(
                f"{_named('CorrectedImage')} is {list(_corrections(first))}, but SUV need a correction of attenuation (ATTN)"
            )
        given = "BW" if all(philips) else ""
    if given:
        # Values are SUV, or those of Philips are a factor away.
        if given not in [suv_type for *_, suv_type in KINDS.values()]:
            raise ValueError(f"{_named('SUVType')} is {given[:50]}, which is not converted to others")
        known = next(name for name, (*_, suv_type) in KINDS.items() if suv_type == given)
        if units in ("GML", "CM2ML") and (units == "CM2ML") != (known == "bsa"):
            raise ValueError(f"{_named('Units')} is {units}, but {_named('SUVType')} is {given}, which contradicts it")
        ratio = 1.0 if known == kind else _norm(first, kind) / _norm(first, known)
        per_file = [ratio * (each or 1.0) for each in (philips if all(philips) else per_file)]
    elif units in ("BQML", "CNTS"):
        if units == "CNTS":
            per_file = [_philips(header, 0x09) for header in headers]
            if not all(per_file):
                raise ValueError(
                    f"{_named('Units')} is CNTS, counts, but (7053,1000), the SUV factor, and (7053,1009), the activity concentration "
                    f"factor, of {_PHILIPS[1]} are missing or 0"
                )
        if len(items[0]) != 1:
            raise ValueError(
                f"{_named('RadiopharmaceuticalInformationSequence')} {'is missing' if not items[0] else f'has {len(items[0])} items'}, "
                "but SUV need one"
            )
        half_life, dose = (_positive(items[0][0], f"Radionuclide{name}") for name in ("HalfLife", "TotalDose"))
        text = f"{_named('RadionuclideTotalDose')} is {dose:g}, which"
        if dose < _LEAST_MBQ:
            raise ValueError(f"{text} may be MBq or mCi: it must be in Bq; correct the header")
        if dose < _MOST_MBQ:
            warn(f"{text} is read as MBq: if it is in another unit, correct the header to Bq")
            dose *= 1e6
        decays, record["time"] = _decays(headers, items[0][0], half_life)
        record["decay_seconds"] = max(decays)
        norm = _norm(first, kind)
        per_file = [each * norm / (dose * 2 ** (-decay / half_life)) for each, decay in zip(per_file, decays)]
    else:
        raise ValueError(f"{_named('Units')} is {units[:50]}, but must be BQML, CNTS of Philips, GML or CM2ML")
    if origin is not None:
        known = {"suv": kind, "units": KINDS[kind][0], "norm": KINDS[kind][1], "units_of_file": units}
        origin.update(known, **record, factors=[min(per_file), max(per_file)])
    of_file = dict(zip(map(id, files), per_file))
    return [of_file[id(frame.file)] for frame in frames]
