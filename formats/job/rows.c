/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/job/rows.h"

#include <math.h>
#include <string.h>

#define MOST_COUNT 1e15

gboolean
fab_job_fail (FabJobReading *self, const FabJobSetting *setting, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  if (self->is_good)
    fab_file_text_fail (self->settings->file, setting ? setting->line : 0, self->error, "%s", text);
  self->is_good = FALSE;
  return FALSE;
}

/* Whether the value is known: ${...} of Hydra and $NAME of a shell are not, and three "?" are to be replaced. */
static gboolean
is_known (const FabJobSetting *setting)
{
  return setting->value != NULL && strchr (setting->value, '$') == NULL
      && !g_str_has_prefix (setting->value, "??") && g_ascii_strcasecmp (setting->value, "null") != 0
      && g_ascii_strcasecmp (setting->value, "none") != 0;
}

static gboolean
is_auto (const FabJobSetting *setting)
{
  return g_strcmp0 (setting->value, "auto") == 0;
}

/* -1: it is no truth value. */
static gint
truth_of (const FabJobSetting *setting)
{
  static const char *const yes[] = { "true", "yes", "on", "1", NULL }, *const no[] = {
    "false", "no", "off", "0", "none", "null", "disabled", NULL
  };
  g_autofree char *value = g_ascii_strdown (setting->value ? setting->value : "null", -1);

  if (value[0] == '\0')
    return setting->is_argument;
  return g_strv_contains (yes, value) ? 1 : g_strv_contains (no, value) ? 0 : -1;
}

/* "${PRIMUS_TP:1}", "${oc.env:MINIBS,4}", "${oc.decode:${oc.env:MINIBS,4}}": a variable of the environment with its
 * default. NULL: it is something else. (transfer full): the default, with what stands behind the braces. */
static char *
default_of (const char *value)
{
  const char *start = value, *end;
  gsize n;

  if (g_str_has_prefix (start, "${oc.decode:"))
    start += strlen ("${oc.decode:");
  if (!g_str_has_prefix (start, "${"))
    return NULL;
  start += 2;
  n = strspn (start, G_CSET_A_2_Z G_CSET_DIGITS "_");
  if (g_str_has_prefix (start, "oc.env:"))
    start += strcspn (start, ",}") + 1;
  else if (n > 0 && start[n] == ':')
    start += n + (start[n + 1] == '-' ? 2 : 1);
  else
    return NULL;
  end = strchr (start, '}');
  if (end == NULL || end == start || memchr (start, '$', (gsize) (end - start)) != NULL)
    return NULL;
  return g_strdup_printf ("%.*s%s", (gint) (end - start), start, end + 1 + strspn (end + 1, "}"));
}

/* "${model.encoder_seq_length}" is the value of that key, as OmegaConf has it; a variable has its default. */
static const FabJobSetting *
resolved (FabJobReading *self, FabJobSetting *setting)
{
  const FabJobSetting *other;
  g_autofree char *key = NULL, *fallback = NULL;

  if (setting == NULL || setting->value == NULL || !g_str_has_prefix (setting->value, "${"))
    return setting;
  fallback = default_of (setting->value);
  if (fallback != NULL) {
    fab_imported_job_infer (self->job, "%s:%u: %s is %s: %s, the default of that variable",
                            self->settings->file->name, setting->line, setting->key, setting->value,
                            fallback);
    setting->value = g_string_chunk_insert_const (self->settings->texts, fallback);
    return setting;
  }
  if (strchr (setting->value, '}') != setting->value + strlen (setting->value) - 1)
    return setting;
  key = g_strndup (setting->value + 2, strlen (setting->value) - 3);
  other = fab_job_settings_find (self->settings, key);
  if (other != NULL && other->value != NULL)
    setting->value = other->value;
  return setting;
}

void
fab_job_take_rows (FabJobReading *self, const FabJobRow *rows, guint n)
{
  for (guint i = 0; i < n && self->is_good; i++) {
    const FabJobSetting *setting = resolved (self, fab_job_settings_find (self->settings, rows[i].from));

    if (setting == NULL)
      continue;
    if (setting->value != NULL && strchr (setting->value, '$') != NULL)
      fab_imported_job_infer (self->job, "%s:%u: %s is %s, which stands elsewhere, so it is left out",
                              self->settings->file->name, setting->line, setting->key, setting->value);
    else
      rows[i].take (self, setting, rows[i].to);
  }
}

static gboolean
parse_count (const char *text, double *value)
{
  g_autofree char *plain = g_strdup (text);
  char *end, *to = plain;

  for (const char *c = text; *c != '\0'; c++)
    if (*c != '_')
      *to++ = *c;
  *to = '\0';
  *value = g_ascii_strtod (plain, &end);
  return end != plain && *end == '\0' && fabs (*value) <= MOST_COUNT && *value == floor (*value);
}

static void
take_number (FabJobReading *self, const FabJobSetting *setting, const char *to, double least,
             const char *unit)
{
  double value;

  if (!is_known (setting) || is_auto (setting)) {
    if (is_auto (setting))
      fab_imported_job_infer (self->job,
                              "%s:%u: %s is auto, so that job.%s is Fabricast's default unless another "
                              "file says it",
                              self->settings->file->name, setting->line, setting->key, to);
    return;
  }
  if (!parse_count (setting->value, &value)) {
    fab_job_fail (self, setting, "%s: '%s' is no whole number", setting->key, setting->value);
    return;
  }
  if (value < least)
    return;
  g_autofree char *text = g_strdup_printf ("%.0f%s", value, unit);
  fab_imported_job_set (self->job, self->settings, setting, to, text);
}

