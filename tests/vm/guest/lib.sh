# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
#
# lib.sh -- shared by the parts of the tests in the guest (bash, sourced); each is a
# script of this folder that tests/vm/inside calls with the build folder
# shellcheck shell=bash disable=SC2034
set -u
build=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
near=10.77.0.1 # at rdma0
far=10.77.0.2  # at rdma1
failed=0

# what the test runner counts, in cmocka's words
begin() { echo "[ RUN      ] $1"; }
good() { echo "[       OK ] $1"; }
bad() {
	echo "[  FAILED  ] $1"
	failed=1
}
skipped() { # CASE REASON
	echo "$2"
	echo "[  SKIPPED ] $1"
}

# check CASE COMMAND...: a case that is good when the command is; its output shows
check() {
	local case=$1 status=0
	shift
	begin "$case"
	"$@" 2>&1 || status=$?
	if [ $status -eq 0 ]; then good "$case"; else echo "status $status" && bad "$case"; fi
}

# a program with cases of its own
run_cases() {
	local status=0 started=$SECONDS
	echo "-- ${1##*/}"
	timeout 120 "$@" || status=$?
	echo "$((SECONDS - started)) s"
	[ $status -eq 0 ] || {
		echo "${1##*/}: status $status"
		failed=1
	}
}
