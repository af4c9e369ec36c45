/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/machine/network.h"

#include <string.h>

#include "formats/text/notes.h"

enum { MAX_CABLES = 20000 };

FabImportedDevice *
fab_imported_network_device (const FabImportedNetwork *self, guint index)
{
  return &g_array_index (self->devices, FabImportedDevice, index);
}

FabImportedCable *
fab_imported_network_cable (const FabImportedNetwork *self, guint index)
{
  return &g_array_index (self->cables, FabImportedCable, index);
}

gboolean
fab_imported_network_is_switch (const FabImportedNetwork *self, guint index)
{
  return fab_imported_network_device (self, index)->is_switch;
}

gboolean
fab_imported_network_is_port (const FabImportedNetwork *self, const FabImportedCable *cable)
{
  const FabImportedDevice *a = fab_imported_network_device (self, cable->a),
                          *b = fab_imported_network_device (self, cable->b);

  return a->is_switch != b->is_switch && !a->is_aggregation && !b->is_aggregation;
}

guint
fab_imported_network_switch_of (const FabImportedNetwork *self, const FabImportedCable *cable)
{
  return fab_imported_network_is_switch (self, cable->a) ? cable->a : cable->b;
}

guint
fab_imported_network_adapter_of (const FabImportedNetwork *self, const FabImportedCable *cable)
{
  return fab_imported_network_is_switch (self, cable->a) ? cable->b : cable->a;
}

static gboolean
is_plain (const char *word)
{
  return *word && strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.") == strlen (word);
}

/* Sets the machine and the adapter of "node018 HCA-1" and "gpu3 mlx5_0". "MT23108 InfiniHost Mellanox Technologies"
 * names none. */
static void
name_host (FabImportedDevice *device)
{
  g_auto (GStrv) words = g_strsplit (device->name, " ", -1);
  guint n = g_strv_length (words);

  if (n < 2 || !is_plain (words[0])
      || !(g_str_has_prefix (words[n - 1], "HCA-") || strchr (words[n - 1], '_')))
    return;
  device->host = g_strdup (words[0]);
  device->adapter = g_strdup (words[n - 1]);
}

/* Mellanox and NVIDIA call the SHARP unit of a switch "Mellanox Technologies Aggregation Node". */
static void
describe (FabImportedDevice *device, const char *description)
{
  g_autofree char *lower = g_ascii_strdown (description, -1);

  device->name = g_strdup (description);
  device->is_aggregation = !device->is_switch && strstr (lower, "aggregation node") != NULL;
  if (!device->is_switch && !device->is_aggregation)
    name_host (device);
}

/* Returns the number in "S-ec0d9a0300ec8240" or "0xec0d9a0300ec8240"; 0: there is none. */
static guint64
guid_of (const char *id)
{
  const char *digits = g_str_has_prefix (id, "0x") ? id + 2 : strchr (id, '-') ? strchr (id, '-') + 1 : id;
  char *end;
  guint64 guid = g_ascii_strtoull (digits, &end, 16);

  return *end == '\0' && end != digits ? guid : 0;
}

guint
fab_imported_network_add (FabImportedNetwork *self, const char *id, gboolean is_switch,
                          const char *description)
{
  gpointer found = g_hash_table_lookup (self->by_id, id);
  guint index = found ? GPOINTER_TO_UINT (found) - 1 : self->devices->len;

  if (!found) {
    FabImportedDevice fresh = { .id = g_strdup (id), .guid = guid_of (id), .is_switch = is_switch };

    g_array_append_val (self->devices, fresh);
    g_hash_table_insert (self->by_id, fresh.id, GUINT_TO_POINTER (self->devices->len));
  }
  FabImportedDevice *device = fab_imported_network_device (self, index);
  if (device->name == NULL && description != NULL && *description)
    describe (device, description);
  return index;
}

gboolean
fab_imported_network_join (FabImportedNetwork *self, const FabFileText *file, guint line, guint a,
                           guint port_a, guint b, guint port_b, const char *speed, GError **error)
{
  FabImportedCable cable = a < b ? (FabImportedCable){ a, b, port_a, port_b, line, NULL, NULL }
                                 : (FabImportedCable){ b, a, port_b, port_a, line, NULL, NULL };
  g_autofree char *key = g_strdup_printf ("%u.%u-%u.%u", cable.a, cable.port_a, cable.b, cable.port_b);

  if (self->cables->len >= MAX_CABLES)
    return fab_file_text_fail (file, line, error, "the network has more than %d cables", MAX_CABLES);
  if (a == b || !g_hash_table_add (self->seen, g_steal_pointer (&key)))
    return TRUE;
  cable.speed = g_string_chunk_insert_const (self->texts, speed);
  g_array_append_val (self->cables, cable);
  return TRUE;
}

FabImportedNetwork *
fab_imported_network_new (void)
{
  FabImportedNetwork *self = g_new0 (FabImportedNetwork, 1);

  self->devices = g_array_new (FALSE, FALSE, sizeof (FabImportedDevice));
  self->cables = g_array_new (FALSE, FALSE, sizeof (FabImportedCable));
  self->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->texts = g_string_chunk_new (256);
  self->n_owners = 1;
  return self;
}

FabImportedNetwork *
fab_imported_network_ref (FabImportedNetwork *self)
{
  self->n_owners++;
  return self;
}

void
fab_imported_network_free (FabImportedNetwork *self)
{
  if (self == NULL || --self->n_owners > 0)
    return;
  g_hash_table_unref (self->by_id);
  g_hash_table_unref (self->seen);
  for (guint i = 0; i < self->devices->len; i++) {
    FabImportedDevice *device = fab_imported_network_device (self, i);

    g_free (device->id);
    g_free (device->name);
    g_free (device->host);
    g_free (device->adapter);
  }
  g_array_unref (self->devices);
  g_array_unref (self->cables);
  g_string_chunk_free (self->texts);
  g_free (self);
}

/* "leaf04" of "MF0;leaf04:MQM9701/U1"; the name itself where it has another form; else the id. (transfer full) */
static char *
short_name (const FabImportedDevice *device)
{
  const char *name = device->name ? device->name : device->id, *start = strchr (name, ';'),
             *end = start ? strchr (start, ':') : NULL;
  g_autofree char *text = end && end > start + 1 ? g_strndup (start + 1, (gsize) (end - start) - 1)
                                                 : g_strdup (name);

  return g_strstrip (fab_file_comment (text));
}

char **
fab_imported_network_labels (const FabImportedNetwork *self)
{
  char **labels = g_new0 (char *, self->devices->len + 1);
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->devices->len; i++) {
    char *name = short_name (fab_imported_network_device (self, i));
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, name));

    g_ptr_array_add (names, name);
    g_hash_table_replace (counts, name, GUINT_TO_POINTER (n + 1));
  }
  for (guint i = 0; i < self->devices->len; i++) {
    const FabImportedDevice *device = fab_imported_network_device (self, i);
    const char *name = g_ptr_array_index (names, i);

    labels[i] = GPOINTER_TO_UINT (g_hash_table_lookup (counts, name)) == 1
                  ? g_strdup (name)
                  : g_strdup_printf ("%s (%s)", name, device->id);
  }
  return labels;
}
