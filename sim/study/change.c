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
  g_strfreev (self->sets);
  g_free (self);
}

/* --- kinds --- */

/* The parts of a change. */
typedef struct {
  const char *text;
  const FabScenario *scenario;
  GPtrArray *sets; /* char * */
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

  if (strcmp (self->text, "on") != 0 && strcmp (self->text, "off") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is neither on nor off", self->text);
  if (!has_key (library, key))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives of '%s' never reduce in switches: that library has no key '%s'",
                      library->name, key);
  g_ptr_array_add (self->sets, g_strdup_printf ("collectives.%s=%s", key,
                                                strcmp (self->text, "on") == 0 ? "true" : "false"));
  return TRUE;
}

/* A rate keeps the link entry; an entry brings its own rate. */
static gboolean
make_nic (Making *self)
{
  const char *unit;
  double number;

  if (fab_axis_split_number (self->text, &number, &unit)) {
    g_ptr_array_add (self->sets, g_strconcat ("cluster.nic_rate=", self->text, NULL));
    return TRUE;
  }
  g_ptr_array_add (self->sets, g_strconcat ("cluster.nic=", self->text, NULL));
  g_ptr_array_add (self->sets, g_strdup ("cluster.nic_rate="));
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
    return fab_machine_set_domain (self->scenario, (guint) n, self->sets, error);
  if (kind == FAB_CHANGE_GPUS)
    return fab_machine_set_gpus (self->scenario, (guint) n, self->sets, error);
  g_ptr_array_add (self->sets, g_strconcat ("cluster.nodes=", self->text, NULL));
  return TRUE;
}

static gboolean
make_set (Making *self, GError **error)
{
  const char *equals = strchr (self->text, '=');

  if (equals == NULL || equals == self->text)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is no KEY=VALUE, for example cluster.nodes=8",
                      self->text);
  g_ptr_array_add (self->sets, g_strdup (self->text));
  return TRUE;
}

static gboolean
make (Making *self, FabChangeKind kind, GError **error)
{
  char *fault;

  switch (kind) {
  case FAB_CHANGE_FAULT:
    fault = fab_change_fault (self->text, fab_machine_gpus_per_node (self->scenario), error);
    if (fault != NULL)
      g_ptr_array_add (self->sets, fault);
    return fault != NULL;
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
  Making making = { text, scenario, g_ptr_array_new_with_free_func (g_free) };

  if (!make (&making, kind, error)) {
    g_prefix_error (error, "--%s %s: ", fab_change_names[kind], text);
    g_ptr_array_unref (making.sets);
    return NULL;
  }
  g_ptr_array_add (making.sets, NULL);
  FabChange *self = g_new0 (FabChange, 1);
  self->kind = kind;
  self->name = is_named ? g_strdup (text) : g_strdup_printf ("%s %s", fab_change_names[kind], text);
  self->sets = (char **) g_ptr_array_free (making.sets, FALSE);
  return self;
}

/* --- together --- */

static char *
key_of (const char *assignment)
{
  return g_strndup (assignment, (gsize) (strchr (assignment, '=') - assignment));
}

char *
fab_change_clash (const FabChange *a, const FabChange *b)
{
  for (guint i = 0; a->sets[i] != NULL; i++) {
    g_autofree char *key = key_of (a->sets[i]);

    for (guint k = 0; b->sets[k] != NULL && !g_str_has_suffix (key, ".+"); k++) {
      g_autofree char *other = key_of (b->sets[k]);

      if (strcmp (key, other) == 0)
        return g_steal_pointer (&key);
    }
  }
  return NULL;
}
