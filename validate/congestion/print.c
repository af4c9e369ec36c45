/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - scenes of congestion as text, CSV, JSON and as docs/reference/validation-congestion.md. */
#include "sim/result/table.h"
#include "validate/congestion/report.h"

static const char page_head[] =
    "# Congestion control against the simulator of its authors\n"
    "\n"
    "This page is for researchers who cite figures of [`packet`](../models/packet.md) under congestion.\n"
    "`fabricast validate congestion --format markdown` writes it, and a test keeps it up to date and fails when a\n"
    "difference is above its limit.\n"
    "\n"
    "The other side is ns-3 of the authors of HPCC (github.com/alibaba-edu/High-Precision-Congestion-Control,\n"
    "commit 9f4be2a9), whose DCQCN is that of their adapters' vendor. Both sides play the same list of flows\n"
    "(`validate/congestion/scenes`), over the same links, with the values of its `run.py`: packets of 1000 bytes,\n"
    "links of 1 us, marks from 100 kB to 400 kB per 25 Gb/s, 32 MB of memory per switch and 100 Gb/s with an\n"
    "alpha of 1/8.\n"
    "\n"
    "A slow-down is the completion time of a flow, until its sender has the last acknowledgement, over the time\n"
    "of the same flow on an idle network. Each cell is `theirs / ours (difference)`. Quantiles are nearest ranks.\n"
    "Limits are 10 % for medians and 20 % for 99th percentiles. A percentile in brackets is not judged, because\n"
    "it is that of one flow among fewer than a hundred.\n"
    "\n"
    "## How the other side was recorded\n"
    "\n"
    "On 2026-11-29, with Python 2.7 and g++ 12:\n"
    "\n"
    "    git clone https://github.com/alibaba-edu/High-Precision-Congestion-Control\n"
    "    cd High-Precision-Congestion-Control/simulation\n"
    "    CXXFLAGS='-std=c++11 -fpermissive -w -O2' ./waf configure -d optimized --disable-python --disable-gtk \\\n"
    "      --enable-modules=core,network,internet,point-to-point,applications,config-store,tools,mpi,bridge\n"
    "    ./waf build && build/scratch/third CONFIG\n"
    "\n"
    "`CONFIG` is what `run.py --cc dcqcn`, `--cc hp` or `--cc timely` writes for the `--bw` of the scene, with\n"
    "`KMIN_MAP` and the like for every rate of the topology, and `QLEN_MON_START` behind the end.\n"
    "A flow is the line `FROM TO 3 100 BYTES T`, where T is 2 s and its `at_ns`. `alone_ns` is the last column\n"
    "of its `fct` file. The flows of WebSearch and Hadoop were drawn by [traffic](../models/traffic.md) with\n"
    "`pattern: random`, `arrivals: poisson` and seed 1.\n"
    "\n"
    "## What made both differ\n"
    "\n"
    "Each of these was found in the authors' source, and no number was fitted:\n"
    "\n"
    "- Acknowledgements wait behind data in the switches (`ack`). `AckHighPrio` of its switches is never set, so\n"
    "  that this is so with `ACK_HIGH_PRIO 1` too. Without it, medians of DCQCN at 70 % load were 13 to 17 %\n"
    "  lower here.\n"
    "- A packet is marked when it leaves (`mark_at: dequeue`), so that senders hear one queue earlier.\n"
    "- A sender of DCQCN cuts every 4 us while it hears of marks, and the third rise after a cut is a hyper\n"
    "  increase.\n"
    "- HPCC's U begins at 1, and the first report only begins a round trip. Its reports take 42 bytes of every\n"
    "  packet, and its window counts payload but is the line's rate with headers times T.\n"
    "- TIMELY's round trip begins when a packet leaves its adapter. When it began with the packet that the\n"
    "  adapter holds behind another one, the median of an incast of two flows at 25 Gb/s was 20 % lower here.\n"
    "- Flows of one adapter take turns: one whose next packet is due goes before the one that was served last.\n"
    "\n"
    "What is left: its times are whole nanoseconds, rounded down, which makes a packet of 83.84 ns at 100 Gb/s 1\n"
    "% shorter; its queues count headers, 4.8 % more; its uplinks have an alpha of 1/2; and its marks are drawn\n"
    "from other random numbers. DCQCN was therefore played with four seeds (`NS_GLOBAL_VALUE=RngRun=N`), whose\n"
    "flows are taken together: from one seed to the next the median of two flows of an incast moved by 33 %, and\n"
    "a 99th percentile by up to 15 %.\n"
    "\n"
    "DCTCP and HPCC-PINT are in that simulator and not here. [Swift](../models/swift.md) is not in it:\n"
    "its rules are held against its paper by `tests/unit/models/congestion/test_congestion.c`.\n";

