/* SPDX-License-Identifier: Apache-2.0 */
/* efficiency.h - how fast whole models run beside what a roofline of their operators says: an entry of the catalogue's
 * `efficiencies`.
 *
 * A cell is an entry for one generation, precision and software stack. An entry that leaves one of them out is an
 * effect: a factor for all cells that agree in what it names. The scale of a cell that has no entry is the product of
 * the effects that fit: the one that names nothing (the mean), that of the generation, of the precision, of the stack.
 */
#pragma once

#include "sim/base/units.h"

typedef enum {
  FAB_EFFICIENCY_SOURCES,    /* several publications */
  FAB_EFFICIENCY_ONE_SOURCE, /* a single one */
  FAB_EFFICIENCY_ASSUMED,    /* none */
} FabEfficiencyEvidence;

typedef struct {
  const char *name, *summary;
  const char *generation, *precision, *stack; /* NULL: all */
  double scale_factor;                        /* on the rates of kernels */
  FabTimePs issue_ps;                         /* host time to issue a kernel; 0: that of the stack's effect */
  double low_factor, high_factor;             /* 90 % band: measured time of a step over predicted time */
  gint64 n_rows, n_groups, n_sources;         /* that it rests on */
  int evidence;                               /* FabEfficiencyEvidence */
  const char *source, *date;
} FabEfficiency;

/* What stands for the three. */
typedef struct {
  const char *generation, *precision, *stack;
  gboolean
      is_anchored; /* in place of the three: of compute that a measured run fixed, the entry `anchored` */
} FabEfficiencyKey;

/* Of compute whose time somebody measured. It names a stack that no job has, so that it is no effect. */
#define FAB_EFFICIENCY_ANCHORED "anchored"

/* Share of all cases between `low` and `high` of an entry. */
#define FAB_EFFICIENCY_COVERAGE 0.9

/* How sure a prediction is: the compute of a job takes as many times as long as `factor` says. It is asked once, with
 * what is known of such compute. */
typedef struct {
  double (*factor) (gpointer owner, const FabEfficiency *known);
  gpointer owner;
} FabComputeScale;

/* What was found for a key. */
typedef struct {
  FabEfficiency
      values;       /* name NULL: a product of effects, and generation, precision and stack are the key's */
  gboolean is_cell; /* an entry names all three */
  gboolean knows_generation, knows_precision, knows_stack; /* some entry is of it */
} FabEfficiencyFound;
