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

_fabricast_listed() { # WORDS: the last of a list with commas
  local before=''
  [[ $current == *,* ]] && before=${current%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${current##*,}")
}

_fabricast_files() { # GLOB: files like it, and folders
  mapfile -t COMPREPLY < <(compgen -f -X "!$1" -- "$current"; compgen -d -- "$current")
  compopt -o filenames 2>/dev/null
}

_fabricast_scenarios() { # PROGRAM: files like it, folders, and the names of those that come with the program
  mapfile -t COMPREPLY < <(compgen -f -X '!*.yaml' -- "$current"; compgen -d -- "$current"
    compgen -W "$(_fabricast_names "$1" scenarios)" -- "$current")
  compopt -o filenames 2>/dev/null
}

_fabricast_options() { # COMMAND
  case $1 in
    run) echo --brief --full --rows --format --db --no-db --no-band --no-bottleneck --no-fold --no-memo --allow-oversized --iterations --fidelity --seed --seeds --trace --set --help ;;
    check) echo --set --quiet --help ;;
    compare) echo --rows --fidelity --vary --against --at-equal --by --set --hold --seeds --format --allow-oversized --no-band --help ;;
    plan) echo --strategies --memory --by --top --out --set --seeds --format --allow-oversized --help ;;
    explain) echo --collective --set --format --allow-oversized --help ;;
    tune) echo --knobs --by --memory --out --set --seeds --format --allow-oversized --help ;;
    upgrade) echo --brief --budget --only --grow --top --out --set --seeds --hold --format --allow-oversized --no-band --help ;;
    whatif) echo --fault --sharp --nvls --nic --domain --gpus --nodes --set --base --hold --seeds --format --allow-oversized --no-band --help ;;
    scale) echo --gpus --strong --hold --efficiency --no-band --set --seeds --format --allow-oversized --help ;;
    size) echo --brief --vary --target --set --hold --seeds --format --allow-oversized --help ;;
    sweep) echo --vary --zip --set --hold --db --jobs --seeds --format --allow-oversized --band --help ;;
    mix) echo --rows --set --allow-oversized --format --help ;;
    goodput) echo --set --trials --format --allow-oversized --no-band --help ;;
    cost) echo --rows --prices --write-prices --set --seeds --format --allow-oversized --no-band --help ;;
    help) echo --help ;;
    describe) echo --names --schema --sequence --format --help ;;
    collective)
      echo --node --nodes --gpus-per-node --ngpus --nthreads --nic --with --fabric --op --datatype --minbytes \
        --maxbytes --stepfactor --stepbytes --iters --warmup_iters --check-data --library --algorithm --protocol --env \
        --set --form --no-band --check --tolerance --check-from --json --format --help
      ;;
    p2p) echo --node --nodes --gpus-per-node --nic --with --no-band --storage --set --format --help ;;
    calibrate)
      echo --base --name --out --date --format --series --system --from --to --method --memory --min-size --max-size \
        --holdout --count --hops --help
      ;;
    topo) echo --node --nodes --design --units --only --all --check --set --format --help ;;
    validate) echo --format --summary --accept --measured --set --with --help ;;
    measure)
      echo --listen --peer --gpu --shapes --sizes --kinds --precision --min-samples --max-samples --time --window --timeout --once \
        --session-limit --secret-file --set --out --format --help
      ;;
    import)
      echo --from --out --accelerator --nic --name --nodes --system --source --size --ranks --op --steps --format --db --on \
        --model --calibrate --with-waiting --help
      ;;
    report) echo --db --run --sweep --for --csv --svg --out --help ;;
    explore) echo --port --listen --seeds --set --help ;;
    query) echo --db --run --sweep --sql --max-rows --time-limit --format --help ;;
    export) echo --output --format --messages --set --help ;;
    bundle) echo --db --run --with --help ;;
    trace) echo --output --format --db --run --iteration --iterations --ranks --with-waiting --help ;;
  esac
}

_fabricast_takes_value() { # OPTION
  case $1 in
    --no-db | --no-band | --band | --strong | --no-fold | --no-memo | --once | --quiet | --names | --schema | --storage | --summary | --messages | --with-waiting | --help | --version | -q | -h) return 1 ;;
    -*) return 0 ;;
    *) return 1 ;;
  esac
}

