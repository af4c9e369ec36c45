/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <string.h>

#include "cli/help/forms.h"
#include "cli/memory.h"
#include "cli/shipped.h"
#include "cli/terminal/fold.h"
#include "cli/terminal/rows.h"
#include "cli/terminal/terminal.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/thread_pool.h"
#include "sim/scenario/scenario_params.h"

static void
print_help (GOptionContext *context)
{
  g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);
  g_auto (GStrv) parts = g_strsplit (help, "\u2026", -1); /* some terminals lack the ellipsis */
  g_autofree char *plain = g_strjoinv ("...", parts);

  g_print ("%s\n", g_strchomp (plain));
}

/* Returns the entry of an argument, "--name", "--name=value", "-n" or "-nvalue"; NULL when there is none. */
static const GOptionEntry *
entry_of (const GOptionEntry *entries, const char *argument)
{
  gboolean is_long = g_str_has_prefix (argument, "--");
  gsize length = strcspn (argument, "=");

  for (const GOptionEntry *entry = entries; entry && entry->long_name; entry++)
    if (is_long ? strlen (entry->long_name) + 2 == length
                      && strncmp (argument + 2, entry->long_name, length - 2) == 0
                : argument[0] == '-' && argument[1] != '\0' && argument[1] == entry->short_name)
      return entry;
  return NULL;
}

static gboolean
has_row (const FabParam *table, const char *key)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, key) == 0)
      return TRUE;
  return FALSE;
}

/* Whether the mapping, or a model, of a row of the scenario has the key. */
static gboolean
has_key (const FabParam *row, const char *key)
{
  const FabModelInfo *const *infos = row->type == FAB_PARAM_MODEL ? fab_models.lists[row->models] : NULL;

  if (row->type == FAB_PARAM_TABLE && has_row (row->table, key))
    return TRUE;
  for (guint i = 0; infos != NULL && infos[i] != NULL; i++)
    if (has_row (infos[i]->params, key))
      return TRUE;
  return FALSE;
}

/* The key of a scenario that somebody wrote as an option: "cluster.nodes" of "nodes". NULL: none is called so.
 * (transfer full) */
static char *
key_of_option (const char *option)
{
  g_autofree char *key = g_strdup (option);

  g_strdelimit (key, "-", '_');
  for (const FabParam *row = fab_scenario_params; row->key != NULL; row++) {
    if (strcmp (row->key, key) == 0)
      return g_strdup (key);
    if (has_key (row, key))
      return g_strdup_printf ("%s.%s", row->key, key);
  }
  return NULL;
}

/* Adds the nearest option to GLib's message about an unknown one. */
static gboolean
explain_option (const char *program, const GOptionEntry *entries, GError **error, const GError *cause)
{
  gboolean is_unknown = cause->code == G_OPTION_ERROR_UNKNOWN_OPTION,
           has_set = entry_of (entries, "--set") != NULL;
  const char *dashes = is_unknown ? strstr (cause->message, "--") : NULL;
  g_autofree char *name = dashes != NULL ? g_strndup (dashes + 2, strcspn (dashes + 2, "= ")) : NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const GOptionEntry *entry = entries; entry && entry->long_name; entry++)
    g_ptr_array_add (names, (gpointer) entry->long_name);
  g_ptr_array_add (names, NULL);
  const char *nearest = name != NULL ? fab_nearest (name, (const char *const *) names->pdata) : NULL;
  g_autofree char *key = name != NULL && has_set ? key_of_option (name) : NULL;

  if (key != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s; a key of the scenario is changed with --set %s=...",
                      cause->message, key);
  if (nearest)
    return fab_throw (error, FAB_ERROR_INPUT, "%s; nearest is --%s", cause->message, nearest);
  if (is_unknown)
    return fab_throw (error, FAB_ERROR_INPUT, "%s; `%s --help` lists the options%s", cause->message, program,
                      has_set ? ", and --set KEY=VALUE changes a key of the scenario" : "");
  return fab_throw (error, FAB_ERROR_INPUT, "%s", cause->message);
}

