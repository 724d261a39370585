#!/usr/bin/env bash
# The main job from nothing: install packages, build, fetch images of real heads, compute their feature maps, find objects by
# fuzzy connectedness, in C++ and in Python, and draw all to demo-output/. Running it again only does what is missing, and computes
# the maps and objects anew.
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

say "Packages"
quietly packages install_packages build

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

say "C++ examples"
configure
build FeatureMaps

say "Python packages"
wait "${python_packages}" || {
  tail -n 20 build/log/python-packages.txt >&2
  exit 1
}

head="${data}/KmeansTest_T1UCharRaw.nii.gz"
features="$(sed 's/\([A-Z]*\)/glrlm_\1/g' <<<SRE,LRE,GLN,RLN,RP,LGRE,HGRE,SRLGE,SRHGE,LRLGE,LRHGE)"
say "Run length maps of a 3D head by the C++ example FeatureMaps"
build/examples/FeatureMaps "${head}" "${out}/Head.nrrd" "${features}" 2 levels=32

say "Python: the package"
quietly python-wheel scripts/python-environment.sh "${core[@]}"

say "A synthetic CT as a DICOM series"
rm -rf "${out}/LiverCT"
seeds="$("${python}" examples/write_sample_ct.py "${out}/LiverCT" --strokes "${out}/Strokes.nrrd")"
echo "${seeds}"
vessel="$(sed -n 's/^vessel seed \([0-9,]*\).*/\1/p' <<<"${seeds}")"

say "Maps, objects and labels, and their pictures, by the Python package"
"${python}" scripts/demo_results.py "${data}" "${out}"

say "The other C++ examples"
build examples/all
build/examples/ChainFilters "${out}/LiverCT" "${out}/VesselMaps.nrrd" "${vessel}" threshold=0.4 radius=1
build/examples/EditSeeds "${out}/LiverCT" "${out}/EditedLabels.nii.gz" "1:${vessel}" 2:86,78,29 3:96,130,40 4:0,0,0
xvfb-run -a build/examples/ConnectedVessels "${out}/LiverCT" "${vessel}" 0.4 "${out}/Surface"

say "Python: the examples of examples/README.md"
"${python}" examples/texture_maps_of_a_nifti.py "${head}" "${out}/python/texture-maps"
"${python}" examples/feature_pictures.py "${head}" "${out}/python/feature-pictures"
"${python}" examples/habitats.py "${head}" "${out}/python/habitats"
"${python}" examples/vessels_from_dicom.py "${out}/LiverCT" "${out}/python/vessels" \
  --seed "${vessel}"
"${python}" examples/large_volume_with_dask.py "${head}" "${out}/python/maps.zarr" --picture "${out}/python/chunks.png" \
  --check
if "${python}" -c "import radiomics" 2>/dev/null; then
  "${python}" examples/compare_with_pyradiomics.py "${head}" "${out}/python/comparison"
else
  echo "The comparison with PyRadiomics is skipped: it could not be installed (build/pyradiomics.log)"
fi

say "Done; written to ${out}/"
ls -1sh "${out}"
