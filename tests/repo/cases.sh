# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
#
# cases.sh -- test cases in shell, told in cmocka's lines; to be sourced, without
# "set -e", which would end the script at the first failing case.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# check FUNCTION [ARGUMENT...]: one case. Any failing command in it fails it; ending
# it with 77 skips it, its output being the reason.
check() {
	printf '[ RUN      ] %s\n' "$*"
	(
		set -e
		"$@"
	) >"$work/output" 2>&1
	case $? in
	0) printf '[       OK ] %s\n' "$*" ;;
	77)
		cat "$work/output"
		printf '[  SKIPPED ] %s\n' "$*"
		;;
	*)
		cat "$work/output"
		printf '[  FAILED  ] %s\n' "$*"
		failures=$((failures + 1))
		;;
	esac
}
