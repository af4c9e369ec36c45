/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - `fabricast calibrate FILE...`: turns measurements into entries of links or of an accelerator. */
#include <stdio.h>
#include <string.h>

#include "cli/files.h"
#include "cli/hardware/fit_options.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "validate/fit/accelerator.h"
#include "validate/fit/print.h"

typedef struct {
  FabFitOptions fit;
  char *base, *name, *out, *date, *format_name;
} CalibrateOptions;

static const FabUsage usage = {
  .arguments = "FILE...",
  .summary =
      "Fits a link to measurements: files of `fabricast measure`, output of perftest, OSU, nvbandwidth and\n"
      "others, or plain CSV. It prints an entry for each link, as YAML that a scenario can include. With -o it\n"
      "writes the entries to a file and prints the fit.\n\n"
      "Every third size is held out. The numbers are fitted to the other sizes, and the error is that of the\n"
      "sizes held out.\n\n"
      "With --base ACCELERATOR the kernels of the files become an entry of that accelerator: products and\n"
      "kernels that move memory, of `fabricast measure compute` or of a table. Every second kernel is held out.",
  .examples =
      "  fabricast calibrate validate/measured/kernels/h100_gemm.csv --base h100-sxm5-80gb --format text\n"
      "  fabricast calibrate docs/examples/link.csv --base efa-v1 --name lab-efa -o lab-efa.yaml\n"
      "  fabricast calibrate docs/examples/link.csv --holdout 20% > lab-efa.yaml\n",
  .min_rest = 1,
  .max_rest = 1000,
};

static const FabLinkSpec *
find_base (const FabCatalog *catalog, const char *name, GError **error)
{
  const FabLinkSpec *link = fab_catalog_link (catalog, name);

  if (link == NULL) {
    g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
    const char *nearest = fab_nearest (name, names);

    fab_throw (
        error, FAB_ERROR_INPUT,
        "--base: no link and no accelerator is called '%s'%s%s; `fabricast describe links` and `fabricast describe "
        "accelerators` list them",
        name, nearest ? "; nearest is " : "", nearest ? nearest : "");
  }
  return link;
}

/* Checks "2026-11-20", the form of an entry's `date`. */
static gboolean
check_date (const char *text, GError **error)
{
  gint year, month, day;
  char rest;

  if (strlen (text) == 10 && sscanf (text, "%4d-%2d-%2d%c", &year, &month, &day, &rest) == 3
      && g_date_valid_dmy ((GDateDay) day, (GDateMonth) month, (GDateYear) year))
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "--date '%s' is not a date; write for example 2026-11-20", text);
}

/* Fails when an entry would only be its base under another name; the notes say what is missing. */
static gboolean
check_measured (const FabFragment *fragment, GError **error)
{
  g_autoptr (GString) why = g_string_new (NULL);
  const GPtrArray *lists[] = { fragment->fit->notes, fragment->notes };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint k = 0; k < lists[i]->len; k++)
      g_string_append_printf (why, "%s%s", why->len > 0 ? "; " : "",
                              (const char *) g_ptr_array_index (lists[i], k));
  return fragment->is_measured
      || fab_throw (error, FAB_ERROR_INPUT, "the measurements give no number of a link entry: %s", why->str);
}

/* Leaves out one of several links when it has no rate, with a note. */
static gboolean
is_left_out (const GPtrArray *groups, const FabLinkGroup *group, const FabLinkFit *fit,
             const FabFragmentRequest *request)
{
  if (groups->len == 1 || request->base || fab_link_fit_has_rate (fit))
    return FALSE;
  g_printerr ("fabricast calibrate: link '%s' is left out, because no measurement gives its rate\n",
              group->suffix);
  return TRUE;
}

