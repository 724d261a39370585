#!/usr/bin/env bash
# Run what scripts/gpu-bundle.sh collected, on a machine with a GPU:
#   run-gpu-tests.sh [--only PARTS] [--out FOLDER]
# PARTS is a comma-separated list of
#   tests       all tests, golden suite included; those of the core with every CUDA method
#   large       a volume of more than 2^31 voxels: needs 22 GB of memory
#   python      the Python tests, with the wheel; needs Python 3.11 or later, NumPy and pytest
#   sanitizer   compute-sanitizer (memcheck, racecheck, initcheck, synccheck) on small cases
#   benchmarks  the measurements of the benchmark programs on the device
#   tune        what the CUDA engines choose by, about two minutes; VOXELMAPS_TUNE="--only methods": with options of tune.py
#   papers      the tables of the two papers, about ten minutes; VOXELMAPS_PAPERS="--only run-lengths" or connectedness: of one
# Without --only: tests, python and sanitizer. Prints a summary; the exit code is 0 if nothing failed.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
parts="tests,python,sanitizer"
out="${here}/out"
while (($# > 0)); do
  case "$1" in
    --only) parts="$2" ;;
    --out) out="$2" ;;
    *) sed -n '2,12p' "${BASH_SOURCE[0]}" && exit 2 ;;
  esac
  shift 2
done
mkdir -p "${out}"
export LD_LIBRARY_PATH="${here}/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"

summary=()
failures=0
has() { [[ ",${parts}," == *",$1,"* ]]; }

# run NAME COMMAND...: the output goes to NAME.log, a line to the summary.
run() {
  local name="$1" log="${out}/$1.log" start="${SECONDS}" code=0 line
  shift
  timeout "${VOXELMAPS_PART_TIMEOUT:-900}" "$@" >"${log}" 2>&1 || code=$?
  line="${name}: exit code ${code}, $((SECONDS - start)) s"
  line+="$(grep -E '^\[  (PASSED|FAILED|SKIPPED) +\] +([0-9]+ tests?|all tests)' "${log}" |
    sed -e 's/^\[ *\([A-Z]*\) *\]/; \1/' -e 's/[.,].*//' | tr -d '\n')"
  line+="$(grep -E '^=* ?([0-9]+ (passed|failed|skipped|deselected|error).*) in ' "${log}" | sed 's/^=* */; /' | tr -d '\n')"
  line+="$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "${log}" | sed 's/^=*/;/' | tr -d '\n')"
  summary+=("${line}")
  echo "${line}"
  if ((code != 0)); then
    failures=$((failures + 1))
    grep -E '^\[  FAILED  \]|Failure$|========= (Invalid|Error|Race|Uninit|Program)' "${log}" | sort -u | head -20
  fi
}

device="$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi")"
echo "device: ${device}"

if has tests; then
  for processor in CPU Cuda; do
    for program in VoxelMapsCoreTests VoxelMapsCoreGoldenTests VoxelMapsTests; do
      VOXELMAPS_TEST_PROCESSOR="${processor}" run "${program}_${processor}" "${here}/${program}" \
        ${VOXELMAPS_TEST_FILTER:+--gtest_filter="${VOXELMAPS_TEST_FILTER}"}
    done
  done
  if [[ -x "${here}/VoxelMapsCudaImageTests" ]]; then
    VOXELMAPS_TEST_PROCESSOR=Cuda run VoxelMapsCudaImageTests "${here}/VoxelMapsCudaImageTests"
  fi
fi
if has python && [[ ! -d "${here}/python" ]]; then
  summary+=("python: not in this bundle")
elif has python; then
  PYTHONPATH="${here}/python" PYTHONDONTWRITEBYTECODE=1 run python python3 -m pytest -q -ra --tb=short -p no:cacheprovider \
    "${here}/python/test"
fi
if has large; then
  VOXELMAPS_TEST_PROCESSOR=Cuda VOXELMAPS_LARGE_TESTS=1 run large "${here}/VoxelMapsCoreTests" --gtest_filter='*MoreThan2To31*'
fi
if has sanitizer; then
  sanitizer="$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)"
  if [[ -n "${sanitizer}" ]]; then
    for tool in memcheck racecheck initcheck synccheck; do
      # Small cases of every method: a run under the tool takes tens to hundreds of times longer, and under racecheck more.
      cases='*SmallCases*'
      if [[ "${tool}" == racecheck ]]; then
        cases='*FewVoxels*:CudaFuzzyConnectednessJob.SmallCases:CudaNeighborClassJob/ngtdm.SmallCases:CudaFilterImageJob.SmallCases*:CudaResampleImage.*SmallCases'
      fi
      VOXELMAPS_TEST_PROCESSOR=Cuda run "sanitizer_${tool}" "${sanitizer}" --tool "${tool}" --error-exitcode 9 \
        "${here}/VoxelMapsCoreTests" --gtest_filter="${cases}"
      if [[ -x "${here}/VoxelMapsCudaImageTests" ]]; then
        # CUPTI, which counts copies, does not work under the tools.
        VOXELMAPS_TEST_PROCESSOR=Cuda run "sanitizer_${tool}_images" "${sanitizer}" --tool "${tool}" --error-exitcode 9 \
          "${here}/VoxelMapsCudaImageTests" --gtest_filter='-*AChain*'
      fi
    done
  else
    summary+=("sanitizer: no compute-sanitizer here")
  fi
fi
if has benchmarks; then
  # Only benchmarks whose names contain Cuda; each compares its result with that of the CPU.
  for program in TextureBenchmark ConnectednessBenchmark ChainBenchmark; do
    [[ -x "${here}/${program}" ]] || continue
    run "${program}" "${here}/${program}" --benchmark_filter='[/,]Cuda' --benchmark_min_time=0.02
    cat "${out}/${program}.log"
  done
fi
if has tune; then
  read -ra options <<<"${VOXELMAPS_TUNE:-}"
  run tune python3 "${here}/tune.py" --program "${here}/TextureBenchmark" "${options[@]}"
  cat "${out}/tune.log"
fi
if has papers; then
  run race "${here}/PapersBenchmark" race
  cat "${out}/race.log"
  if [[ -d "${here}/papers" ]]; then
    # Gather the .jsonl files of both papers in one folder, and papers.py --out FOLDER prints all tables.
    mkdir -p "${out}/papers"
    cp "${here}/papers/"* "${out}/papers/"
    read -ra options <<<"${VOXELMAPS_PAPERS:-}"
    run papers python3 "${here}/papers/papers.py" "${here}/PapersBenchmark" --out "${out}/papers" "${options[@]}"
    cat "${out}/papers.log"
  else
    summary+=("papers: the images are not in this bundle")
  fi
fi

echo
echo "== summary"
echo "device: ${device}"
printf '%s\n' "${summary[@]}"
echo "parts with failures: ${failures}"
exit $((failures > 0 ? 1 : 0))
