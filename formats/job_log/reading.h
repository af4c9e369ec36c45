/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - what readers of logs of jobs share: lines, rows and mistakes. */
#pragma once

#include "formats/format.h"
#include "formats/job_log/job_log.h"
#include "formats/text/bytes.h"

struct _FabJobLogReading {
  FabFileBytes *bytes;
  FabJobLog *log;
  guint gpus_per_node;
  GString *text; /* of the present line, without blanks at its end */
  guint line;    /* number of the present line */
};

typedef enum { FAB_ENDING_DONE, FAB_ENDING_FAILED, FAB_ENDING_PREEMPTED } FabJobEnding;

/* What a sane log holds: 3000 years. */
static const double fab_job_log_most_s = 1e11, fab_job_log_most_nodes = 1e9;

/* Goes to the next line that is neither empty nor a comment, which `;` or `#` begins. FALSE without *error: the end. */
gboolean fab_job_log_next (FabJobLogReading *self, GError **error);

/* Adds a row of the log; counts it as left out where it did not run, had no node or has no time of arrival (NAN). */
gboolean fab_job_log_add (FabJobLogReading *self, double submit_s, double duration_s, double n_nodes,
                          gint64 priority, const char *kind, FabJobEnding ending, GError **error);

/* Sets *error to "file:line: message", with `text` in quotes behind it unless it is NULL. Returns FALSE. */
gboolean fab_job_log_fail (const FabJobLogReading *self, GError **error, const char *message,
                           const char *text);
