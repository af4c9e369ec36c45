/* SPDX-License-Identifier: Apache-2.0 */
/* ibnet.c - reads the lines of ibnetdiscover.
 *
 *   Switch 36 "S-guid"  # "description" ...        a device, then a line for each port with a cable:
 *   [13]  "S-guid"[19]  # "description" lid 21 4xEDR
 *   [1](portguid)  "S-guid"[33]  # lid 5 lmc 0 "description" lid 2 4xQDR
 *
 * Each cable is listed at both ends, or at one where only that was pasted.
 */
#include "validate/import/ibnet.h"

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
fab_ibnet_gbps (const char *speed)
{
  guint lanes;
  gint index = parse_speed (speed, &lanes);

  return index < 0 ? 0 : lanes * speeds[index].lane_gbps * speeds[index].coding;
}

static const char *
own_link (FabMachine *machine, guint index, guint lanes)
{
  g_autofree char *lower = g_ascii_strdown (speeds[index].name, -1);
  const char *name = fab_machine_text (machine, "ib-%s-%ux", lower, lanes);
  g_autofree char *line = g_strdup_printf ("  - name: %s\n", name);

  if (strstr (machine->own_links->str, line) == NULL) {
    g_string_append_printf (
        machine->own_links,
        "%s    summary: InfiniBand %s, %u lanes; packets and latency not stated\n"
        "    technology: InfiniBand\n    lanes: %u\n    signalling: %gGb/s\n    coding: %.12g\n",
        line, speeds[index].name, lanes, lanes, speeds[index].lane_gbps, speeds[index].coding);
    fab_machine_infer (machine,
                       "%s: the catalogue has no such link, so line rate only, without packets and latency",
                       name);
  }
  return name;
}

const char *
fab_ibnet_link (FabMachine *machine, const char *speed)
{
  guint lanes;
  gint index = parse_speed (speed, &lanes);

  if (index < 0)
    return NULL;
  if (speeds[index].link && lanes == 4)
    return speeds[index].link;
  if (speeds[index].link && lanes == 2 && strcmp (speeds[index].name, "HDR") == 0)
    return "ib-hdr100";
  if (speeds[index].link && lanes == 2 && strcmp (speeds[index].name, "NDR") == 0)
    return "ib-ndr200";
  if (speeds[index].link && lanes != 2)
    return fab_machine_text (machine, "%s-%ux", speeds[index].link, lanes);
  return own_link (machine, (guint) index, lanes);
}

FabIbDevice *
fab_ibnet_device (const FabIbNet *self, guint index)
{
  return &g_array_index (self->devices, FabIbDevice, index);
}

FabIbCable *
fab_ibnet_cable (const FabIbNet *self, guint index)
{
  return &g_array_index (self->cables, FabIbCable, index);
}

gboolean
fab_ibnet_is_switch (const FabIbNet *self, guint index)
{
  return fab_ibnet_device (self, index)->guid[0] == 'S';
}

/* Returns the text between the next two quotes and moves *text behind them; NULL: none. (transfer full) */
static char *
next_quoted (const char **text)
{
  const char *open = strchr (*text, '"'), *close = open ? strchr (open + 1, '"') : NULL;

  if (close == NULL)
    return NULL;
  *text = close + 1;
  return g_strndup (open + 1, (gsize) (close - open) - 1);
}

static gboolean
is_plain (const char *word)
{
  return *word && strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.") == strlen (word);
}

/* Accepts "S-" (switch) or "H-" (adapter) and hexadecimal digits. */
static gboolean
is_guid (const char *text)
{
  return text && (text[0] == 'S' || text[0] == 'H') && text[1] == '-' && text[2]
      && strspn (text + 2, "0123456789abcdefABCDEF") == strlen (text + 2);
}

/* Returns the machine in "node018 HCA-1" and "gpu3 mlx5_0"; "MT23108 InfiniHost Mellanox Technologies" names none.
 * (transfer full) */
static char *
host_of (const char *guid, const char *description)
{
  g_auto (GStrv) words = g_strsplit (description ? description : "", " ", -1);
  guint n = g_strv_length (words);

  if (n >= 2 && is_plain (words[0])
      && (g_str_has_prefix (words[n - 1], "HCA-") || strchr (words[n - 1], '_')))
    return g_strdup (words[0]);
  return g_strdup (guid);
}

static guint
add_device (FabIbNet *self, const char *guid, const char *description)
{
  gpointer found = g_hash_table_lookup (self->by_guid, guid);
  FabIbDevice device = { 0 };

  if (found)
    return GPOINTER_TO_UINT (found) - 1;
  device.guid = g_strdup (guid);
  device.host = guid[0] == 'S' ? NULL : host_of (guid, description);
  g_array_append_val (self->devices, device);
  g_hash_table_insert (self->by_guid, device.guid, GUINT_TO_POINTER (self->devices->len));
  return self->devices->len - 1;
}

