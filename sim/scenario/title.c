/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/title.h"

#include <string.h>

#include "sim/config/schema_reader.h"

enum { MOST_ITEMS = 3 }; /* of a list */

static void append_rows (GString *text, const FabParam *table, gconstpointer in);

static void
append_part (GString *text, const char *part)
{
  g_string_append_printf (text, ", %s", part);
}

static char *
show_number (const FabParam *row, gconstpointer field)
{
  FabUnit unit = fab_param_unit (row->type);

  return fab_param_is_whole (row->type) ? fab_units_write_whole (unit, *(const gint64 *) field)
                                        : fab_units_write_real (unit, *(const double *) field);
}

/* Counts and factors need their key: "tensor 2"; a size does not: "128MiB". */
static void
append_number (GString *text, const FabParam *row, gconstpointer field)
{
  g_autofree char *shown = show_number (row, field);
  gboolean is_bare = row->type == FAB_PARAM_COUNT || row->type == FAB_PARAM_FACTOR;
  g_autofree char *part = is_bare ? g_strdup_printf ("%s %s", row->key, shown) : g_strdup (shown);

  if (row->fallback == NULL || strcmp (row->fallback, shown) != 0)
    append_part (text, part);
}

static void
append_word (GString *text, const FabParam *row, const char *word)
{
  if (word != NULL && (row->fallback == NULL || strcmp (row->fallback, word) != 0))
    append_part (text, word);
}

static void
append_list (GString *text, const FabParam *row, const FabParamList *list)
{
  for (guint i = 0; i < MIN (list->n, MOST_ITEMS); i++)
    append_rows (text, row->table, (const char *) list->data + i * row->table_size);
  if (list->n > MOST_ITEMS)
    g_string_append_printf (text, ", and %u more %s", list->n - MOST_ITEMS, row->key);
}

static void
append_row (GString *text, const FabParam *row, gconstpointer field)
{
  if (row->type == FAB_PARAM_TABLE)
    append_rows (text, row->table, field);
  else if (!row->is_in_title)
    return;
  else if (row->type == FAB_PARAM_LIST)
    append_list (text, row, field);
  else if (row->type == FAB_PARAM_CHOICE)
    append_word (text, row, row->choices[*(const int *) field]);
  else if (row->type == FAB_PARAM_TEXT)
    append_word (text, row, *(const char *const *) field);
  else if (fab_param_is_number (row->type))
    append_number (text, row, field);
}

static void
append_rows (GString *text, const FabParam *table, gconstpointer in)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    append_row (text, row, fab_schema_field (in, row));
}

/* "megatron, tensor 2"; nothing, where there is no model. */
static void
append_model (GString *text, const FabModelChoice *model, const char *noun)
{
  if (model->info == NULL)
    return;
  g_string_append_printf (text, "%s%s", model->info->name, noun);
  append_rows (text, model->info->params, model->params);
}

static void
append_nics (GString *text, const FabClusterSpec *cluster)
{
  g_autofree char *rate = cluster->nic_rate_bytes_per_s > 0
                            ? fab_units_write_whole (FAB_UNIT_RATE, (gint64) cluster->nic_rate_bytes_per_s)
                            : NULL;

  if (cluster->nics_per_node > 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " NIC%s each", cluster->nics_per_node,
                            cluster->nics_per_node > 1 ? "s" : "");
  if (cluster->nic != NULL)
    append_part (text, cluster->nic);
  if (cluster->nic_ports > 1)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " ports each, %s", cluster->nic_ports,
                            fab_port_mode_names[cluster->port_use]);
  if (rate != NULL)
    append_part (text, rate);
}

static void
append_power_cap (GString *text, const FabPower *cap)
{
  if (cap->watts > 0)
    g_string_append_printf (text, ", GPUs capped at %" G_GINT64_FORMAT " W", cap->watts);
  else if (cap->fraction < 1)
    g_string_append_printf (text, ", GPUs capped at %.4g %%", 100 * cap->fraction);
}

static void
append_cluster (GString *text, const FabClusterSpec *cluster)
{
  g_string_append_printf (text, " on %" G_GINT64_FORMAT " x %s", cluster->nodes,
                          cluster->node ? cluster->node : "nothing");
  if (cluster->gpus_per_node > 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " GPU%s each", cluster->gpus_per_node,
                            cluster->gpus_per_node > 1 ? "s" : "");
  if (cluster->domain_nodes > 0)
    g_string_append_printf (text, ", domains of %" G_GINT64_FORMAT " node%s", cluster->domain_nodes,
                            cluster->domain_nodes > 1 ? "s" : "");
  append_nics (text, cluster);
  append_power_cap (text, &cluster->power_cap);
  if (cluster->nodes > 1 && cluster->fabric.info != NULL) {
    g_string_append (text, ", ");
    append_model (text, &cluster->fabric, " fabric");
  }
}

/* What else the scenario has. */
static void
append_others (GString *text, const FabScenarioSpec *spec)
{
  if (spec->faults.n > 0)
    g_string_append_printf (text, ", %u fault%s", spec->faults.n, spec->faults.n > 1 ? "s" : "");
  if (spec->background.n > 0)
    append_part (text, "background traffic");
  if (spec->neighbours.n > 0)
    append_part (text, "other jobs beside it");
}

char *
fab_scenario_title (const FabScenarioSpec *spec)
{
  GString *text = g_string_new (NULL);

  append_model (text, &spec->job, "");
  append_cluster (text, &spec->cluster);
  append_others (text, spec);
  return g_string_free (text, FALSE);
}

gboolean
fab_title_tells_of (const char *key)
{
  static const char *const others[] = { "name", "summary", "seed",     "iterations",  "contention",
                                        "fold", "cost",    "fidelity", "reliability", NULL };
  g_autofree char *head = g_strndup (key, strcspn (key, ".= "));

  return !g_strv_contains (others, head);
}
