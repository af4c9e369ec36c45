/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/topics.h"

#include "cli/help/glossary.h"
#include "models/models.h"
#include "sim/collective/collective.h"

/* Models of a kind, a line each. (transfer full) */
static char *
rows_of (FabModelKind kind)
{
  GString *out = g_string_new (NULL);

  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info != NULL; info++)
    g_string_append_printf (out, "  %-16s  %s\n", (*info)->name, (*info)->summary);
  return g_string_free (out, FALSE);
}

static char *
fabric_rows (void)
{
  return rows_of (FAB_MODEL_FABRIC);
}

static char *
algorithm_rows (void)
{
  return rows_of (FAB_MODEL_ALGORITHM);
}

static char *
fidelity_rows (void)
{
  return rows_of (FAB_MODEL_NET);
}

const FabTopic fab_topics[] = {
  { .name = "start",
    .summary = "the first steps, for people who know PyTorch and no networking",
    .text =
        "Fabricast simulates training: you describe the machines, the network and the job in a YAML file, and it\n"
        "predicts the time of a step. No GPU is needed.\n"
        "\n"
        "1. Simulate PyTorch's DDP on one machine with 8 GPUs:\n"
        "\n"
        "  fabricast run hello\n"
        "\n"
        "The first figure is the time of a step. `exposed` is the part in which the GPUs wait for the network. The\n"
        "timeline at the end shows compute and communication one above the other.\n"
        "\n"
        "2. Change one thing. Two machines have to send gradients over the network cards between them:\n"
        "\n"
        "  fabricast run hello --set cluster.nodes=2\n"
        "\n"
        "3. Ask why, and look up a word:\n"
        "\n"
        "  fabricast explain hello\n"
        "  fabricast help glossary all-reduce\n"
        "\n"
        "4. Find out how fast the network has to be:\n"
        "\n"
        "  fabricast size hello --set cluster.nodes=2 --vary cluster.nic_rate=10..400Gb/s:10 "
        "--target 'exposed<=10%'\n" },
  { .name = "scenario",
    .summary = "the YAML file that every command reads",
    .text =
        "A scenario says which machines there are (cluster), what joins them (cluster.fabric), what they do (job),\n"
        "and how closely the network is simulated (fidelity). This is a whole one:\n"
        "\n"
        "  name: mine\n"
        "  cluster: {node: dgx-h100, nodes: 4}\n"
        "  job: {kind: ddp, model: llama2-7b, micro_batch: 1, recompute: selective}\n"
        "\n"
        "`--set KEY=VALUE` changes a key for one run, for example `--set cluster.nodes=8`. A key that does not exist\n"
        "is an error, and the message names the nearest one.\n"
        "\n"
        "  fabricast check hello\n"
        "  fabricast describe scenario\n"
        "  fabricast describe job ddp\n"
        "  fabricast describe nodes\n"
        "  fabricast describe models\n"
        "\n"
        "The first prints a scenario with every default filled in. The others list all keys, the keys of one kind\n"
        "of job, the machines and the neural networks.\n" },
  { .name = "fabrics",
    .summary = "the networks that can join the machines",
    .text =
        "A fabric is the network between the machines: switches and cables. Key `cluster.fabric` chooses its\n"
        "kind. `fabricast describe fabric NAME` lists the keys of a kind, and `fabricast topo SCENARIO` draws it.\n"
        "\n"
        "  fabricast topo scenarios/fabric-ddp-rail.yaml --only fabric\n"
        "\n"
        "These kinds exist:\n"
        "\n",
    .rows = fabric_rows },
  { .name = "collectives",
    .summary = "all-reduce and its like, and how a library carries them out",
    .text =
        "A collective is an operation that all GPUs of a group do together. DDP uses all-reduce for gradients;\n"
        "FSDP and ZeRO use all-gather and reduce-scatter; expert parallelism uses all-to-all.\n"
        "\n"
        "A library such as NCCL chooses an algorithm for each call. Fabricast makes the same choice. To see it,\n"
        "with the time and the bandwidth that nccl-tests would print:\n"
        "\n"
        "  fabricast collective --node dgx-h100 --nodes 2 --op all_reduce -b 1M -e 1G\n"
        "\n"
        "These algorithms exist:\n"
        "\n",
    .rows = algorithm_rows },
  { .name = "fidelity",
    .summary = "how closely the network is simulated, and what each level costs",
    .text =
        "Every level predicts the same figures. A finer one sees more and takes longer. `fluid` is the default;\n"
        "`fabricast run` warns when a scenario has effects that the chosen level does not see.\n"
        "\n"
        "  fabricast compare hello --fidelity analytic,fluid\n"
        "\n"
        "These levels exist:\n"
        "\n",
    .rows = fidelity_rows },
  { .name = "exposed",
    .summary = "exposed communication: what training pays for the network",
    .text =
        "While a GPU computes, its network cards can work at the same time. That communication is overlapped, and\n"
        "costs almost nothing. Communication that goes on while the GPU does not compute is exposed: the step is\n"
        "longer by it.\n"
        "\n"
        "  step = compute + exposed + idle\n"
        "\n"
        "A faster network can win back exposed time only. Idle time has other causes: slow GPUs, and pipeline\n"
        "stages that wait for each other. These commands say where exposed time comes from and what removes it:\n"
        "\n"
        "  fabricast explain hello exposed\n"
        "  fabricast tune hello\n" },
  { .name = "bands",
    .summary = "how far a predicted figure may be off",
    .text =
        "A prediction without its error is half an answer. Below a figure, `band` is the interval in which it lies\n"
        "in 90 % of cases. It comes from how far predictions of the same kind were from published measurements.\n"
        "\n"
        "Runs of your own machine make it narrower: `fabricast measure` and `fabricast calibrate` fit the links.\n"
        "\n"
        "  fabricast describe bands\n"
        "  fabricast validate --summary\n"
        "\n"
        "The second compares predicted collectives with every published table that comes with the program.\n" },
  { .name = "units",
    .summary = "how times, sizes and rates are written",
    .text =
        "Every quantity has its unit; a bare number is an error. `b` is a bit and `B` a byte, so 400Gb/s and 50GB/s\n"
        "are the same rate. Rates are those of one direction. Vendors often print both directions together:\n"
        "NVLink \"900 GB/s\" is 450GB/s here.\n"
        "\n"
        "  time       ps ns us ms s min h d       600ns\n"
        "  size       B kB MB GB, KiB MiB GiB     25MiB\n"
        "  rate       a size/s, or Gb/s           400Gb/s\n"
        "  fraction   none, or %                  50%\n" },
  { .name = "results",
    .summary = "the file that a run leaves, and what can be asked of it",
    .text =
        "`fabricast run` and `fabricast sweep` store every iteration, collective and busy link in an SQLite file,\n"
        "fabricast.db unless `--db` names another. `fabricast query` answers questions from it, or runs your SQL;\n"
        "`fabricast report` makes an HTML page of it, and `fabricast trace` a trace for Perfetto.\n"
        "\n"
        "  fabricast describe queries\n" },
  { .name = "completion",
    .summary = "how <Tab> completes commands, options and names",
    .text =
        "Packages and `./dev install` put completions for bash, zsh and fish where these shells look for them; a\n"
        "new shell has them. Where the program was not installed, this prints them:\n"
        "\n"
        "  fabricast help completion bash > ~/.local/share/bash-completion/completions/fabricast\n"
        "  fabricast help completion zsh > ~/.zfunc/_fabricast\n"
        "  fabricast help completion fish > ~/.config/fish/completions/fabricast.fish\n"
        "\n"
        "zsh reads ~/.zfunc when `fpath+=~/.zfunc` stands before `compinit` in ~/.zshrc.\n" },
  { .name = "terminal",
    .summary = "colours, width and pictures, and how to change them",
    .text =
        "On a terminal, text is fitted to its width and has colours. A file or a pipe gets whole lines without\n"
        "colours, so that other programs can read them.\n"
        "\n"
        "  --color=WHEN          auto (default), always or never; FABRICAST_COLOR says the same\n"
        "  NO_COLOR=1            switches colours off\n"
        "  CLICOLOR_FORCE=1      switches colours on, in pipes too\n"
        "  COLUMNS=N             sets the width in place of the terminal's own\n"
        "\n"
        "Curves are drawn with characters of Unicode where the locale is UTF-8, and with ASCII elsewhere.\n" },
  { .name = "environment",
    .summary = "the variables that the program reads",
    .text =
        "These variables change what every command does:\n"
        "\n"
        "  FABRICAST_DATA        directory with catalog, measured and scenarios, in place of the installed one\n"
        "  FABRICAST_CATALOG     directory of the catalogue alone\n"
        "  FABRICAST_THREADS     number of threads for independent scenarios (default: one per processor)\n"
        "  FABRICAST_MEMORY      memory that a run may take, as 64GB\n"
        "  FABRICAST_PLUGINS     directories of modules of `fabricast measure`, separated by colons\n"
        "  FABRICAST_COLOR       auto, always or never (see `fabricast help terminal`)\n" },
  { .name = "exit-codes",
    .summary = "what a script learns from the exit code",
    .text = "The exit code says how a command ended:\n"
            "\n"
            "  0  The command is done.\n"
            "  1  A target or gate was not met, or the simulated job hangs.\n"
            "  2  The input is wrong, or a file cannot be read or written.\n"
            "  3  It is not possible on this machine.\n" },
  { .name = "glossary",
    .summary = "the words of the field: `fabricast help glossary TERM` explains one",
    .text =
        "These terms have an entry. `fabricast help glossary TERM` prints it, and so does `fabricast help TERM`\n"
        "where no command or topic has that name.\n"
        "\n",
    .rows = fab_glossary_list },
  { .name = NULL },
};