void
fab_job_count (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  take_number (self, setting, to, 0, "");
}

void
fab_job_positive (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  take_number (self, setting, to, 1, "");
}

void
fab_job_mebibytes (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  take_number (self, setting, to, 1, "MiB");
}

static void
take_flag (FabJobReading *self, const FabJobSetting *setting, const char *to, gboolean is_turned)
{
  gint truth = truth_of (setting);

  if (is_auto (setting) || !is_known (setting))
    return;
  if (truth < 0)
    fab_job_fail (self, setting, "%s: '%s' is neither true nor false", setting->key, setting->value);
  else
    fab_imported_job_set (self->job, self->settings, setting, to,
                          (truth != 0) != is_turned ? "true" : "false");
}

void
fab_job_flag (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  take_flag (self, setting, to, FALSE);
}

void
fab_job_no_flag (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  take_flag (self, setting, to, TRUE);
}

/* Whether the value is one of the words, whose meaning is then set. `known`: what the words are. */
static gboolean
take_word (FabJobReading *self, const FabJobSetting *setting, const char *to, GString *known)
{
  const char *colon = strchr (to, ':');
  g_autofree char *key = g_strndup (to, (gsize) (colon - to));
  g_auto (GStrv) pairs = g_strsplit (colon + 1, "|", -1);

  for (guint i = 0; pairs[i]; i++) {
    char *equals = strchr (pairs[i], '=');

    *equals++ = '\0';
    g_string_append_printf (known, "%s%s", i ? ", " : "", pairs[i][0] ? pairs[i] : "\"\"");
    if (g_ascii_strcasecmp (pairs[i], setting->value) != 0)
      continue;
    if (*equals != '\0')
      fab_imported_job_set (self->job, self->settings, setting, key, equals);
    return TRUE;
  }
  return FALSE;
}

void
fab_job_words (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  g_autoptr (GString) known = g_string_new (NULL);

  if (setting->value != NULL && !is_auto (setting) && !take_word (self, setting, to, known))
    fab_job_fail (self, setting, "%s: '%s' is not known here; known are %s", setting->key, setting->value,
                  known->str);
}

void
fab_job_known_words (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  g_autoptr (GString) known = g_string_new (NULL);
  const char *colon = strchr (to, ':');

  if (setting->value != NULL && !is_auto (setting) && !take_word (self, setting, to, known))
    fab_imported_job_infer (
        self->job, "%s:%u: %s is %s, which is not known here, so that job.%.*s is left out; known are %s",
        self->settings->file->name, setting->line, setting->key, setting->value, (gint) (colon - to), to,
        known->str);
}

void
fab_job_when (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  const char *equals = strchr (to, '=');
  g_autofree char *key = g_strndup (to, (gsize) (equals - to));

  if (truth_of (setting) == 1)
    fab_imported_job_set (self->job, self->settings, setting, key, equals + 1);
}

void
fab_job_effect (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (truth_of (setting) != 0 && g_strcmp0 (setting->value, "-1") != 0 && is_known (setting)
      && !is_auto (setting))
    fab_imported_job_effect (self->job, self->settings, setting, to);
}

void
fab_job_effect_off (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (truth_of (setting) == 0 && is_known (setting))
    fab_imported_job_effect (self->job, self->settings, setting, to);
}

void
fab_job_same (FabJobReading *self G_GNUC_UNUSED, const FabJobSetting *setting G_GNUC_UNUSED,
              const char *to G_GNUC_UNUSED)
{
}

void
fab_job_above_zero (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (is_known (setting))
    fab_imported_job_set (self->job, self->settings, setting, to,
                          is_auto (setting) || g_ascii_strtod (setting->value, NULL) > 0 ? "true" : "false");
}

static void
take_whole (const FabJobSetting *setting, guint *to)
{
  double value;

  if (!is_known (setting) || is_auto (setting))
    return;
  if (parse_count (setting->value, &value) && value >= 1 && value <= 1e6)
    *to = (guint) value;
}

void
fab_job_nodes (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  take_whole (setting, &self->job->n_nodes);
}

void
fab_job_gpus_per_node (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  take_whole (setting, &self->job->gpus_per_node);
}

void
fab_job_ranks (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  take_whole (setting, &self->job->n_ranks);
}

void
fab_job_model (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  if (!is_known (setting) || *setting->value == '\0')
    return;
  g_free (self->job->model_said);
  self->job->model_said = g_strdup (setting->value);
}

const char *
fab_job_value (FabJobReading *self, const char *key)
{
  const FabJobSetting *setting = resolved (self, fab_job_settings_find (self->settings, key));

  return setting != NULL && is_known (setting) ? setting->value : NULL;
}

gboolean
fab_job_is_on (FabJobReading *self, const char *key)
{
  const FabJobSetting *setting = resolved (self, fab_job_settings_find (self->settings, key));

  return setting != NULL && truth_of (setting) == 1;
}

gint64
fab_job_whole (FabJobReading *self, const char *key, gint64 fallback)
{
  const char *text = fab_job_value (self, key);
  double value;

  return text != NULL && parse_count (text, &value) ? (gint64) value : fallback;
}

void
fab_job_conclude (FabJobReading *self, const char *key, const char *value, const char *why)
{
  fab_imported_job_set (self->job, self->settings, NULL, key, value);
  if (value != NULL)
    fab_imported_job_infer (self->job, "%s%s: %s, %s", g_str_has_prefix (key, "shape.") ? "" : "job.", key,
                            value, why);
}
