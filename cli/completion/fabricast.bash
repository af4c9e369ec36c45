# bash completion of fabricast(1)                                            -*- shell-script -*-
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

# Names that the program knows: the sections, or the models or catalogue entries of one.
_fabricast_names() { # PROGRAM [SECTION]
  "$1" describe --names "${@:2}" 2>/dev/null
}

# These fill COMPREPLY with what begins like the current word ($current of _fabricast).
_fabricast_words() { # WORDS
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_fabricast_files() { # GLOB: files like it, and folders
  mapfile -t COMPREPLY < <(compgen -f -X "!$1" -- "$current"; compgen -d -- "$current")
  compopt -o filenames 2>/dev/null
}

_fabricast_options() { # COMMAND
  case $1 in
    run) echo --format --db --no-db --iterations --fidelity --seed --set --help ;;
    check) echo --set --quiet --help ;;
    describe) echo --names --schema --help ;;
    collective)
      echo --node --nodes --gpus-per-node --nic --fabric --op --minbytes --maxbytes --stepfactor --stepbytes \
        --set --format --help
      ;;
    validate) echo --format --summary --accept --measured --set --help ;;
    query) echo --db --run --sql --format --help ;;
  esac
}

_fabricast_takes_value() { # OPTION
  case $1 in
    --no-db | --quiet | --names | --schema | --summary | --help | --version | -q | -h) return 1 ;;
    -*) return 0 ;;
    *) return 1 ;;
  esac
}

_fabricast_value() { # PROGRAM COMMAND OPTION
  case $2:$3 in
    validate:--format) _fabricast_words 'text json csv markdown' ;;
    *:--format) _fabricast_words 'text json csv' ;;
    *:--db) _fabricast_files '*.db' ;;
    *:--accept) _fabricast_files '*.yaml' ;;
    *:--measured) _fabricast_files '' ;;
    *:--fidelity) _fabricast_words "$(_fabricast_names "$1" fidelity)" ;;
    *:--fabric) _fabricast_words "$(_fabricast_names "$1" fabric)" ;;
    *:--node) _fabricast_words "$(_fabricast_names "$1" nodes)" ;;
    *:--nic) _fabricast_words "$(_fabricast_names "$1" links)" ;;
    *:--op | *:-o) _fabricast_words 'all_reduce all_gather reduce_scatter broadcast reduce' ;;
    *:--set)
      _fabricast_words 'seed= iterations= cluster. fidelity= collectives= job.'
      compopt -o nospace 2>/dev/null
      ;;
  esac
}

_fabricast_argument() { # PROGRAM COMMAND ARGUMENT-SO-FAR...
  case $2:$(($# - 2)) in
    run:0 | check:0) _fabricast_files '*.yaml' ;;
    describe:0) _fabricast_words "$(_fabricast_names "$1")" ;;
    describe:1)
      case $3 in
        scenario | queries) ;;
        *) _fabricast_words "$(_fabricast_names "$1" "$3")" ;;
      esac
      ;;
    query:0) _fabricast_words "$(_fabricast_names "$1" queries)" ;;
    help:0) _fabricast_words 'run check describe collective validate query version' ;;
  esac
}

_fabricast() {
  local program=${COMP_WORDS[0]/#\~/$HOME} command=${COMP_WORDS[1]} current=$2
  local arguments=() waiting='' word i

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _fabricast_words 'run check describe collective validate query version help --version --help'
    return
  fi
  # Bash splits `a=b` in three words; what follows an equals sign belongs to what stands before it.
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = = ]; then
      [[ ${COMP_WORDS[i - 1]} == --* ]] && waiting=${COMP_WORDS[i - 1]} || waiting=value
    elif [ -n "$waiting" ]; then
      waiting=
    elif _fabricast_takes_value "$word"; then
      waiting=$word
    elif [[ $word != -* ]]; then
      arguments+=("$word")
    fi
  done
  if [ "${COMP_WORDS[COMP_CWORD]}" = = ]; then
    current=''
    waiting=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  if [ -n "$waiting" ]; then
    _fabricast_value "$program" "$command" "$waiting"
  elif [[ $current == -* ]]; then
    _fabricast_words "$(_fabricast_options "$command")"
  else
    _fabricast_argument "$program" "$command" "${arguments[@]}"
  fi
}

complete -F _fabricast fabricast