/* An option that is given twice would lose its first value, without a word of GLib. */
static gboolean
check_once (const GOptionEntry *entries, int argc, char **argv, GError **error)
{
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);

  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++) {
    const GOptionEntry *entry = entry_of (entries, argv[i]);
    gboolean is_long = g_str_has_prefix (argv[i], "--");
    const char *value, *first;

    if (entry == NULL || entry->arg == G_OPTION_ARG_NONE || entry->arg == G_OPTION_ARG_CALLBACK
        || entry->arg == G_OPTION_ARG_STRING_ARRAY || entry->arg == G_OPTION_ARG_FILENAME_ARRAY) {
      i += entry != NULL && entry->arg != G_OPTION_ARG_NONE
                && (is_long ? strchr (argv[i], '=') == NULL : !argv[i][2])
             ? 1
             : 0;
      continue;
    }
    value = is_long ? strchr (argv[i], '=') : argv[i][2] != '\0' ? argv[i] + 1 : NULL;
    value = value != NULL ? value + 1 : i + 1 < argc ? argv[++i] : "";
    first = g_hash_table_lookup (values, entry);
    if (first != NULL && strcmp (first, value) != 0)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "--%s %s and --%s %s: it is given twice; leave one of them out", entry->long_name,
                        first, entry->long_name, value);
    g_hash_table_insert (values, (gpointer) entry, (gpointer) value);
  }
  return TRUE;
}

static gboolean
is_number (const GOptionEntry *entry)
{
  return entry->arg == G_OPTION_ARG_INT || entry->arg == G_OPTION_ARG_INT64;
}

static gint64
number_of (const GOptionEntry *entry)
{
  return entry->arg == G_OPTION_ARG_INT ? *(gint *) entry->arg_data : *(gint64 *) entry->arg_data;
}

static void
set_number (const GOptionEntry *entry, gint64 number)
{
  if (entry->arg == G_OPTION_ARG_INT)
    *(gint *) entry->arg_data = (gint) number;
  else
    *(gint64 *) entry->arg_data = number;
}

/* A number that is 0 before the command line is read is 0 afterwards where it was not given, and so 0 is no value that
 * can be given. Marks such numbers. (transfer full) (element-type GOptionEntry) */
static GPtrArray *
mark_numbers (const GOptionEntry *entries)
{
  GPtrArray *marked = g_ptr_array_new ();

  for (const GOptionEntry *entry = entries; entry && entry->long_name; entry++)
    if (is_number (entry) && number_of (entry) == 0) {
      set_number (entry, G_MININT);
      g_ptr_array_add (marked, (gpointer) entry);
    }
  return marked;
}

/* Makes marked numbers 0 again; returns FALSE where one was given as 0. */
static gboolean
unmark_numbers (const GPtrArray *marked, GError **error)
{
  const GOptionEntry *zero = NULL;

  for (guint i = 0; i < marked->len; i++) {
    const GOptionEntry *entry = marked->pdata[i];

    if (number_of (entry) == 0 && zero == NULL)
      zero = entry;
    if (number_of (entry) == G_MININT)
      set_number (entry, 0);
  }
  return zero == NULL
      || fab_throw (error, FAB_ERROR_INPUT, "--%s 0: it counts from 1; without the option: %s",
                    zero->long_name, zero->description);
}

gboolean
fab_cli_parse (const FabUsage *usage, const GOptionEntry *entries, int *argc, char ***argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (usage->arguments);
  g_autofree char *examples = g_strconcat ("Examples:\n", usage->examples, NULL);
  g_autoptr (GError) cause = NULL;
  guint columns = fab_terminal_prose_columns (0);
  g_autofree char *summary = columns > 0 ? fab_fold_prose (usage->summary, columns) : NULL;
  g_autofree char *form = NULL;
  gboolean wants_help = FALSE;
  GOptionEntry help[] = { { "help", 'h', 0, G_OPTION_ARG_NONE, &wants_help, "Show this help", NULL },
                          { "help-as", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &form,
                            "The help as man, zsh or fish", "FORM" },
                          G_OPTION_ENTRY_NULL };
  g_autofree char *program = g_strconcat ("fabricast ", (*argv)[0], NULL);

  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, summary != NULL ? g_strchomp (summary) : usage->summary);
  g_option_context_set_description (context, examples);
  if (entries)
    g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, help, NULL);
  g_set_prgname (program);
  if (!check_once (entries, *argc, *argv, error))
    return FALSE;
  g_autoptr (GPtrArray) marked = mark_numbers (entries);
  gboolean is_parsed = g_option_context_parse (context, argc, argv, &cause);
  gboolean is_counted = unmark_numbers (marked, is_parsed ? error : NULL);
  if (!is_parsed)
    return explain_option (program, entries, error, cause);
  if (!is_counted)
    return FALSE;
  if (form != NULL)
    return fab_form_print (form, program + strlen ("fabricast "), usage, entries, error) && FALSE;
  if (wants_help) {
    print_help (context);
    return FALSE;
  }
  guint n_rest = (guint) *argc - 1;
  if (n_rest > 0 && strcmp ((*argv)[1], "--") == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "'--' is not needed here");
  if (n_rest < usage->min_rest)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "an argument is missing; usage: %s [OPTION...] %s; `%s --help` has examples", program,
                      usage->arguments, program);
  if (n_rest > usage->max_rest)
    return fab_throw (error, FAB_ERROR_INPUT, "unexpected argument '%s'; usage: %s [OPTION...] %s",
                      (*argv)[usage->max_rest + 1], program, usage->arguments);
  return TRUE;
}

