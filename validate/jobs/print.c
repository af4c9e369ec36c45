/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - public configurations as text, CSV, JSON and as docs/reference/validation-jobs.md. */
#include <math.h>

#include "sim/result/table.h"
#include "validate/check/errors.h"
#include "validate/jobs/jobs.h"

static const char page_head[] =
    "# Public configurations, and the step that they give\n"
    "\n"
    "`fabricast validate jobs --format markdown` writes this page, and a test keeps it up to date.\n"
    "\n"
    "Each configuration is one of a public project. It is read as `fabricast import job` reads it, put on the\n"
    "machine of the published run, and played with the catalogue alone, as `fabricast run` does it. *Changes* are\n"
    "what the run set beside the file, as its source says. A published rate is shown as the seconds that the batch\n"
    "of the configuration takes at it. *Band* is what `fabricast run` prints beside the step.\n"
    "\n"
    "*Row* says whether the same run is one of the [training runs](validation-training.md): `new`: it is not, and\n"
    "nothing of the catalogue rests on it; `judged`: it is, and calibrates nothing; `calibrates`: factors of the\n"
    "catalogue's setups, and so the band, rest on it among others.\n"
    "\n"
    "difference = ours / published - 1.\n";

static const char *const columns[] = { "name",
                                       "file",
                                       "kind",
                                       "node",
                                       "nodes",
                                       "gpus",
                                       "published_s",
                                       "ours_s",
                                       "low_s",
                                       "high_s",
                                       "difference_fraction",
                                       "is_inside",
                                       "role",
                                       "changes",
                                       "source",
                                       "settings",
                                       "licence",
                                       "note",
                                       NULL };

static gboolean
is_published (const FabPublicJob *job)
{
  return job->published_s > 0;
}

/* Of a published one. No positive step is inside of a band that is not there, from 0 to 0. */
static gboolean
is_inside (const FabPublicJob *job)
{
  return job->published_s >= job->low_s && job->published_s <= job->high_s;
}

static double
difference (const FabPublicJob *job)
{
  return job->ours_s / job->published_s - 1;
}

static void
add_real_or_null (FabTable *table, gboolean is_known, double value)
{
  if (is_known)
    fab_table_add_real (table, value);
  else
    fab_table_add_null (table);
}

static FabTable *
table_of (const GArray *jobs)
{
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < jobs->len; i++) {
    const FabPublicJob *job = &g_array_index (jobs, FabPublicJob, i);
    const FabPublicJobSpec *spec = job->spec;

    fab_table_add_text (table, spec->name);
    fab_table_add_text (table, spec->file);
    fab_table_add_text (table, job->kind);
    fab_table_add_text (table, spec->node);
    fab_table_add_integer (table, spec->nodes);
    fab_table_add_integer (table, spec->gpus);
    add_real_or_null (table, is_published (job), job->published_s);
    fab_table_add_real (table, job->ours_s);
    add_real_or_null (table, job->high_s > 0, job->low_s);
    add_real_or_null (table, job->high_s > 0, job->high_s);
    add_real_or_null (table, is_published (job), is_published (job) ? difference (job) : 0);
    fab_table_add_text (table, !is_published (job) ? NULL : is_inside (job) ? "yes" : "no");
    fab_table_add_text (table, is_published (job) ? fab_public_role_names[spec->role] : NULL);
    fab_table_add_text (table, spec->changes);
    fab_table_add_text (table, spec->source);
    fab_table_add_text (table, spec->settings);
    fab_table_add_text (table, spec->licence);
    fab_table_add_text (table, spec->note);
  }
  return table;
}

char *
fab_public_jobs_to_csv (const GArray *jobs)
{
  g_autoptr (FabTable) table = table_of (jobs);

  return fab_table_to_csv (table);
}

char *
fab_public_jobs_to_json (const GArray *jobs)
{
  g_autoptr (FabTable) table = table_of (jobs);

  return fab_table_to_json (table);
}

/* Adds of how many of the published steps that calibrate, or that do not, the band holds. */
static void
append_share (GString *text, const GArray *jobs, gboolean calibrates, const char *what)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  guint n_inside = 0;

  for (guint i = 0; i < jobs->len; i++) {
    const FabPublicJob *job = &g_array_index (jobs, FabPublicJob, i);

    if (!is_published (job) || (job->spec->role == FAB_PUBLIC_CALIBRATES) != calibrates)
      continue;
    double error = difference (job);
    g_array_append_val (errors, error);
    n_inside += is_inside (job);
  }
  if (errors->len == 0)
    return;
  g_autofree FabBytes *places = g_new0 (FabBytes, errors->len);
  g_string_append_printf (
      text, "Of runs that %s %u of %u published steps lie in the band; the median difference is %.1f %%.\n",
      what, n_inside, errors->len,
      fab_errors_of ((const double *) (gpointer) errors->data, places, errors->len).median_fraction * 100);
}

