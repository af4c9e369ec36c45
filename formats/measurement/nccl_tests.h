/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tests.h - reads what nccl-tests (or rccl-tests) printed, as text or as the JSON of its -J.
 *
 * The text may be of any version: columns are found by the names in its header lines, so tables without redop or root
 * and those with the columns of -C, -I, -S are read as well. Lines of NCCL_DEBUG are skipped, as are the labels that
 * srun -l and mpirun --tag-output put before a line. Of several tables in a file the first is read. Rows without their
 * header are read where the last eight columns say which they are.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct {
  FabBytes size_bytes;
  guint64 count;
  double time_us; /* 0: the file has only the CPU's time (-C) */
  double algbw_GBps, busbw_GBps;
  double in_place_busbw_GBps; /* < 0: not in the file */
  double n_wrong; /* wrong elements, out of place and in place; 0 where results were not checked */
} FabNcclTestsRow;

typedef struct {
  char *program;         /* "all_reduce_perf"; NULL: unknown */
  char *type;            /* "float"; NULL: unknown */
  guint n_ranks;         /* 0: unknown */
  guint n_nodes;         /* number of different host names; 0: unknown */
  guint gpus_per_thread; /* nccl-tests -g; 0: unknown */
  guint n_tables;
  GArray *rows; /* FabNcclTestsRow, at least one; sizes above 0 */
} FabNcclTests;

/* Parses a file; `name` names it in messages. Returns NULL and sets *error (FAB_ERROR_INPUT) when it has no table
 * or a row of it is broken. (transfer full) */
FabNcclTests *fab_nccl_tests_parse (const char *name, const char *data, gsize size, GError **error);
/* Says whether some line is a row of such a table, whatever stands above it. */
gboolean fab_nccl_tests_has_row (const char *data, gsize size);
void fab_nccl_tests_free (FabNcclTests *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNcclTests, fab_nccl_tests_free)
