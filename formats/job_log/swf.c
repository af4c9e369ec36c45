/* SPDX-License-Identifier: Apache-2.0 */
/* swf.c - the Standard Workload Format: 18 numbers a line; Feitelson, parallel workloads archive, version 2.2. */
#include <math.h>

#include "formats/job_log/reading.h"

enum { SWF_FIELDS = 18 };

/* Fields 2, 4, 5, 8 and 11: submit time, run time, processors that it had, processors that it asked for, status. A job
 * that was stopped and went on has a line of its own, and one for each part of its run (status 2 to 4). */
static gboolean
read_line (FabJobLogReading *self, GError **error)
{
  double values[SWF_FIELDS];
  const char *rest = self->text->str;

  for (guint i = 0; i < SWF_FIELDS; i++) {
    char *end;

    values[i] = g_ascii_strtod (rest, &end);
    if (end == rest || !isfinite (values[i]) || fabs (values[i]) > fab_job_log_most_s)
      return fab_job_log_fail (self, error, "the Standard Workload Format has 18 numbers a line", NULL);
    rest = end;
  }
  double n = values[4] > 0 ? values[4] : values[7];
  double status = trunc (values[10]);
  if (status >= 2 && status <= 4) {
    self->log->n_left_out++;
    return TRUE;
  }
  return fab_job_log_add (self, values[1], values[3],
                          n > 0 && n <= fab_job_log_most_nodes ? ceil (n / self->gpus_per_node) : 0, 0, NULL,
                          status == 0 || status == 5 ? FAB_ENDING_FAILED : FAB_ENDING_DONE, error);
}

static gboolean
read_lines (FabJobLogReading *self, GError **error)
{
  g_autoptr (GError) problem = NULL;

  do
    if (!read_line (self, error))
      return FALSE;
  while (fab_job_log_next (self, &problem));
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static gboolean
is_swf (const FabFileText *text)
{
  const char *line = text->text;
  guint n = 0;

  for (char *end; *line != '\0'; line = end, n++) {
    g_ascii_strtod (line, &end);
    if (end == line)
      break;
  }
  return n == SWF_FIELDS;
}

const FabFileFormat fab_file_swf = {
  .name = "Standard Workload Format",
  .kind = FAB_FILE_JOB_LOG,
  .recognises = is_swf,
  .read.job_log = read_lines,
};
