#!/usr/bin/env bash
# The main job from nothing: install packages, build, fetch images of real heads, compute their run length feature maps,
# find objects by fuzzy connectedness, and draw all to demo-output/. Running it again only does what is missing, and
# computes the maps and objects anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s (%s s)\n' "$*" "${SECONDS}"; }

step "Packages"
source scripts/environment.sh

step "Build"
# The log level hides pages of remarks of Debian's GDCM about programs that nobody needs here.
cmake --log-level=WARNING -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DVoxelMaps_BUILD_EXAMPLES=ON -DVoxelMaps_BUILD_VTK_EXAMPLES=ON \
  -DCMAKE_CUDA_ARCHITECTURES="${cuda_architecture}"
cmake --build build --parallel "$(nproc)" --target \
  RunLengthFeatureMaps RenderFeatureMaps FuzzyConnectedness SyntheticLiverCT RenderObject RenderLabels RenderVolumeCurve
maps=build/examples/RunLengthFeatureMaps
connect=build/examples/FuzzyConnectedness

# with_display PROGRAM [ARGUMENT...]
with_display() {
  local display=()
  if [[ -z "${DISPLAY:-}" ]]; then
    display=(xvfb-run -a)
  fi
  "${display[@]}" "build/examples/$1" "${@:2}"
}
# render PROGRAM IMAGE MAPS-OR-OBJECT PICTURE TITLE [OPTION...]
render() {
  with_display "$1" "$2" "$3" "$4" --title "${@:5}"
  echo "$4: picture of $3"
}
draw() { render RenderFeatureMaps "$@"; }
draw_object() { render RenderObject "$@"; }

step "Data"
data=build/data
scripts/fetch-data.sh "${data}"
ls -1 "${data}"

mkdir -p demo-output
out=demo-output

# The settings of Zhang et al. (2019): intensities as levels, windows of 4 x 4 with the pixel at the top left.
paper=(--as-levels --levels 256 --window "4,4" --anchor "0,0")
for name in BrainT1Slice BrainProtonDensitySlice; do
  step "${name}.png: a slice of 181 x 217, settings of the paper"
  "${maps}" "${data}/${name}.png" "${out}/${name}_per-direction.nrrd" "${paper[@]}" --aggregation per-direction
  "${maps}" "${data}/${name}.png" "${out}/${name}_average.nrrd" "${paper[@]}" --aggregation average
  draw "${data}/${name}.png" "${out}/${name}_average.nrrd" "${out}/${name}.png" \
    "${name}.png: 256 levels, windows of 4 x 4, mean of 4 directions"
done

head="${data}/KmeansTest_T1UCharRaw.nii.gz"
step "$(basename "${head}"): a 3D head, default settings"
"${maps}" "${head}" "${out}/Head.nrrd"
"${maps}" "${head}" "${out}/Head_%s.nii.gz"
draw "${head}" "${out}/Head.nrrd" "${out}/Head.png" \
  "KmeansTest_T1UCharRaw.nii.gz: 32 levels, windows of 5 x 5 x 5, mean of 13 directions"

volume=../shared/data/brainweb_t1.mha
if [[ -r "${volume}" ]]; then
  step "$(basename "${volume}"): BrainWeb T1, default settings"
  "${maps}" "${volume}" "${out}/BrainWebT1.nrrd"
  draw "${volume}" "${out}/BrainWebT1.nrrd" "${out}/BrainWebT1.png" \
    "brainweb_t1.mha: 32 levels, windows of 5 x 5 x 5, mean of 13 directions"
fi

step "Vessels.png: portal vein of a synthetic CT, read from DICOM"
rm -rf "${out}/LiverCT"
seeds="$(build/examples/SyntheticLiverCT "${out}/LiverCT" --dicom --size 192,192,80 --strokes "${out}/Strokes.nrrd")"
echo "${seeds}"
"${connect}" "${out}/LiverCT" "${out}/Vessels_strength.nii.gz" --seed "$(sed -n 's/^vessel seed //p' <<<"${seeds}")" \
  --threshold 0.4 --object "${out}/Vessels.nii.gz"
draw_object "${out}/LiverCT" "${out}/Vessels.nii.gz" "${out}/Vessels.png" \
  "Synthetic CT: connected with a seed in the portal vein, strength >= 0.4" --window=-150,350

step "Labels.png: four organs of the CT and all else, from strokes"
"${connect}" "${out}/LiverCT" "${out}/Labels_strength.nii.gz" --seed-image "${out}/Strokes.nrrd" \
  --labels "${out}/Labels.nii.gz" --margin "${out}/Labels_margin.nii.gz" --competition iterative --affinity absolute
with_display RenderLabels "${out}/LiverCT" "${out}/Labels.nii.gz" "${out}/Labels_margin.nii.gz" "${out}/Labels.png" \
  --background 5 --names "liver,vessels of the liver,spine,spleen" --window=-150,350 --slices 85,92,40 \
  --title "Synthetic CT: labels of seeds in four organs and all else, by iterative relative fuzzy connectedness"

step "VolumeCurve.png: where the spleen leaks"
"${connect}" "${out}/LiverCT" "${out}/Spleen_strength.nii.gz" --seed "$(sed -n 's/^spleen seed //p' <<<"${seeds}")" \
  --estimate-radius 1
with_display RenderVolumeCurve "${out}/Spleen_strength.nii.gz" "${out}/VolumeCurve.png" --minimum-volume 2 \
  --title "Synthetic CT: volume connected with a seed in the spleen"

step "WhiteMatter.png: white matter of $(basename "${head}")"
"${connect}" "${head}" "${out}/WhiteMatter_strength.nii.gz" --seed 47,76,31 --estimate-radius 1 \
  --threshold 0.3 --object "${out}/WhiteMatter.nii.gz"
draw_object "${head}" "${out}/WhiteMatter.nii.gz" "${out}/WhiteMatter.png" \
  "$(basename "${head}"): connected with a seed in white matter, strength >= 0.3" --color 240,210,160

step "Python: the wheel, and PyPI's itk"
scripts/python-environment.sh CMAKE_CUDA_ARCHITECTURES="${cuda_architecture}"

step "Python: the examples of examples/README.md"
python=build/venv/bin/python
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

step "Done; written to ${out}/"
ls -1sh "${out}"