/* Fits the links in sequence. `fits` and `fragments` own the results. */
static gboolean
fit_links (const GPtrArray *groups, const FabFitChoice *choice, FabFragmentRequest *request, GPtrArray *fits,
           GPtrArray *fragments, GError **error)
{
  for (guint i = 0; i < groups->len; i++) {
    const FabLinkGroup *group = g_ptr_array_index (groups, i);
    FabLinkFit *fit = fab_link_fit_new (group->series, &choice->sizes, error);
    FabFragment *fragment;

    if (fit)
      g_ptr_array_add (fits, fit);
    if (fit && is_left_out (groups, group, fit, request))
      continue;
    request->suffix = groups->len > 1 ? group->suffix : NULL;
    fragment = fit ? fab_fragment_new (fit, request, error) : NULL;
    if (fragment == NULL) {
      if (groups->len > 1)
        g_prefix_error (error, "link '%s': ", group->suffix);
      return FALSE;
    }
    g_ptr_array_add (fragments, fragment);
    if (!check_measured (fragment, error))
      return FALSE;
  }
  return fragments->len > 0
      || fab_throw (error, FAB_ERROR_INPUT,
                    "no rate is known of any of these %u links; measure more sizes, or choose one link with "
                    "--series and name a similar entry with --base",
                    groups->len);
}

static char *
print_fit (FabFormat format, const GPtrArray *fragments)
{
  if (format == FAB_FORMAT_JSON)
    return fab_fits_to_json (fragments);
  return format == FAB_FORMAT_CSV ? fab_fits_to_csv (fragments) : fab_fits_to_text (fragments);
}

/* Prints the entry alone, or the fit too; only the fit when just its format was requested. */
static gboolean
hand_out (const CalibrateOptions *o, FabFormat format, const GPtrArray *fragments,
          const FabFragmentRequest *request, GError **error)
{
  g_autofree char *yaml = fab_fragments_yaml (fragments, request);

  fab_cli_keep_stdout (o->out);
  if (o->out && !fab_cli_write_file (o->out, yaml, error))
    return FALSE;
  g_autofree char *text = o->out || o->format_name ? print_fit (format, fragments) : g_steal_pointer (&yaml);
  g_print ("%s", text);
  return TRUE;
}

static GPtrArray *
find_links (const CalibrateOptions *o, const GPtrArray *series, const FabFitChoice *choice, GError **error)
{
  g_autoptr (GPtrArray) groups = fab_link_groups_new (series, &choice->filter, error);
  g_autofree char *names = groups ? fab_link_groups_list (groups) : NULL;

  if (groups == NULL || groups->len == 1 || o->base == NULL)
    return g_steal_pointer (&groups);
  fab_throw (error, FAB_ERROR_INPUT,
             "--base is for one link, but these are %u links: %s; choose one with --series, or leave "
             "--base out",
             groups->len, names);
  return NULL;
}

/* The entry of an accelerator, from the kernels of the files. */
static gboolean
calibrate_accelerator (const CalibrateOptions *o, const GPtrArray *series, FabFormat format,
                       const FabAcceleratorRequest *request, GError **error)
{
  g_autoptr (FabAcceleratorFit) fit = NULL;
  g_autofree char *yaml = NULL, *text = NULL;

  if (!fab_accelerator_has_kernels (series))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--base %s is an accelerator, but no kernel was measured; `fabricast measure compute` measures them",
        request->base->name);
  fit = fab_accelerator_fit_new (series, request, error);
  if (fit == NULL)
    return FALSE;
  yaml = fab_accelerator_fit_yaml (fit, request);
  fab_cli_keep_stdout (o->out);
  if (o->out && !fab_cli_write_file (o->out, yaml, error))
    return FALSE;
  text = !o->out && !o->format_name ? g_steal_pointer (&yaml)
       : format == FAB_FORMAT_JSON  ? fab_accelerator_fit_to_json (fit)
       : format == FAB_FORMAT_CSV   ? fab_accelerator_fit_to_csv (fit)
                                    : fab_accelerator_fit_to_text (fit);
  g_print ("%s", text);
  return TRUE;
}