/* Finds a name among the first `n` formats. */
static gboolean
find_format (const char *name, guint n, FabFormat *format, GError **error)
{
  static const char *const all[] = { "text", "json", "csv", "markdown" };
  const char *names[G_N_ELEMENTS (all) + 1] = { NULL };

  for (guint i = 0; i < n; i++) {
    names[i] = all[i];
    if (strcmp (name ? name : all[0], all[i]) == 0) {
      *format = (FabFormat) i;
      return TRUE;
    }
  }
  const char *nearest = fab_nearest (name, names);
  return fab_throw (error, FAB_ERROR_INPUT, "--format %s: unknown format%s%s; there are %s", name,
                    nearest ? "; nearest is " : "", nearest ? nearest : "",
                    n == G_N_ELEMENTS (all) ? "text, json, csv and markdown" : "text, json and csv");
}

gboolean
fab_cli_format (const char *name, FabFormat *format, GError **error)
{
  return find_format (name, FAB_FORMAT_MARKDOWN, format, error);
}

gboolean
fab_cli_page_format (const char *name, FabFormat *format, GError **error)
{
  return find_format (name, FAB_FORMAT_MARKDOWN + 1, format, error);
}

/* nccl-tests writes 32K, 8M, 16G for binary multiples; 32KiB and 1GB are what they say. */
gboolean
fab_cli_size (const char *option, const char *text, FabBytes *bytes, GError **error)
{
  gsize length = strlen (text);
  gint64 value;
  g_autofree char *spelt = NULL;
  g_autoptr (GError) cause = NULL;

  if (length > 1 && strchr ("KMGTkmgt", text[length - 1])) {
    spelt = g_strconcat (text, "iB", NULL);
    spelt[length - 1] = g_ascii_toupper (spelt[length - 1]);
  } else if (length > 0 && strspn (text, "0123456789") == length) {
    spelt = g_strconcat (text, "B", NULL);
  }
  if (!fab_units_parse_whole (FAB_UNIT_BYTES, spelt ? spelt : text, &value, &cause) || value < 1)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s %s: this is not a size; write for example 32K, 8MiB or "
                      "1GB",
                      option, text);
  *bytes = (FabBytes) value;
  return TRUE;
}

void
fab_cli_print (FabFormat format, const char *text)
{
  if (format == FAB_FORMAT_TEXT)
    fab_terminal_print_page (text);
  else
    g_print ("%s", text);
}

gboolean
fab_cli_check_rows (FabFormat format, const char *rows, GError **error)
{
  return rows == NULL || format == FAB_FORMAT_TEXT
      || fab_throw (error, FAB_ERROR_INPUT, "--rows %s: only a page of text has rows; leave --format out",
                    rows);
}

gboolean
fab_cli_print_rows (FabFormat format, const char *text, const char *rows, GError **error)
{
  g_autofree char *chosen = NULL;

  if (rows != NULL) {
    chosen = fab_rows_choose (text, NULL, 0, rows, error);
    if (chosen == NULL)
      return FALSE;
  }
  fab_cli_print (format, chosen != NULL ? chosen : text);
  return TRUE;
}

void
fab_cli_print_table (FabFormat format, const FabTable *table)
{
  g_autofree char *text = format == FAB_FORMAT_JSON ? fab_table_to_json (table)
                        : format == FAB_FORMAT_CSV  ? fab_table_to_csv (table)
                                                    : fab_table_to_text (table);

  fab_cli_print (format, text);
}

