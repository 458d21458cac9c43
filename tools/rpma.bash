# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
#
# bash completion for rpma(1)

_rpma() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=''
	local common='--help --version --verbose --provider --timeout'

	COMPREPLY=()
	case $prev in
	--provider) words='auto tcp verbs' ;;
	--flush) words='persistent visibility none' ;;
	--op) words='write read write+flush write+pflush atomic-write send write-imm connect' ;;
	--mem)
		if [[ $cur == file=* ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -P file= -f -- "${cur#file=}")
			return
		fi
		compopt -o nospace
		words='file= dram memfd'
		;;
	--plot)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	if [[ -n $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "info serve put get ping bench $common" -- "$cur")
		return
	fi
	case ${COMP_WORDS[1]} in
	info) words='--mem' ;;
	serve) words='--addr --port --mem --size --direct --once --ready-fd --quiet' ;;
	put) words='--flush --verify --resume --quiet -6' ;;
	get) words='--verify --resume --quiet -6' ;;
	ping) words='--count --size --interval --quiet -6' ;;
	bench)
		words='--op --size --all --iterations --duration --depth --connections --threads
			--both --events --warmup --verify --json --csv --plot -6'
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words $common" -- "$cur")
	elif [[ ${COMP_WORDS[1]} == put || ${COMP_WORDS[1]} == get ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur"; compgen -A hostname -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
	fi
}

complete -F _rpma rpma
