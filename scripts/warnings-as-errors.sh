#!/usr/bin/env bash
# Print ON if warnings should stop our builds: with the compiler of Debian 12, which CI uses. Others may have new warnings.
set -euo pipefail
if [[ "$(g++ -dumpversion 2>/dev/null)" == 12 ]]; then
  echo ON
else
  echo OFF
fi
