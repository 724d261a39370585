# Sourced in the top folder of the checkout: puts what builds the wheels, in the versions of wheel-requirements.txt, onto PATH.
tools="${PWD}/build/wheel/tools"
if ! cmp --quiet scripts/wheel-requirements.txt "${tools}/made-from.txt"; then
  rm -rf "${tools}"
  /usr/bin/python3 -m venv "${tools}"
  "${tools}/bin/pip" --quiet --disable-pip-version-check install -r scripts/wheel-requirements.txt >&2
  cp scripts/wheel-requirements.txt "${tools}/made-from.txt"
fi
export PATH="${tools}/bin:${PATH}" PIP_DISABLE_PIP_VERSION_CHECK=1

# The same commit makes the same wheels: its date in all files, no names of folders in the libraries, and no order of Python's
# sets in the annotations that ITK writes.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH PYTHONHASHSEED=0 CFLAGS="${CFLAGS:-} -ffile-prefix-map=${PWD}/=" CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=${PWD}/="