static void
append_sum (GString *text, const GArray *jobs)
{
  g_string_append_printf (text, "%u %s read and played.\n", jobs->len,
                          jobs->len == 1 ? "configuration is" : "configurations are");
  append_share (text, jobs, FALSE, "calibrate nothing");
  append_share (text, jobs, TRUE, "calibrate");
}

/* "5.72", "-". (transfer full) */
static char *
seconds (gboolean is_known, double value_s)
{
  return is_known ? g_strdup_printf ("%.4g", value_s) : g_strdup ("-");
}

/* "+3.1 %", "-". (transfer full) */
static char *
difference_text (const FabPublicJob *job)
{
  return is_published (job) ? g_strdup_printf ("%+.1f %%", difference (job) * 100) : g_strdup ("-");
}

/* "4.1 to 6.2", "-". (transfer full) */
static char *
band_text (const FabPublicJob *job)
{
  return job->high_s > 0 ? g_strdup_printf ("%.4g to %.4g", job->low_s, job->high_s) : g_strdup ("-");
}

static const char *
inside_text (const FabPublicJob *job)
{
  return !is_published (job) ? "-" : is_inside (job) ? "yes" : "no";
}

char *
fab_public_jobs_to_text (const GArray *jobs)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%-28s\v %-8s\v %-13s\v %5s\v %11s\v %8s\v %10s\v %18s\v %6s\n",
                          "configuration", "kind", "node", "GPUs", "published s", "ours s", "difference",
                          "band s", "inside");
  for (guint i = 0; i < jobs->len; i++) {
    const FabPublicJob *job = &g_array_index (jobs, FabPublicJob, i);
    g_autofree char *published = seconds (is_published (job), job->published_s);
    g_autofree char *ours = seconds (TRUE, job->ours_s), *away = difference_text (job),
                    *band = band_text (job);

    g_string_append_printf (text,
                            "%-28s\v %-8s\v %-13s\v %5" G_GINT64_FORMAT "\v %11s\v %8s\v %10s\v %18s\v %6s\n",
                            job->spec->name, job->kind, job->spec->node, job->spec->gpus, published, ours,
                            away, band, inside_text (job));
  }
  g_string_append_c (text, '\n');
  append_sum (text, jobs);
  return g_string_free (text, FALSE);
}

static void
append_row (GString *text, const FabPublicJob *job)
{
  g_autofree char *published = seconds (is_published (job), job->published_s);
  g_autofree char *ours = seconds (TRUE, job->ours_s), *away = difference_text (job), *band = band_text (job);

  g_string_append_printf (text, "| %s | %s | %" G_GINT64_FORMAT " %s | %s | %s | %s | %s | %s | %s |\n",
                          job->spec->name, job->kind, job->spec->gpus, job->spec->node, published, ours, away,
                          band, inside_text (job),
                          is_published (job) ? fab_public_role_names[job->spec->role] : "-");
}

static void
append_source (GString *text, const FabPublicJob *job)
{
  const FabPublicJobSpec *spec = job->spec;

  g_string_append_printf (text, "- **%s**: settings of %s (%s).", spec->name, spec->settings, spec->licence);
  if (spec->changes != NULL)
    g_string_append_printf (text, " Changes: `%s`.", spec->changes);
  if (is_published (job) && spec->tokens_s_gpu > 0)
    g_string_append_printf (text, " Published: %g tokens/s per GPU, %s.", spec->tokens_s_gpu, spec->source);
  else if (is_published (job))
    g_string_append_printf (text, " Published: %g s, %s.", spec->step_s, spec->source);
  else
    g_string_append (text, " No step of it is published, as far as is known here.");
  if (spec->note != NULL)
    g_string_append_printf (text, " %s.", spec->note);
  g_string_append_c (text, '\n');
}

char *
fab_public_jobs_to_markdown (const GArray *jobs)
{
  GString *text = g_string_new (page_head);

  g_string_append_c (text, '\n');
  append_sum (text, jobs);
  g_string_append (
      text,
      "\n| configuration | kind | machine | published s | ours s | difference | band s | inside | row |\n"
      "|---|---|---|---:|---:|---:|---:|---|---|\n");
  for (guint i = 0; i < jobs->len; i++)
    append_row (text, &g_array_index (jobs, FabPublicJob, i));
  g_string_append (text, "\n## Sources\n\n");
  for (guint i = 0; i < jobs->len; i++)
    append_source (text, &g_array_index (jobs, FabPublicJob, i));
  return g_string_free (text, FALSE);
}