static const char *const columns[] = { "scene", "control",    "sizes", "flows", "quantile", "theirs",
                                       "ours",  "difference", "limit", "why",   NULL };

static void
add_pair (FabTable *table, const FabCongestionRow *row, const char *name, const FabCongestionPair *pair)
{
  fab_table_add_text (table, row->scene->name);
  fab_table_add_text (table, row->control);
  fab_table_add_text (table, row->sizes);
  fab_table_add_integer (table, row->n_flows);
  fab_table_add_text (table, name);
  fab_table_add_real (table, pair->theirs);
  fab_table_add_real (table, pair->ours);
  fab_table_add_real (table, fab_congestion_pair_difference (pair));
  fab_table_add_real (table, pair->limit_fraction);
  fab_table_add_text (table, row->why);
}

static FabTable *
table_of (const GArray *rows)
{
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);

    add_pair (table, row, "median", &row->median);
    add_pair (table, row, "p99", &row->p99);
  }
  return table;
}

char *
fab_congestion_to_csv (const GArray *rows)
{
  g_autoptr (FabTable) table = table_of (rows);

  return fab_table_to_csv (table);
}

char *
fab_congestion_to_json (const GArray *rows)
{
  g_autoptr (FabTable) table = table_of (rows);

  return fab_table_to_json (table);
}

/* "1.45 / 1.43 (-1.2 %)", in brackets when it is not judged. (transfer full) */
static char *
shown (const FabCongestionPair *pair)
{
  gboolean is_judged = pair->limit_fraction > 0;

  return g_strdup_printf ("%s%.2f / %.2f (%+.1f %%)%s", is_judged ? "" : "[", pair->theirs, pair->ours,
                          100 * fab_congestion_pair_difference (pair), is_judged ? "" : "]");
}

static void
append_sum (GString *text, const GArray *rows)
{
  guint n = 0, n_met = 0, n_own = 0;

  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);
    const FabCongestionPair *pairs[] = { &row->median, &row->p99 };

    for (guint k = 0; k < G_N_ELEMENTS (pairs); k++)
      if (pairs[k]->limit_fraction > 0) {
        n++;
        n_met += fab_congestion_pair_is_met (pairs[k]);
      }
    n_own += row->why != NULL;
  }
  g_string_append_printf (text,
                          "%u of %u quantiles are within their limits. %u rows have a limit of their own.\n",
                          n_met, n, n_own);
}

char *
fab_congestion_to_text (const GArray *rows)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "  %-16s\v %-7s\v %-9s\v %5s\v %26s\v %26s\n", "scene", "control", "sizes",
                          "flows", "median: theirs / ours", "p99: theirs / ours");
  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);
    g_autofree char *median = shown (&row->median), *p99 = shown (&row->p99);

    g_string_append_printf (text, "  %-16s\v %-7s\v %-9s\v %5u\v %26s\v %26s\n", row->scene->name,
                            row->control, row->sizes, row->n_flows, median, p99);
  }
  g_string_append (text, "\nSlow-downs: completion time over that on an idle network.\n");
  append_sum (text, rows);
  return g_string_free (text, FALSE);
}

char *
fab_congestion_to_markdown (const GArray *rows)
{
  GString *text = g_string_new (page_head);
  const FabCongestionScene *scene = NULL;

  g_string_append (text, "\n## Scenes\n\n");
  append_sum (text, rows);
  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);
    g_autofree char *median = shown (&row->median), *p99 = shown (&row->p99);

    if (row->scene != scene)
      g_string_append_printf (
          text,
          "\n### %s\n\n%s.\n\n| control | sizes | flows | median of slow-downs | p99 | |\n"
          "|---|---|---:|---:|---:|---|\n",
          row->scene->name, row->scene->title);
    scene = row->scene;
    g_string_append_printf (text, "| %s | %s | %u | %s | %s | %s |\n", row->control, row->sizes, row->n_flows,
                            median, p99, row->why != NULL ? row->why : "");
  }
  return g_string_free (text, FALSE);
}
