/* SPDX-License-Identifier: Apache-2.0 */
/* host_run.h - the host of backends (host.h): how often a size is measured, and where that is kept.
 *
 * A size is warmed up until its samples are long beside the clock and 10 ms have passed. Then samples are taken, each
 * kept in the file before the next, until the confidence interval of the median is narrow enough or a limit is
 * reached. Points that are complete are left alone; samples of points that are not count.
 */
#pragma once

#include "validate/measure/host.h"
#include "validate/measure/samples.h"

typedef struct {
  double precision_fraction;      /* half the confidence interval's width over the median */
  guint min_samples, max_samples; /* of a point */
  FabTimePs max_time_ps;          /* of a point, but at least 6 samples, so that there is an interval */
} FabHostLimits;

typedef struct {
  const FabSeries *series;
  const FabMeasuredPoint *point; /* so far; n_samples 0: warming up */
  guint n_sizes, n_done;         /* of this series */
} FabHostProgress;

/* Who looks on; every function may be NULL. */
typedef struct {
  gpointer data;
  void (*progress) (gpointer data, const FabHostProgress *progress);
  void (*note) (gpointer data, const char *note);
  gboolean (*is_cancelled) (gpointer data);
} FabHostPerson;

/* `samples` NULL: for an end that only serves. What is handed in must outlive the host. */
FabMeasureHost *fab_host_new (const FabMeasurePlan *plan, const FabHostLimits *limits, FabSamples *samples,
                              const FabHostPerson *person);
void fab_host_free (FabMeasureHost *host);

/* Was it this host that measured (or skipped) this series? */
gboolean fab_host_has_series (const FabMeasureHost *host, const FabSeries *series);
/* Was there any? */
gboolean fab_host_has_any (const FabMeasureHost *host);

/* "node7: AMD EPYC 7763, 128 CPUs": equal texts are the same machine. (transfer full) */
char *fab_machine_name (void);
/* cpu, cpus, memory, kernel, host, date, fabricast, into the file. */
void fab_machine_describe (FabMeasureHost *host);
