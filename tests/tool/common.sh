# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
#
# common.sh -- what the tests of the tool share; to be sourced, with $top and $rpma set

# shellcheck source=tests/repo/cases.sh
. "$top/tests/repo/cases.sh"
# With RPMA_TOOL_ADDR, which is a device's: over that
if [ -z "${RPMA_TOOL_ADDR:-}" ]; then
	export RPMA_PROVIDER=tcp
fi
host=${RPMA_TOOL_ADDR:-127.0.0.1}
case $rpma in /*) ;; *) rpma=$PWD/$rpma ;; esac

# serve [OPTION...]: start a server, by the command in $serve_with; sets $server, $to
serve() {
	served=${served:-$(mktemp "$work/served.XXXXXX")} # of this case
	rm -f "$work/ready"
	mkfifo "$work/ready"
	# shellcheck disable=SC2086 # words
	${serve_with:-} "$rpma" serve --addr "$host" --port "${port:-0}" --ready-fd 3 "$@" \
		3>"$work/ready" >>"$served" 2>&1 &
	server=$!
	# shellcheck disable=SC2064 # now
	trap "kill -9 $server 2>/dev/null || :; cat '$served'" EXIT
	read -r port <"$work/ready" || {
		echo 'the server did not start'
		return 1
	}
	to=$host:$port
}

# Terminate the server: it ends well.
end_server() {
	kill -TERM "$server"
	wait "$server"
	tail -n 1 "$served" | grep '^ended after '
}

kill_server() {
	kill -9 "$server"
	wait "$server" 2>/dev/null || :
}

# run [ARGUMENT...]: rpma, its transcript shown, and kept in $work/out
run() {
	echo "\$ rpma $*"
	status=0
	"$rpma" "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
	cat "$work/stdout" "$work/stderr" >"$work/out"
	cat "$work/out"
	return $status
}

# fails STATUS WORDS [ARGUMENT...]: rpma ends so, with one line that has the words
fails() {
	expected=$1
	words=$2
	shift 2
	status=0
	run "$@" || status=$?
	test "$status" -eq "$expected"
	grep -e "$words" "$work/stderr"
	test "$(grep -c . "$work/stderr")" -le "$expected" # and one where to find help
}

# has WORDS...: the last output has them
has() {
	for words in "$@"; do
		grep -q -e "$words" "$work/out" || {
			echo "not told: $words"
			return 1
		}
	done
}

# wait_for COMMAND...: until it succeeds; 30 seconds at most
wait_for() {
	end=$(($(date +%s) + 30))
	until "$@"; do
		test "$(date +%s)" -lt $end
		sleep 0.02
	done
}

need() {
	command -v "$1" >/dev/null || {
		echo "$1 is not installed"
		exit 77
	}
}
