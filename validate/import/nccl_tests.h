/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tests.h - what nccl-tests (or rccl-tests) printed, as text or as the JSON of its -J.
 *
 * Text of any version: columns are found by the names in its header lines, so that tables without redop or root and
 * those with the columns of -C, -I, -S are read as well. Lines of NCCL_DEBUG, and labels that srun -l and
 * mpirun --tag-output put before a line, are passed over. A file with several tables gives the first.
 */
#pragma once

#include "sim/work/collective.h"

typedef struct {
  FabBytes size_bytes;
  guint64 count;
  double time_us; /* 0: it printed the CPU's time only (-C) */
  double algbw_GBps, busbw_GBps;
  double in_place_busbw_GBps; /* < 0: not there */
  double n_wrong;             /* of both; 0 where it was not checked */
} FabNcclTestsRow;

typedef struct {
  char *program;         /* "all_reduce_perf"; NULL: the file does not say */
  char *type;            /* "float"; NULL: it does not say */
  guint n_ranks;         /* 0: it does not say */
  guint n_nodes;         /* hosts with different names; 0: it does not say */
  guint gpus_per_thread; /* nccl-tests -g; 0: it does not say */
  guint n_tables;
  GArray *rows; /* FabNcclTestsRow, at least one; sizes above 0 */
} FabNcclTests;

/* `name` stands for the path in messages. NULL and *error (FAB_ERROR_INPUT) when there is no table in it, or a row of
 * it is broken. */
FabNcclTests *fab_nccl_tests_parse (const char *name, const char *data, gsize size, GError **error);
void fab_nccl_tests_free (FabNcclTests *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNcclTests, fab_nccl_tests_free)

/* Of the library of parsers: an empty result, and the half that reads JSON. */
FabNcclTests *fab_nccl_tests_new (void);
FabNcclTests *fab_nccl_tests_parse_json (const char *name, const char *data, gsize size, GError **error);
