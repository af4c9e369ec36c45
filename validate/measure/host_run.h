/* SPDX-License-Identifier: Apache-2.0 */
/* host_run.h - the host of backends (host.h): decides how often a size is measured, and keeps the samples.
 *
 * It warms a size up until a sample is long compared with the clock's resolution and 10 ms have passed. Then it takes
 * samples and keeps each in the file before the next, until the confidence interval of the median is narrow enough or
 * a limit is reached. Complete points are not measured again; incomplete points continue with the samples they have.
 */
#pragma once

#include "validate/measure/host.h"
#include "validate/measure/samples.h"

typedef struct {
  double precision_fraction;      /* half the confidence interval's width over the median */
  guint min_samples, max_samples; /* of a point */
  FabTimePs max_time_ps; /* of a point; at least 6 samples are taken, because fewer give no interval */
} FabHostLimits;

typedef struct {
  const FabSeries *series;
  const FabMeasuredPoint *point; /* as measured so far; n_samples 0: warming up */
  guint n_sizes, n_done;         /* sizes of this series */
} FabHostProgress;

/* Receives what a person should see; every function may be NULL. */
typedef struct {
  gpointer data;
  void (*progress) (gpointer data, const FabHostProgress *progress);
  void (*note) (gpointer data, const char *note);
  gboolean (*is_cancelled) (gpointer data);
} FabHostPerson;

/* Makes a host. `samples` is NULL for an end that only serves. The host points to its arguments, which must outlive
 * it. (transfer full) */
FabMeasureHost *fab_host_new (const FabMeasurePlan *plan, const FabHostLimits *limits, FabSamples *samples,
                              const FabHostPerson *person);
void fab_host_free (FabMeasureHost *host);

/* Says whether this host measured (or skipped) the series. */
gboolean fab_host_has_series (const FabMeasureHost *host, const FabSeries *series);

/* Says whether this host measured (or skipped) any series. */
gboolean fab_host_has_any (const FabMeasureHost *host);

/* Writes cpu, cpus, memory, kernel, host, date and fabricast to the file. */
void fab_machine_describe (FabMeasureHost *host);
