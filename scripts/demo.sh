#!/usr/bin/env bash
# The main job from nothing: install packages, build, fetch images of real heads, compute their feature maps, find objects by
# fuzzy connectedness, and draw all to demo-output/. Running it again only does what is missing, and computes the maps and
# objects anew.
#
#   demo.sh [--cuda]
#
#   --cuda   compile the CUDA engines also where there is no usable device
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

core=()
if [[ "${1:-}" == --cuda ]]; then
  core=(VoxelMaps_USE_CUDA=ON)
elif [[ $# -gt 0 ]]; then
  echo "demo.sh: '$1' is not an option; there is --cuda" >&2
  exit 1
fi
source scripts/environment.sh

data=build/data
out=demo-output
mkdir -p "${out}"
say "Images"
quietly data scripts/fetch-data.sh "${data}"

# Python packages come from the network while the processors compile.
scripts/python-environment.sh --packages-only >build/log/python-packages.txt 2>&1 &
python_packages=$!
python=build/venv/bin/python

say "Core: the engines"
quietly core scripts/build-core.sh "${core[@]}"

say "Programs for the first picture"
configure
build FeatureMaps
maps=build/programs/FeatureMaps
connect=build/programs/FuzzyConnectedness
draw() { "${python}" scripts/draw.py "$@"; }

say "Python packages"
wait "${python_packages}" || {
  tail -n 20 build/log/python-packages.txt >&2
  exit 1
}

# The settings of Zhang et al. (2019): intensities as levels, windows of 4 x 4 with the pixel at the top left.
paper=(--as-levels --levels 256 --window "4,4" --anchor "0,0")
for name in BrainT1Slice BrainProtonDensitySlice; do
  say "${name}.png: a slice of 181 x 217, settings of the paper"
  "${maps}" "${data}/${name}.png" "${out}/${name}_per-direction.nrrd" "${paper[@]}" --aggregation per-direction
  "${maps}" "${data}/${name}.png" "${out}/${name}_average.nrrd" "${paper[@]}" --aggregation average
  draw maps "${data}/${name}.png" "${out}/${name}_average.nrrd" "${out}/${name}.png" \
    --title "${name}.png: 256 levels, windows of 4 x 4, mean of 4 directions"
done

head="${data}/KmeansTest_T1UCharRaw.nii.gz"
say "$(basename "${head}"): a 3D head, default settings"
"${maps}" "${head}" "${out}/Head.nrrd"
"${maps}" "${head}" "${out}/Head_%s.nii.gz"
draw maps "${head}" "${out}/Head.nrrd" "${out}/Head.png" \
  --title "KmeansTest_T1UCharRaw.nii.gz: 32 levels, windows of 5 x 5 x 5, mean of 13 directions"

volume=../shared/data/brainweb_t1.mha
if [[ -r "${volume}" ]]; then
  say "$(basename "${volume}"): BrainWeb T1, default settings"
  "${maps}" "${volume}" "${out}/BrainWebT1.nrrd"
  draw maps "${volume}" "${out}/BrainWebT1.nrrd" "${out}/BrainWebT1.png" \
    --title "brainweb_t1.mha: 32 levels, windows of 5 x 5 x 5, mean of 13 directions"
fi

say "More programs"
build FuzzyConnectedness SyntheticLiverCT

say "Vessels.png: portal vein of a synthetic CT, read from DICOM"
rm -rf "${out}/LiverCT"
seeds="$(build/programs/SyntheticLiverCT "${out}/LiverCT" --dicom --size 192,192,80 --strokes "${out}/Strokes.nrrd")"
echo "${seeds}"
"${connect}" "${out}/LiverCT" "${out}/Vessels_strength.nii.gz" --seed "$(sed -n 's/^vessel seed //p' <<<"${seeds}")" \
  --threshold 0.4 --object "${out}/Vessels.nii.gz"
draw object "${out}/LiverCT" "${out}/Vessels.nii.gz" "${out}/Vessels.png" \
  --title "Synthetic CT: connected with a seed in the portal vein, strength >= 0.4" --window=-150,350 --unit HU

say "Labels.png: four organs of the CT and all else, from strokes"
"${connect}" "${out}/LiverCT" "${out}/Labels_strength.nii.gz" --seed-image "${out}/Strokes.nrrd" \
  --labels "${out}/Labels.nii.gz" --margin "${out}/Labels_margin.nii.gz" --competition iterative --affinity absolute
draw labels "${out}/LiverCT" "${out}/Labels.nii.gz" "${out}/Labels_margin.nii.gz" "${out}/Labels.png" \
  --names "liver,vessels of the liver,spine,spleen" --window=-150,350 --unit HU --slices 85,92,40 \
  --strokes "${out}/Strokes.nrrd" \
  --title "Synthetic CT: labels of seeds in four organs and all else, by iterative relative fuzzy connectedness"

say "VolumeCurve.png: where the spleen leaks"
"${connect}" "${out}/LiverCT" "${out}/Spleen_strength.nii.gz" --seed "$(sed -n 's/^spleen seed //p' <<<"${seeds}")" \
  --estimate-radius 1 --suggest-threshold --minimum-volume 2 | tee build/log/suggestion.txt
draw curve "${out}/Spleen_strength.nii.gz" "${out}/VolumeCurve.png" \
  --suggested "$(sed -n 's/^suggested threshold: strength >= \([^ ]*\) .*/\1/p' build/log/suggestion.txt)" \
  --title "Synthetic CT: volume connected with a seed in the spleen"

say "WhiteMatter.png: white matter of $(basename "${head}")"
"${connect}" "${head}" "${out}/WhiteMatter_strength.nii.gz" --seed 47,76,31 --estimate-radius 1 \
  --threshold 0.3 --object "${out}/WhiteMatter.nii.gz"
draw object "${head}" "${out}/WhiteMatter.nii.gz" "${out}/WhiteMatter.png" \
  --title "$(basename "${head}"): connected with a seed in white matter, strength >= 0.3" --color "#f0d2a0"

say "Python: the package"
quietly python-wheel scripts/python-environment.sh "${core[@]}"

say "Python: the examples of examples/README.md"
"${python}" examples/texture_maps_of_a_nifti.py "${head}" "${out}/python/texture-maps"
"${python}" examples/feature_pictures.py "${head}" "${out}/python/feature-pictures"
"${python}" examples/habitats.py "${head}" "${out}/python/habitats"
"${python}" examples/vessels_from_dicom.py "${out}/LiverCT" "${out}/python/vessels" \
  --seed "$(sed -n 's/^vessel seed //p' <<<"${seeds}")"
"${python}" examples/large_volume_with_dask.py "${head}" "${out}/python/maps.zarr" --picture "${out}/python/chunks.png" \
  --check
if "${python}" -c "import radiomics" 2>/dev/null; then
  "${python}" examples/compare_with_pyradiomics.py "${head}" "${out}/python/comparison"
else
  echo "The comparison with PyRadiomics is skipped: it could not be installed (build/pyradiomics.log)"
fi

say "Done; written to ${out}/"
ls -1sh "${out}"