_fabricast_value() { # PROGRAM COMMAND OPTION
  case $2:$3 in
    validate:--format) _fabricast_words 'text json csv markdown' ;;
    trace:--format) _fabricast_words 'chrome kineto' ;;
    export:--format) _fabricast_words 'chakra goal' ;;
    topo:--format) _fabricast_words 'text matrix dot svg json' ;;
    describe:--format) _fabricast_words 'text json markdown' ;;
    *:--format) _fabricast_words 'text json csv' ;;
    *:--db) _fabricast_files '*.db' ;;
    *:--accept | *:--with) _fabricast_files '*.yaml' ;;
    *:--secret-file | *:--measured) _fabricast_files '' ;;
    whatif:--sharp | whatif:--nvls) _fabricast_words 'on off' ;;
    whatif:--fault)
      _fabricast_words 'link= nic= rail= switch= gpu='
      compopt -o nospace 2>/dev/null
      ;;
    *:--hold) _fabricast_words 'batch micro_batch' ;;
    upgrade:--only) _fabricast_listed 'setting nic nics fabric domain node nodes' ;;
    compare:--at-equal) _fabricast_words 'step exposed exposed_time mfu tokens train memory' ;;
    compare:--fidelity) _fabricast_listed "$(_fabricast_names "$1" fidelity)" ;;
    *:--fidelity | compare:--against) _fabricast_words "$(_fabricast_names "$1" fidelity)" ;;
    *:--fabric) _fabricast_words "$(_fabricast_names "$1" fabric)" ;;
    *:--node) _fabricast_words "$(_fabricast_names "$1" nodes)" ;;
    *:--design) _fabricast_words "$(_fabricast_names "$1" designs)" ;;
    *:--accelerator) _fabricast_words "$(_fabricast_names "$1" accelerators)" ;;
    import:--from)
      _fabricast_words 'nvidia-smi nccl-xml rocm-smi amd-smi hwloc ibnetdiscover huggingface perftest perftest-json nvbandwidth
        nvbandwidth-json p2pBandwidthLatencyTest nccl-tests osu fabtests csv torchtitan nanotron deepspeed training-arguments accelerate megatron'
      ;;
    report:--for) _fabricast_words 'planning' ;;
    report:--svg) _fabricast_words 'timeline exposed sweep wait' ;;
    report:--csv)
      _fabricast_words 'runs iterations exposed overlap classes exposure critical-path memory collectives collective-totals
        links queues binding timeline sweep sweep-best sweep-problems'
      ;;
    report:--out | report:-o) _fabricast_files '*.html' ;;
    run:--trace | trace:--output | trace:-o) _fabricast_files '*.json' ;;
    measure:--kinds) _fabricast_words 'latency exchange bandwidth bidirectional collective' ;;
    measure:--out | measure:-o) _fabricast_files '*.meas' ;;
    measure:--set) COMPREPLY=() ;;
    import:--out | import:-o) _fabricast_files '*.@(yaml|meas)' ;;
    calibrate:--out | calibrate:-o) _fabricast_files '*.yaml' ;;
    *:--nic | *:--base) _fabricast_words "$(_fabricast_names "$1" links)" ;;
    *:--op | *:-o)
      _fabricast_words 'all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv gather scatter'
      ;;
    *:--datatype | *:-d) _fabricast_words 'float half bfloat16 double int8 uint8 int32 uint32 int64 uint64' ;;
    *:--library) _fabricast_words "$(_fabricast_names "$1" collectives)" ;;
    *:--algorithm) _fabricast_words "$(_fabricast_names "$1" algorithm)" ;;
    *:--protocol) _fabricast_words 'll ll128 simple' ;;
    *:--form) _fabricast_words 'stream closed step' ;;
    *:--check | *:--json | *:-J) _fabricast_files '' ;;
    *:--env | *:-x)
      _fabricast_words 'NCCL_ALGO= NCCL_PROTO= NCCL_NVLS_ENABLE= NCCL_COLLNET_ENABLE= NCCL_MIN_NCHANNELS=
        NCCL_MAX_NCHANNELS= NCCL_P2P_DISABLE= NCCL_P2P_LEVEL= NCCL_NET_GDR_LEVEL='
      compopt -o nospace 2>/dev/null
      ;;
    *:--set)
      _fabricast_words 'seed= iterations= cluster. fidelity= collectives= job.'
      compopt -o nospace 2>/dev/null
      ;;
  esac
}

_fabricast_argument() { # PROGRAM COMMAND ARGUMENT-SO-FAR...
  case $2:$(($# - 2)) in
    run:0 | check:0 | compare:* | whatif:0 | scale:0 | size:0 | sweep:0 | explore:0 | plan:0 | tune:0 | upgrade:0 | explain:0 | cost:0 | goodput:0 | mix:0 | p2p:0 | topo:0) _fabricast_scenarios "$1" ;;
    import:*) _fabricast_files '' ;;
    report:0) _fabricast_files '*.json' ;;
    describe:0) _fabricast_words "$(_fabricast_names "$1")" ;;
    describe:1)
      case $3 in
        scenario | scenarios | queries) ;;
        *) _fabricast_words "$(_fabricast_names "$1" "$3")" ;;
      esac
      ;;
    measure:0) _fabricast_words "show $(_fabricast_names "$1" measure)" ;;
    measure:1) [ "$3" = show ] && _fabricast_files '*.meas' ;;
    query:0) _fabricast_words "$(_fabricast_names "$1" queries)" ;;
    help:0)
      _fabricast_words 'run check compare whatif scale size sweep plan tune upgrade explain cost goodput mix describe collective p2p topo import measure calibrate validate query trace export bundle report explore
        start scenario fabrics collectives fidelity exposed bands units results completion terminal environment exit-codes glossary'
      ;;
    help:1) [ "$3" = glossary ] && _fabricast_words "$(_fabricast_names "$1" glossary)" ;;
  esac
}

_fabricast() {
  local program=${COMP_WORDS[0]/#\~/$HOME} command=${COMP_WORDS[1]} current=$2
  local arguments=() waiting='' word i

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _fabricast_words 'run check compare whatif scale size sweep plan tune upgrade explain cost goodput mix describe collective p2p topo import measure calibrate validate query trace export bundle report explore version help --version --help'
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
