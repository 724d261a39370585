#!/usr/bin/env bash
# Run what scripts/gpu-bundle.sh collected, on a machine with a GPU:
#   run-gpu-tests.sh [--only PARTS] [--out FOLDER]
# PARTS is a comma-separated list of
#   tests       all tests, golden suite included; those of the core with every CUDA method
#   large       a volume of more than 2^31 voxels: needs 22 GB of memory
#   python      the Python tests, with the wheel; needs Python 3.11 or later, NumPy and pytest
#   sanitizer   compute-sanitizer (memcheck, racecheck, initcheck, synccheck) on small cases
#   check       that all programs that are measured give the same results
#   benchmarks  the measurements of the benchmark programs on the device, in about 4 minutes, or only some of them:
#               r1, paper, r2, windows, connectedness; prints their tables, if there is Python
# Without --only: tests, python and sanitizer. Prints a summary; the exit code is 0 if nothing failed.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
parts="tests,python,sanitizer"
out="${here}/out"
while (($# > 0)); do
  case "$1" in
    --only) parts="$2" ;;
    --out) out="$2" ;;
    *) sed -n '2,13p' "${BASH_SOURCE[0]}" && exit 2 ;;
  esac
  shift 2
done
mkdir -p "${out}"
export LD_LIBRARY_PATH="${here}/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
export VOXELMAPS_BENCHMARK_DATA="${here}/data"

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
    for program in VoxelMapsCoreTests VoxelMapsCoreGoldenTests VoxelMapsTests VoxelMapsGoldenTests; do
      VOXELMAPS_TEST_PROCESSOR="${processor}" run "${program}_${processor}" "${here}/${program}" \
        ${VOXELMAPS_TEST_FILTER:+--gtest_filter="${VOXELMAPS_TEST_FILTER}"}
    done
  done
fi
# methods FILTER METHOD...: the tests of one filter with each method. Those of the engines always run all methods.
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
        cases='*FewVoxels*:CudaFuzzyConnectednessJob.SmallCases:CudaGrayToneDifferenceJob.SmallCases'
      fi
      VOXELMAPS_TEST_PROCESSOR=Cuda run "sanitizer_${tool}" "${sanitizer}" --tool "${tool}" --error-exitcode 9 \
        "${here}/VoxelMapsCoreTests" --gtest_filter="${cases}"
    done
  else
    summary+=("sanitizer: no compute-sanitizer here")
  fi
fi
if has check; then
  run RunLengthBenchmark_check "${here}/RunLengthBenchmark" --check
  run FuzzyConnectednessBenchmark_check "${here}/FuzzyConnectednessBenchmark" --check
fi

# measure TABLES PROGRAM FILTER REPETITIONS: the results go to TABLES.json.
results=()
measure() {
  run "benchmark_$1" "${here}/$2" --benchmark_filter="$3" --benchmark_repetitions="$4" --benchmark_min_time=0.02 \
    --benchmark_out="${out}/$1.json"
  if grep -q 'no CUDA device' "${out}/benchmark_$1.log"; then
    failures=$((failures + 1))
    summary+=("benchmark_$1: no CUDA device")
  fi
  results+=("${out}/$1.json")
}
if has benchmarks || has r1; then
  measure r1 RunLengthBenchmark '^r1/' 15
fi
if has benchmarks || has paper; then
  measure paper RunLengthBenchmark '^paper/' 15
  measure figure11 RunLengthBenchmark '^figure11/' 1
fi
if has benchmarks || has r2; then
  measure r2 RunLengthBenchmark '^(r2|floor)/' 3
fi
if has benchmarks || has windows; then
  measure windows RunLengthBenchmark '^windows/' 1
fi
if has benchmarks || has connectedness; then
  measure connectedness-cuda FuzzyConnectednessBenchmark '^connectedness-cuda/' 3
  measure labels-cuda FuzzyConnectednessBenchmark '^labels-cuda/' 3
  measure connectedness-papers FuzzyConnectednessBenchmark '^connectedness-papers/' 2
fi
if ((${#results[@]} > 0)); then
  python3 "${here}/tables.py" "${results[@]}" | tee "${out}/tables.md" || failures=$((failures + 1))
fi

echo
echo "== summary"
echo "device: ${device}"
printf '%s\n' "${summary[@]}"
echo "parts with failures: ${failures}"
exit $((failures > 0 ? 1 : 0))
