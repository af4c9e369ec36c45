/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/machine/network.h"

#include <string.h>

enum { MAX_CABLES = 20000 };

static const struct {
  const char *name;
  double lane_gbps, coding;
  const char *link; /* the entry for 4 lanes; NULL: the catalogue has none */
} speeds[] = {
  { "SDR", 2.5, 0.8, NULL },
  { "DDR", 5, 0.8, NULL },
  { "QDR", 10, 0.8, NULL },
  { "FDR10", 10.3125, 64 / 66.0, NULL },
  { "FDR", 14.0625, 64 / 66.0, NULL },
  { "EDR", 25, 1, "ib-edr" },
  { "HDR", 50, 1, "ib-hdr" },
  { "NDR", 100, 1, "ib-ndr" },
  { "XDR", 200, 1, "ib-xdr" },
  { "GDR", 400, 1, "ib-gdr" },
};

/* Parses "4xEDR": returns its index in `speeds` and sets the lanes; -1: no such speed. */
static gint
parse_speed (const char *text, guint *lanes)
{
  static const guint widths[] = { 1, 2, 4, 8, 12 };
  const char *x = strchr (text, 'x');
  g_autofree char *number = x ? g_strndup (text, (gsize) (x - text)) : NULL;
  guint64 value;
  gboolean is_width = FALSE;

  if (number == NULL || !g_ascii_string_to_unsigned (number, 10, 1, 12, &value, NULL))
    return -1;
  *lanes = (guint) value;
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    is_width = is_width || widths[i] == *lanes;
  for (guint i = 0; is_width && i < G_N_ELEMENTS (speeds); i++)
    if (strcmp (speeds[i].name, x + 1) == 0)
      return (gint) i;
  return -1;
}

double
fab_imported_network_gbps (const char *speed)
{
  guint lanes;
  gint index = parse_speed (speed, &lanes);

  return index < 0 ? 0 : lanes * speeds[index].lane_gbps * speeds[index].coding;
}

static const char *
own_link (FabImportedMachine *machine, guint line_at, guint index, guint lanes)
{
  g_autofree char *lower = g_ascii_strdown (speeds[index].name, -1);
  const char *name = fab_imported_machine_text (machine, "ib-%s-%ux", lower, lanes);
  g_autofree char *line = g_strdup_printf ("  - name: %s\n", name);

  if (strstr (machine->own_links->str, line) == NULL) {
    g_string_append_printf (
        machine->own_links,
        "%s    summary: InfiniBand %s, %u lanes; packets and latency not stated\n"
        "    technology: InfiniBand\n    lanes: %u\n    signalling: %gGb/s\n    coding: %.12g\n",
        line, speeds[index].name, lanes, lanes, speeds[index].lane_gbps, speeds[index].coding);
    fab_imported_machine_infer (
        machine, line_at,
        "%s: the catalogue has no such link, so line rate only, without packets and latency", name);
  }
  return name;
}

const char *
fab_imported_network_link (FabImportedMachine *machine, const FabImportedCable *cable)
{
  guint lanes;
  gint index = parse_speed (cable->speed, &lanes);

  if (index < 0)
    return NULL;
  if (speeds[index].link && lanes == 4)
    return speeds[index].link;
  if (speeds[index].link && lanes == 2 && strcmp (speeds[index].name, "HDR") == 0)
    return "ib-hdr100";
  if (speeds[index].link && lanes == 2 && strcmp (speeds[index].name, "NDR") == 0)
    return "ib-ndr200";
  if (speeds[index].link && lanes != 2)
    return fab_imported_machine_text (machine, "%s-%ux", speeds[index].link, lanes);
  return own_link (machine, cable->line, (guint) index, lanes);
}

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

static gboolean
is_plain (const char *word)
{
  return *word && strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.") == strlen (word);
}

/* Returns the machine in "node018 HCA-1" and "gpu3 mlx5_0"; "MT23108 InfiniHost Mellanox Technologies" names none.
 * (transfer full) */
static char *
host_of (const char *id, const char *description)
{
  g_auto (GStrv) words = g_strsplit (description ? description : "", " ", -1);
  guint n = g_strv_length (words);

  if (n >= 2 && is_plain (words[0])
      && (g_str_has_prefix (words[n - 1], "HCA-") || strchr (words[n - 1], '_')))
    return g_strdup (words[0]);
  return g_strdup (id);
}

guint
fab_imported_network_add (FabImportedNetwork *self, const char *id, gboolean is_switch,
                          const char *description)
{
  gpointer found = g_hash_table_lookup (self->by_id, id);
  FabImportedDevice device = { .is_switch = is_switch };

  if (found)
    return GPOINTER_TO_UINT (found) - 1;
  device.id = g_strdup (id);
  device.host = is_switch ? NULL : host_of (id, description);
  g_array_append_val (self->devices, device);
  g_hash_table_insert (self->by_id, device.id, GUINT_TO_POINTER (self->devices->len));
  return self->devices->len - 1;
}

gboolean
fab_imported_network_join (FabImportedNetwork *self, const FabFileText *file, guint line, guint a,
                           guint port_a, guint b, guint port_b, const char *speed, GError **error)
{
  FabImportedCable cable = a < b ? (FabImportedCable){ a, b, port_a, port_b, line, NULL }
                                 : (FabImportedCable){ b, a, port_b, port_a, line, NULL };
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
  return self;
}

void
fab_imported_network_free (FabImportedNetwork *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->by_id);
  g_hash_table_unref (self->seen);
  for (guint i = 0; i < self->devices->len; i++) {
    g_free (fab_imported_network_device (self, i)->id);
    g_free (fab_imported_network_device (self, i)->host);
  }
  g_array_unref (self->devices);
  g_array_unref (self->cables);
  g_string_chunk_free (self->texts);
  g_free (self);
}
