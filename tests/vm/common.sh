# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
#
# common.sh -- shared by the scripts of this folder (bash, sourced)
# shellcheck shell=bash disable=SC2034

# some systems leave the PATH of root without sbin
PATH=$PATH:/usr/sbin:/sbin
cache=${RPMA_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/librpma-vm}

say() { echo "${0##*/}: $*" >&2; }

# What is wrong with this machine, not with the library: the caller skips. The
# reason goes to stdout, where the test runner looks for it.
cannot() {
	echo "$*"
	exit 77
}

need_tools() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || cannot "'$tool' is missing; tests/vm/prepare installs it"
	done
}