/* Fails when only kernels were measured: no link can be made of them. */
static gboolean
check_links (const GPtrArray *series, GError **error)
{
  for (guint i = 0; i < series->len; i++)
    if (!fab_measure_kind_is_kernel (
            ((const FabMeasuredSeries *) g_ptr_array_index (series, i))->series.kind))
      return TRUE;
  return !fab_accelerator_has_kernels (series)
      || fab_throw (
          error, FAB_ERROR_INPUT,
          "the files hold kernels of an accelerator and no link; name the accelerator with --base, such as --base "
          "h100-sxm5-80gb");
}

static gboolean
calibrate (const CalibrateOptions *o, char **files, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *today = g_date_time_format (now, "%Y-%m-%d");
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (GPtrArray) series = NULL, groups = NULL;
  g_autoptr (GPtrArray) fits = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_link_fit_free);
  g_autoptr (GPtrArray) fragments = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_fragment_free);
  FabFitChoice choice;
  FabFormat format;
  FabFragmentRequest request = { .name = o->name,
                                 .version = FAB_VERSION,
                                 .date = o->date ? o->date : today,
                                 .files = (const char *const *) files };

  if (o->name && *o->name == '\0')
    return fab_throw (error, FAB_ERROR_INPUT, "--name must not be empty");
  if (o->name && g_utf8_validate (o->name, -1, NULL) && fab_unprintable (o->name, "") != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--name holds the invisible character U+%04X, so no scenario could name the entry; "
                      "remove it",
                      fab_unprintable (o->name, ""));
  if (!fab_cli_check_out ("--out", o->out, files, error) || !fab_cli_format (o->format_name, &format, error)
      || !fab_fit_options_read (&o->fit, &choice, error) || !check_date (request.date, error)
      || (catalog = fab_cli_catalog (error)) == NULL)
    return FALSE;
  if (o->base && fab_catalog_accelerator (catalog, o->base)) {
    FabAcceleratorRequest accelerator = { .base = fab_catalog_accelerator (catalog, o->base),
                                          .name = o->name,
                                          .date = request.date,
                                          .version = FAB_VERSION,
                                          .files = request.files };

    return (series = fab_cli_series (files, error)) != NULL
        && calibrate_accelerator (o, series, format, &accelerator, error);
  }
  if (o->base && (request.base = find_base (catalog, o->base, error)) == NULL)
    return FALSE;
  request.count = choice.count;
  request.hops = choice.hops;
  return (series = fab_cli_series (files, error)) != NULL && check_links (series, error)
      && (groups = find_links (o, series, &choice, error)) != NULL
      && fit_links (groups, &choice, &request, fits, fragments, error)
      && hand_out (o, format, fragments, &request, error);
}

static void
options_clear (CalibrateOptions *o)
{
  fab_fit_options_clear (&o->fit);
  g_free (o->base);
  g_free (o->name);
  g_free (o->out);
  g_free (o->date);
  g_free (o->format_name);
}

static FabExit
run (int argc, char **argv)
{
  CalibrateOptions o = { .fit = FAB_FIT_OPTIONS_DEFAULT };
  const GOptionEntry entries[] = {
    { "base", 0, 0, G_OPTION_ARG_STRING, &o.base,
      "Link or accelerator entry for the numbers that were not measured (default: none)", "ENTRY" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o.name,
      "Name of the entry (default: a link base's with -measured, an accelerator base's own)", "NAME" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the entry here and print the fit", "FILE" },
    { "date", 0, 0, G_OPTION_ARG_STRING, &o.date, "Date of the entry (default: today)", "DAY" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "Print the fit as text, json or csv", "FORMAT" },
    FAB_FIT_OPTION_ENTRIES (&o.fit),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && calibrate (&o, argv + 1, &error);

  options_clear (&o);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("calibrate", error);
}

const FabCommand fab_command_calibrate = {
  .name = "calibrate",
  .summary = "Fit a link or an accelerator to its measurements",
  .run = run,
  .prints_data = TRUE,
};
