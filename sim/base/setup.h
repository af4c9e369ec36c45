/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h - what published runs take beyond what is priced by name: an entry of the catalogue's `setups`.
 *
 * The price of a step has kernels, copies and communication by name. Published runs take longer, for reasons that they
 * do not publish: waiting for the host or for another rank, a data loader, a filesystem, a slow node. No kernel is
 * slower for it, so the factor is on the computation of jobs with several ranks, and the band says how far runs differ.
 */
#pragma once

#include "sim/base/units.h"

typedef enum {
  FAB_SETUP_SOURCES,    /* several publications */
  FAB_SETUP_ONE_SOURCE, /* a single one */
  FAB_SETUP_ASSUMED,    /* none */
} FabSetupEvidence;

typedef struct {
  const char *name, *summary;
  const char *stack;                  /* software stack; NULL: all others */
  double time_factor;                 /* on the priced time of the computation */
  double low_factor, high_factor;     /* 90 % band: measured time over predicted time */
  gint64 n_rows, n_groups, n_sources; /* that it rests on */
  int evidence;                       /* FabSetupEvidence */
  const char *source, *date;
  const char *generation, *precision; /* of the job that it was found for; NULL in the catalogue */
} FabSetup;

/* What stands for the entry. */
typedef struct {
  const char *stack;
  gboolean is_anchored; /* in place of it: of compute that a measured run fixed, the entry `anchored` */
  gboolean has_experts; /* in place of the stack's: of jobs whose ranks divide experts, the entry `experts` */
} FabSetupKey;

/* Of compute whose time somebody measured. It names a stack that no job has. */
#define FAB_SETUP_ANCHORED "anchored"
/* Of jobs whose ranks divide the experts of a model. */
#define FAB_SETUP_EXPERTS "experts"

/* Share of all cases between `low` and `high` of an entry. */
#define FAB_SETUP_COVERAGE 0.9

/* How sure a prediction is: the compute of a job takes as many times as long as `factor` says. It is asked once, with
 * what is known of such compute. */
typedef struct {
  double (*factor) (gpointer owner, const FabSetup *known);
  gpointer owner;
} FabComputeScale;