FabCatalog *
fab_cli_catalog (GError **error)
{
  g_autofree char *path = g_strdup (g_getenv ("FABRICAST_CATALOG"));

  if (path == NULL)
    path = fab_cli_data_path ("catalog", error);
  return path ? fab_catalog_load (path, &fab_models, error) : NULL;
}

/* From then on fab_cli_threads () is at most what the scenario has memory for. */
static gboolean
check_memory (const FabScenario *scenario, GError **error)
{
  guint wanted = fab_thread_pool_size (fab_cli_threads ()), n_threads = wanted;

  if (!fab_cli_check_memory (scenario, &n_threads, error))
    return FALSE;
  if (n_threads < wanted) {
    g_autofree char *text = g_strdup_printf ("%u", n_threads);
    g_setenv ("FABRICAST_THREADS", text, TRUE);
  }
  return TRUE;
}

FabScenario *
fab_cli_scenario (const char *name, char **sets, const FabCatalog *catalog, GError **error)
{
  g_autofree char *path = fab_cli_scenario_path (name);
  g_autoptr (FabScenario) scenario = fab_scenario_load (path, (const char *const *) sets, &fab_models,
                                                        catalog, error);

  if (scenario == NULL)
    fab_cli_name_shipped (path, error);
  return scenario != NULL && check_memory (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

/* The scenario of a study need not be whole: a variant may complete it. */
static gboolean
check_study (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);

  return scenario == NULL || check_memory (scenario, error);
}

FabStudy *
fab_cli_study (const char *name, char **sets, const FabCatalog *catalog, GError **error)
{
  g_autofree char *path = fab_cli_scenario_path (name);
  g_autoptr (FabStudy) study = catalog != NULL ? fab_study_new (path, (const char *const *) sets, catalog,
                                                                &fab_models, error)
                                               : NULL;

  if (study == NULL && catalog != NULL)
    fab_cli_name_shipped (path, error);
  if (study == NULL || !check_study (study, error))
    return NULL;
  study->n_threads = fab_cli_threads ();
  return g_steal_pointer (&study);
}

gboolean
fab_cli_check_variant (FabStudy *study, const FabEdits *edits, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_edits_count (edits) > 0 ? fab_study_scenario (study, edits, NULL)
                                                                 : NULL;

  if (scenario != NULL && !check_memory (scenario, error))
    return FALSE;
  study->n_threads = fab_cli_threads ();
  return TRUE;
}

gboolean
fab_cli_check_axis (FabStudy *study, const FabAxis *axis, GError **error)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();

  fab_cli_add_largest (edits, &axis, 1);
  return fab_cli_check_variant (study, edits, error);
}

char *
fab_cli_printable (const char *text)
{
  return fab_printable (text);
}

char *
fab_cli_title (const FabScenario *scenario)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  g_autofree char *title = spec->summary ? g_strconcat (spec->name, ": ", spec->summary, NULL)
                                         : g_strdup (spec->name);

  return fab_cli_printable (title);
}

char *
fab_cli_study_title (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  return scenario ? fab_cli_title (scenario) : NULL;
}

guint
fab_cli_threads (void)
{
  const char *wanted = g_getenv ("FABRICAST_THREADS");

  if (wanted == NULL)
    return 0;
  return (guint) CLAMP (g_ascii_strtoull (wanted, NULL, 10), 1, FAB_THREAD_POOL_MOST_THREADS);
}

FabExit
fab_cli_fail (const char *command, const GError *error)
{
  if (error == NULL)
    return FAB_EXIT_DONE;
  if (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN))
    g_error ("%s", error->message);
  g_autofree char *message = fab_printable_lines (error->message);
  if (error->code == FAB_ERROR_INPUT && strchr (message, '\n') != NULL)
    g_printerr ("%s%s", message, g_str_has_suffix (message, "\n") ? "" : "\n");
  else
    g_printerr ("fabricast %s: %s\n", command, message);
  if (error->domain != FAB_ERROR)
    return FAB_EXIT_INPUT;
  return error->code == FAB_ERROR_UNSUPPORTED                                ? FAB_EXIT_UNSUPPORTED
       : error->code == FAB_ERROR_HUNG || error->code == FAB_ERROR_OVERSIZED ? FAB_EXIT_UNMET
                                                                             : FAB_EXIT_INPUT;
}
