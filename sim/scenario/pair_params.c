/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/pair_params.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

/* In the order of FabPlanPlace (sim/run/plan_kind.h), and behind them `any`. */
static const char *const places[] = { "inside", "between", "any", NULL };

static const FabParam cell_params[] = {
  { ROW ("place", CHOICE, FabPairCellSpec, place, "any",
         "Place of both collectives: inside a node or rack, or between nodes over NICs; any: of compute."),
    .choices = places },
  { ROW ("up_to", BYTES, FabPairCellSpec, up_to_bytes, "0B",
         "First size that the cell no longer covers; 0B: no limit.") },
  { ROW ("low", FACTOR, FabPairCellSpec, low_factor, NULL,
         "Low end of the measured ratio of two times over the predicted one."),
    .min = 0.001, .max = 1 },
  { ROW ("high", FACTOR, FabPairCellSpec, high_factor, NULL,
         "High end of the measured ratio of two times over the predicted one."),
    .min = 1, .max = 1000 },
  { ROW ("pairs", COUNT, FabPairCellSpec, n_pairs, "0",
         "Number of pairs of measured tables, or of measured runs, that the ends rest on."),
    .max = 1e6 },
  { ROW ("tables", COUNT, FabPairCellSpec, n_tables, "0",
         "Number of measured tables, or of measured runs, in these pairs."),
    .max = 1e6 },
  { ROW ("families", COUNT, FabPairCellSpec, n_families, "0",
         "Number of families of links in these pairs; of compute the number of publications."),
    .max = 1e6 },
  { .key = NULL },
};

const FabParam fab_pair_params[] = {
  { ROW (
      "name", TEXT, FabPairSpec, name, NULL,
      "Relation, such as collectives-alike: collectives or compute, and what two of them have in common.") },
  { ROW ("summary", TEXT, FabPairSpec, summary, "", "Description in one line, shown in tables.") },
  { ROW ("coverage", FRACTION, FabPairSpec, coverage_fraction, "90%",
         "Share of all cases that lie between low and high."),
    .min = 0.01, .max = 0.999 },
  { ROW ("cells", LIST, FabPairSpec, cells, NULL, "Cells by place and size."), .table = cell_params,
    .table_size = sizeof (FabPairCellSpec) },
  { ROW ("source", TEXT, FabPairSpec, source, "", "Source of the numbers.") },
  { ROW ("date", TEXT, FabPairSpec, date, "", "Date on which the source was read: 2026-11-20.") },
  { .key = NULL },
};