static void
add_cable (FabIbNet *self, guint a, guint port_a, guint b, guint port_b, const char *speed)
{
  FabIbCable cable = a < b ? (FabIbCable){ a, b, port_a, port_b, NULL }
                           : (FabIbCable){ b, a, port_b, port_a, NULL };
  g_autofree char *key = g_strdup_printf ("%u.%u-%u.%u", cable.a, cable.port_a, cable.b, cable.port_b);

  if (a == b || !g_hash_table_add (self->seen, g_steal_pointer (&key)))
    return;
  cable.speed = g_string_chunk_insert_const (self->texts, speed);
  g_array_append_val (self->cables, cable);
}

/* Reads the line of a port of `device`, whose own line stands above. */
static gboolean
read_port (FabIbNet *self, const FabImportRequest *request, const char *line, guint number, guint device,
           GError **error)
{
  const char *rest = line, *comment = strchr (line, '#');
  g_autofree char *guid = next_quoted (&rest), *plain = g_strchomp (g_strdup (line));
  const char *speed = strrchr (plain, ' ');
  guint64 port = g_ascii_strtoull (line + 1, NULL, 10),
          peer_port = *rest == '[' ? g_ascii_strtoull (rest + 1, NULL, 10) : 0;
  g_autofree char *description = comment ? next_quoted (&comment) : NULL;

  if (!is_guid (guid) || *rest != '[')
    return fab_import_fail (request, number, error, "a port is [1] \"S-guid\"[2] # \"name\" lid 3 4xHDR");
  if (speed == NULL || fab_ibnet_gbps (speed + 1) <= 0)
    return fab_import_fail (
        request, number, error,
        "'%s' is no width and speed; lines end with 4xEDR, 4xHDR, 2xNDR (older versions of "
        "ibnetdiscover left it out)",
        speed ? speed + 1 : plain);
  if (self->cables->len >= MAX_CABLES)
    return fab_import_fail (request, number, error, "more than %d cables", MAX_CABLES);
  add_cable (self, device, (guint) (port & 0xffff),
             add_device (self, guid, guid[0] == 'H' ? description : NULL), (guint) (peer_port & 0xffff),
             speed + 1);
  return TRUE;
}

static gboolean
is_device_line (const char *line)
{
  return g_str_has_prefix (line, "Switch")
      || (g_str_has_prefix (line, "Ca") && strchr (" \t", line[2]) && line[2]);
}

static gboolean
read_lines (FabIbNet *self, const FabImportRequest *request, char **lines, GError **error)
{
  guint device = G_MAXUINT;

  for (guint i = 0; lines[i]; i++) {
    const char *line = lines[i] + strspn (lines[i], " \t"), *rest = line;

    if (is_device_line (line)) {
      g_autofree char *guid = next_quoted (&rest), *description = guid ? next_quoted (&rest) : NULL;

      if (!is_guid (guid) || guid[0] != (line[0] == 'S' ? 'S' : 'H'))
        return fab_import_fail (request, i + 1, error, "a device is Switch 36 \"S-guid\" or Ca 2 \"H-guid\"");
      device = add_device (self, guid, description);
    } else if (*line == '[' && device == G_MAXUINT)
      return fab_import_fail (request, i + 1, error, "a port before any Switch or Ca");
    else if (*line == '[' && !read_port (self, request, line, i + 1, device, error))
      return FALSE;
  }
  return TRUE;
}

FabIbNet *
fab_ibnet_parse (const FabImportRequest *request, GError **error)
{
  g_autoptr (FabIbNet) self = g_new0 (FabIbNet, 1);
  g_auto (GStrv) lines = g_strsplit (request->text, "\n", -1);

  self->devices = g_array_new (FALSE, FALSE, sizeof (FabIbDevice));
  self->cables = g_array_new (FALSE, FALSE, sizeof (FabIbCable));
  self->by_guid = g_hash_table_new (g_str_hash, g_str_equal);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->texts = g_string_chunk_new (256);
  return read_lines (self, request, lines, error) ? g_steal_pointer (&self) : NULL;
}

void
fab_ibnet_free (FabIbNet *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->by_guid);
  g_hash_table_unref (self->seen);
  for (guint i = 0; i < self->devices->len; i++) {
    g_free (fab_ibnet_device (self, i)->guid);
    g_free (fab_ibnet_device (self, i)->host);
  }
  g_array_unref (self->devices);
  g_array_unref (self->cables);
  g_string_chunk_free (self->texts);
  g_free (self);
}
