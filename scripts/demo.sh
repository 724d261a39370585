#!/usr/bin/env bash
# The main job from nothing: install packages, build, fetch images of real heads, compute their run length feature maps,
# find objects by fuzzy connectedness, and draw all to demo-output/. Running it again only does what is missing, and
# computes the maps and objects anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s (%s s)\n' "$*" "${SECONDS}"; }

step "Packages"
scripts/install-packages.sh

step "Build"
# The log level hides pages of remarks of Debian's GDCM about programs that nobody needs here.
cmake --log-level=WARNING -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DVoxelMaps_BUILD_EXAMPLES=ON -DVoxelMaps_BUILD_VTK_EXAMPLES=ON
cmake --build build --parallel "$(nproc)" --target \
  RunLengthFeatureMaps RenderFeatureMaps FuzzyConnectedness SyntheticLiverCT RenderObject
maps=build/examples/RunLengthFeatureMaps
connect=build/examples/FuzzyConnectedness

# render PROGRAM IMAGE MAPS-OR-OBJECT PICTURE TITLE [OPTION...]
render() {
  local display=()
  if [[ -z "${DISPLAY:-}" ]]; then
    display=(xvfb-run -a)
  fi
  "${display[@]}" "build/examples/$1" "$2" "$3" "$4" --title "${@:5}"
  echo "$4: picture of $3"
}
draw() { render RenderFeatureMaps "$@"; }
draw_object() { render RenderObject "$@"; }

step "Data"
# Debian's package of ITK examples has slices of BrainWeb and a head. Slim systems drop what lies in /usr/share/doc when
# a package is installed, so its files are unpacked here instead.
data=build/data
folder=./usr/share/doc/insighttoolkit5-examples/examples/Data
images=(BrainT1Slice.png BrainProtonDensitySlice.png KmeansTest_T1UCharRaw.nii.gz)
missing=()
for image in "${images[@]}"; do
  if [[ ! -s "${data}/${image}" ]]; then
    missing+=("${folder}/${image}")
  fi
done
if [[ ${#missing[@]} -gt 0 ]]; then
  mkdir -p "${data}"
  (
    cd "${data}"
    rm -rf unpacked && mkdir unpacked && cd unpacked
    if ! apt-get --quiet download insighttoolkit5-examples 2>../download.log; then
      as_root=()
      if [[ ${EUID} -ne 0 ]]; then
        as_root=(sudo)
      fi
      "${as_root[@]}" apt-get --quiet update
      apt-get --quiet download insighttoolkit5-examples 2>../download.log || {
        cat ../download.log >&2
        exit 1
      }
    fi
    dpkg-deb --fsys-tarfile insighttoolkit5-examples_*.deb | tar -x "${missing[@]}"
    mv "${missing[@]}" ..
    cd .. && rm -rf unpacked
  )
fi
ls -1 "${images[@]/#/${data}/}"

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
seeds="$(build/examples/SyntheticLiverCT "${out}/LiverCT" --dicom --size 192,192,80)"
echo "${seeds}"
"${connect}" "${out}/LiverCT" "${out}/Vessels_strength.nii.gz" --seed "$(sed -n 's/^vessel seed //p' <<<"${seeds}")" \
  --threshold 0.4 --object "${out}/Vessels.nii.gz"
draw_object "${out}/LiverCT" "${out}/Vessels.nii.gz" "${out}/Vessels.png" \
  "Synthetic CT: connected with a seed in the portal vein, strength >= 0.4" --window=-150,350

step "WhiteMatter.png: white matter of $(basename "${head}")"
"${connect}" "${head}" "${out}/WhiteMatter_strength.nii.gz" --seed 47,76,31 --estimate-radius 1 \
  --threshold 0.3 --object "${out}/WhiteMatter.nii.gz"
draw_object "${head}" "${out}/WhiteMatter.nii.gz" "${out}/WhiteMatter.png" \
  "$(basename "${head}"): connected with a seed in white matter, strength >= 0.3" --color 240,210,160

step "Done; written to ${out}/"
ls -1sh "${out}"
