/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/change.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/study/axis.h"
#include "sim/study/machine.h"

const char *const fab_change_names[FAB_N_CHANGES + 1] = {
  [FAB_CHANGE_FAULT] = "fault", [FAB_CHANGE_SHARP] = "sharp",   [FAB_CHANGE_NVLS] = "nvls",
  [FAB_CHANGE_NIC] = "nic",     [FAB_CHANGE_DOMAIN] = "domain", [FAB_CHANGE_GPUS] = "gpus",
  [FAB_CHANGE_NODES] = "nodes", [FAB_CHANGE_SET] = "set",
};

void
fab_change_free (FabChange *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  fab_edits_free (self->edits);
  g_free (self);
}

/* --- kinds --- */

/* The parts of a change. */
typedef struct {
  const char *text;
  const FabScenario *scenario;
  FabEdits *edits;
} Making;

static gboolean
has_key (const FabModelInfo *model, const char *key)
{
  for (const FabParam *row = model->params; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, key) == 0)
      return TRUE;
  return FALSE;
}

/* Switches that reduce in-network are an option of the collective library: one that can use them has a key for it. */
static gboolean
make_switch (Making *self, const char *key, GError **error)
{
  const FabModelInfo *library = fab_scenario_spec (self->scenario)->collectives.info;
  g_autofree char *path = g_strconcat ("collectives.", key, NULL);

  if (strcmp (self->text, "on") != 0 && strcmp (self->text, "off") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is neither on nor off", self->text);
  if (!has_key (library, key))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives of '%s' never reduce in switches: that library has no key '%s'",
                      library->name, key);
  fab_edits_set (self->edits, path, fab_value_flag (strcmp (self->text, "on") == 0));
  return TRUE;
}

/* A rate keeps the link entry; an entry brings its own rate. */
static gboolean
make_nic (Making *self)
{
  const char *unit;
  double number;

  if (fab_axis_split_number (self->text, &number, &unit)) {
    fab_edits_set (self->edits, "cluster.nic_rate", fab_value_written (self->text));
    return TRUE;
  }
  fab_edits_set (self->edits, "cluster.nic", fab_value_text (self->text));
  fab_edits_set (self->edits, "cluster.nic_rate", NULL);
  return TRUE;
}

static gboolean
make_count (Making *self, FabChangeKind kind, GError **error)
{
  guint64 n;

  if (!g_ascii_string_to_unsigned (self->text, 10, 1, G_MAXINT32, &n, NULL))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is no number of %s", self->text,
                      kind == FAB_CHANGE_NODES ? "nodes" : "GPUs");
  if (kind == FAB_CHANGE_DOMAIN)
    return fab_machine_set_domain (self->scenario, (guint) n, self->edits, error);
  if (kind == FAB_CHANGE_GPUS)
    return fab_machine_set_gpus (self->scenario, (guint) n, self->edits, error);
  fab_edits_set (self->edits, "cluster.nodes", fab_value_count ((gint64) n));
  return TRUE;
}

static gboolean
make_set (Making *self, GError **error)
{
  const char *equals = strchr (self->text, '=');

  if (equals == NULL || equals == self->text)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is no KEY=VALUE, for example cluster.nodes=8",
                      self->text);
  fab_edits_assign (self->edits, self->text);
  return TRUE;
}

static gboolean
make (Making *self, FabChangeKind kind, GError **error)
{
  switch (kind) {
  case FAB_CHANGE_FAULT:
    return fab_change_fault (self->text, fab_machine_gpus_per_node (self->scenario), self->edits, error);
  case FAB_CHANGE_SHARP: return make_switch (self, "collnet", error);
  case FAB_CHANGE_NVLS: return make_switch (self, "nvls", error);
  case FAB_CHANGE_NIC: return make_nic (self);
  case FAB_CHANGE_SET: return make_set (self, error);
  case FAB_CHANGE_DOMAIN:
  case FAB_CHANGE_GPUS:
  case FAB_CHANGE_NODES:
  case FAB_N_CHANGES:
  default: return make_count (self, kind, error);
  }
}

FabChange *
fab_change_parse (FabChangeKind kind, const char *text, const FabScenario *scenario, GError **error)
{
  gboolean is_named = kind == FAB_CHANGE_FAULT || kind == FAB_CHANGE_SET;
  Making making = { text, scenario, fab_edits_new () };

  if (!make (&making, kind, error)) {
    g_prefix_error (error, "--%s %s: ", fab_change_names[kind], text);
    fab_edits_free (making.edits);
    return NULL;
  }
  FabChange *self = g_new0 (FabChange, 1);
  self->kind = kind;
  self->name = is_named ? g_strdup (text) : g_strdup_printf ("%s %s", fab_change_names[kind], text);
  self->edits = making.edits;
  return self;
}

/* --- together --- */

static char *
key_of (const FabEdit *edit)
{
  return g_strndup (edit->text, (gsize) (strchr (edit->text, '=') - edit->text));
}

char *
fab_change_clash (const FabChange *a, const FabChange *b)
{
  for (guint i = 0; i < fab_edits_count (a->edits); i++) {
    g_autofree char *key = key_of (fab_edits_at (a->edits, i));

    for (guint k = 0; k < fab_edits_count (b->edits) && !g_str_has_suffix (key, ".+"); k++) {
      g_autofree char *other = key_of (fab_edits_at (b->edits, k));

      if (strcmp (key, other) == 0)
        return g_steal_pointer (&key);
    }
  }
  return NULL;
}
