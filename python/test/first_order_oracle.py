# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reference implementation of the first order features with NumPy; shares only their names with the module."""

import numpy as np

NAMES = "P10 P90 ENE ENT IQR KUR MAX MAD MEAN MED MIN RAN RMAD RMS SKE SD TE UNI VAR".split()

# Equal as a float. The others are sums of doubles, within two units in the last place.
EXACT = {"P10", "P90", "IQR", "MAX", "MED", "MIN", "RAN", "UNI"}


def features_of(intensities, levels, shift=0.0, volume=1.0):
    """All features of the voxels of a window as a dict."""
    x = intensities.astype(np.float64)
    deviation = x - x.mean()
    p10, p25, p75, p90 = np.percentile(x, [10, 25, 75, 90])
    inside = x[(x >= p10) & (x <= p90)]
    is_flat = x.min() == x.max()
    variance = 0.0 if is_flat else np.mean(deviation**2)
    counts = np.unique(levels, return_counts=True)[1]
    p = counts / len(levels)
    return {
        "P10": p10,
        "P90": p90,
        "ENE": np.sum((x + shift) ** 2),
        "ENT": 0.0 if len(p) == 1 else -np.sum(p * np.log2(p)),
        "IQR": p75 - p25,
        "KUR": 0.0 if is_flat else np.mean(deviation**4) / variance**2,
        "MAX": x.max(),
        "MAD": 0.0 if is_flat else np.mean(np.abs(deviation)),
        "MEAN": x[0] if is_flat else x.mean(),
        "MED": np.median(x),
        "MIN": x.min(),
        "RAN": x.max() - x.min(),
        "RMAD": np.mean(np.abs(inside - inside.mean())) if len(inside) else np.nan,
        "RMS": np.sqrt(np.mean((x + shift) ** 2)),
        "SKE": 0.0 if is_flat else np.mean(deviation**3) / variance**1.5,
        "SD": np.sqrt(variance),
        "TE": volume * np.sum((x + shift) ** 2),
        "UNI": np.sum(counts**2) / len(levels) ** 2,
        "VAR": variance,
    }


def feature_maps(image, levels, radius, names, shift=0.0, volume=1.0):
    """Maps in float64; the last axis is the feature. Voxels without a level are 0."""
    result = np.zeros(image.shape + (len(names),))
    for position in np.argwhere(levels > 0):
        box = tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(position, np.broadcast_to(radius, image.ndim)))
        present = levels[box] > 0
        values = features_of(image[box][present], levels[box][present], shift, volume)
        result[tuple(position)] = [values[name] for name in names]
    return result


def check(actual, expected, names):
    """Check that maps are equal as float, or within two units in the last place for sums."""
    assert actual.shape == expected.shape
    for i, name in enumerate(names):
        if name in EXACT:
            np.testing.assert_array_equal(actual[..., i], expected[..., i].astype(np.float32), err_msg=name)
        else:
            np.testing.assert_allclose(actual[..., i], expected[..., i], rtol=2**-22, err_msg=name)
