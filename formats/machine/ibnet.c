/* SPDX-License-Identifier: Apache-2.0 */
/* ibnet.c - reads the lines of ibnetdiscover.
 *
 *   Switch 36 "S-guid"  # "description" ...        a device, then a line for each port with a cable:
 *   [13]  "S-guid"[19]  # "description" lid 21 4xEDR
 *   [1](portguid)  "S-guid"[33]  # lid 5 lmc 0 "description" lid 2 4xQDR
 *
 * Each cable is listed at both ends, or at one where only that was pasted.
 */
#include <string.h>

#include "formats/machine/known.h"

typedef struct {
  char *guid;       /* "S-ec0d9a0300ec8240", "H-506b4b03003fa9b6" */
  char *host;       /* of an adapter: the machine's name, or the adapter's own guid; NULL for a switch */
  gboolean is_used; /* hosts hang below it, or it connects switches that have hosts */
} FabIbDevice;

typedef struct {
  guint a, b; /* indices of devices; a < b */
  guint port_a, port_b;
  guint line;        /* at which it is first listed */
  const char *speed; /* "4xEDR"; owned by `texts` */
} FabIbCable;

typedef struct {
  GArray *devices; /* FabIbDevice */
  GArray *cables;  /* FabIbCable, each listed once */
  GHashTable *by_guid, *seen;
  GStringChunk *texts;
} FabIbNet;

static void ibnet_free (FabIbNet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabIbNet, ibnet_free)

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

/* Returns the rate of one direction in Gb/s, to compare speeds; 0: no such speed. */
static double
ibnet_gbps (const char *speed)
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

/* Returns the catalogue's entry of a cable's speed, "4xEDR". Adds an own entry to the machine for speeds before EDR,
 * which the catalogue lacks. NULL: no such speed. */
static const char *
ibnet_link (FabImportedMachine *machine, const FabIbCable *cable)
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

static FabIbDevice *
ibnet_device (const FabIbNet *self, guint index)
{
  return &g_array_index (self->devices, FabIbDevice, index);
}

static FabIbCable *
ibnet_cable (const FabIbNet *self, guint index)
{
  return &g_array_index (self->cables, FabIbCable, index);
}

static gboolean
ibnet_is_switch (const FabIbNet *self, guint index)
{
  return ibnet_device (self, index)->guid[0] == 'S';
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
add_cable (FabIbNet *self, guint line, guint a, guint port_a, guint b, guint port_b, const char *speed)
{
  FabIbCable cable = a < b ? (FabIbCable){ a, b, port_a, port_b, line, NULL }
                           : (FabIbCable){ b, a, port_b, port_a, line, NULL };
  g_autofree char *key = g_strdup_printf ("%u.%u-%u.%u", cable.a, cable.port_a, cable.b, cable.port_b);

  if (a == b || !g_hash_table_add (self->seen, g_steal_pointer (&key)))
    return;
  cable.speed = g_string_chunk_insert_const (self->texts, speed);
  g_array_append_val (self->cables, cable);
}

/* Reads the line of a port of `device`, whose own line stands above. */
static gboolean
read_port (FabIbNet *self, const FabFileText *file, const char *line, guint number, guint device,
           GError **error)
{
  const char *rest = line, *comment = strchr (line, '#');
  g_autofree char *guid = next_quoted (&rest), *plain = g_strchomp (g_strdup (line));
  const char *speed = strrchr (plain, ' ');
  guint64 port = g_ascii_strtoull (line + 1, NULL, 10),
          peer_port = *rest == '[' ? g_ascii_strtoull (rest + 1, NULL, 10) : 0;
  g_autofree char *description = comment ? next_quoted (&comment) : NULL;

  if (!is_guid (guid) || *rest != '[')
    return fab_file_text_fail (file, number, error,
                               "a port must have the form [1] \"S-guid\"[2] # \"name\" lid 3 4xHDR");
  if (speed == NULL || ibnet_gbps (speed + 1) <= 0)
    return fab_file_text_fail (
        file, number, error,
        "'%s' is not a width and speed; lines must end with 4xEDR, 4xHDR, 2xNDR (older versions of "
        "ibnetdiscover left it out)",
        speed ? speed + 1 : plain);
  if (self->cables->len >= MAX_CABLES)
    return fab_file_text_fail (file, number, error, "the network has more than %d cables", MAX_CABLES);
  add_cable (self, number, device, (guint) (port & 0xffff),
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
read_lines (FabIbNet *self, const FabFileText *file, char **lines, GError **error)
{
  guint device = G_MAXUINT;

  for (guint i = 0; lines[i]; i++) {
    const char *line = lines[i] + strspn (lines[i], " \t"), *rest = line;

    if (is_device_line (line)) {
      g_autofree char *guid = next_quoted (&rest), *description = guid ? next_quoted (&rest) : NULL;

      if (!is_guid (guid) || guid[0] != (line[0] == 'S' ? 'S' : 'H'))
        return fab_file_text_fail (file, i + 1, error,
                                   "a device must have the form Switch 36 \"S-guid\" or Ca 2 \"H-guid\"");
      device = add_device (self, guid, description);
    } else if (*line == '[' && device == G_MAXUINT)
      return fab_file_text_fail (file, i + 1, error, "this port comes before any Switch or Ca");
    else if (*line == '[' && !read_port (self, file, line, i + 1, device, error))
      return FALSE;
  }
  return TRUE;
}

static FabIbNet *
ibnet_parse (const FabFileText *file, GError **error)
{
  g_autoptr (FabIbNet) self = g_new0 (FabIbNet, 1);
  g_auto (GStrv) lines = g_strsplit (file->text, "\n", -1);

  self->devices = g_array_new (FALSE, FALSE, sizeof (FabIbDevice));
  self->cables = g_array_new (FALSE, FALSE, sizeof (FabIbCable));
  self->by_guid = g_hash_table_new (g_str_hash, g_str_equal);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->texts = g_string_chunk_new (256);
  return read_lines (self, file, lines, error) ? g_steal_pointer (&self) : NULL;
}

static void
ibnet_free (FabIbNet *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->by_guid);
  g_hash_table_unref (self->seen);
  for (guint i = 0; i < self->devices->len; i++) {
    g_free (ibnet_device (self, i)->guid);
    g_free (ibnet_device (self, i)->host);
  }
  g_array_unref (self->devices);
  g_array_unref (self->cables);
  g_string_chunk_free (self->texts);
  g_free (self);
}

/* `ibnetdiscover`: hosts become nodes, switches and cables the edge list of a custom fabric.
 *
 * Adapters whose descriptions begin with the same word are one host. Nodes of a scenario are alike, so the
 * number of ports that most hosts have is what a node has; hosts with fewer are left out, further ports of
 * the others too.
 */

typedef struct {
  const char *name;
  GArray *ports; /* guint: cables */
  guint leaf;    /* switch of the first port; hosts are numbered leaf by leaf */
} Host;

typedef struct {
  FabImportedMachine *machine;
  const FabIbNet *net;
  GPtrArray *hosts; /* Host */
  guint n_ports;    /* of each host that is kept */
  guint *number;    /* [devices]: a switch's number within its tier */
  gboolean *is_leaf;
} Reader;

static guint
switch_end (const Reader *reader, const FabIbCable *cable)
{
  return ibnet_is_switch (reader->net, cable->a) ? cable->a : cable->b;
}

static gboolean
is_port (const Reader *reader, const FabIbCable *cable)
{
  return ibnet_is_switch (reader->net, cable->a) != ibnet_is_switch (reader->net, cable->b);
}

static void
host_free (gpointer data)
{
  Host *host = data;

  g_array_unref (host->ports);
  g_free (host);
}

static void
collect_hosts (Reader *reader)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < reader->net->cables->len; i++) {
    const FabIbCable *cable = ibnet_cable (reader->net, i);

    if (!is_port (reader, cable))
      continue;
    guint leaf = switch_end (reader, cable), adapter = leaf == cable->a ? cable->b : cable->a;
    const char *name = ibnet_device (reader->net, adapter)->host;
    Host *host = g_hash_table_lookup (by_name, name);
    if (host == NULL) {
      host = g_new0 (Host, 1);
      host->name = name;
      host->ports = g_array_new (FALSE, FALSE, sizeof (guint));
      host->leaf = leaf;
      g_hash_table_insert (by_name, (gpointer) name, host);
      g_ptr_array_add (reader->hosts, host);
    }
    g_array_append_val (host->ports, i);
  }
}

/* Returns the number of ports that most hosts have; of equally frequent numbers the larger. */
static guint
usual_ports (const Reader *reader)
{
  guint best = 0, most = 0;

  for (guint i = 0; i < reader->hosts->len; i++) {
    guint n_ports = ((const Host *) g_ptr_array_index (reader->hosts, i))->ports->len, n = 0;

    for (guint j = 0; j < reader->hosts->len; j++)
      n += ((const Host *) g_ptr_array_index (reader->hosts, j))->ports->len == n_ports;
    if (n > most || (n == most && n_ports > best)) {
      most = n;
      best = n_ports;
    }
  }
  return best;
}

static gint
compare_hosts (gconstpointer a, gconstpointer b)
{
  const Host *x = *(const Host *const *) a, *y = *(const Host *const *) b;

  if (x->leaf != y->leaf)
    return x->leaf < y->leaf ? -1 : 1;
  return g_array_index (x->ports, guint, 0) < g_array_index (y->ports, guint, 0) ? -1 : 1;
}

static void
drop_odd_hosts (Reader *reader)
{
  guint n = reader->hosts->len, n_more = 0, fewer_line = 0, more_line = 0;

  reader->n_ports = usual_ports (reader);
  for (guint i = reader->hosts->len; i > 0; i--) {
    const Host *host = g_ptr_array_index (reader->hosts, i - 1);

    guint line = ibnet_cable (reader->net, g_array_index (host->ports, guint, 0))->line;

    n_more += host->ports->len > reader->n_ports;
    if (host->ports->len > reader->n_ports)
      more_line = line;
    if (host->ports->len < reader->n_ports) {
      fewer_line = line;
      g_ptr_array_remove_index (reader->hosts, i - 1);
    }
  }
  g_ptr_array_sort (reader->hosts, compare_hosts);
  if (n > reader->hosts->len)
    fab_imported_machine_leave_out (reader->machine, fewer_line,
                                    "left out: %u hosts with fewer ports than the %u that most have",
                                    n - reader->hosts->len, reader->n_ports);
  if (n_more > 0)
    fab_imported_machine_leave_out (reader->machine, more_line,
                                    "left out: further ports of %u hosts that have more than %u", n_more,
                                    reader->n_ports);
}

/* Removes switches that lead to no hosts (their hosts are not in the text), until every switch leads to some. */
static void
mark_switches (Reader *reader)
{
  gboolean is_changed = TRUE;

  for (guint i = 0; i < reader->hosts->len; i++) {
    const Host *host = g_ptr_array_index (reader->hosts, i);
    for (guint k = 0; k < reader->n_ports; k++)
      reader->is_leaf[switch_end (reader, ibnet_cable (reader->net, g_array_index (host->ports, guint, k)))] =
          TRUE;
  }
  for (guint i = 0; i < reader->net->devices->len; i++)
    ibnet_device (reader->net, i)->is_used = ibnet_is_switch (reader->net, i);
  while (is_changed) {
    is_changed = FALSE;
    for (guint i = 0; i < reader->net->devices->len; i++) {
      FabIbDevice *device = ibnet_device (reader->net, i);
      guint first = G_MAXUINT, n_neighbours = 0;

      if (!device->is_used || reader->is_leaf[i])
        continue;
      for (guint c = 0; c < reader->net->cables->len; c++) {
        const FabIbCable *cable = ibnet_cable (reader->net, c);
        guint other = cable->a == i ? cable->b : cable->b == i ? cable->a : G_MAXUINT;

        if (other == G_MAXUINT || !ibnet_device (reader->net, other)->is_used || other == first)
          continue;
        first = other;
        n_neighbours++;
      }
      if (n_neighbours < 2) {
        device->is_used = FALSE;
        is_changed = TRUE;
      }
    }
  }
}

static void
write_switches (Reader *reader)
{
  guint n[2] = { 0, 0 };

  for (guint i = 0; i < reader->net->devices->len; i++)
    if (ibnet_device (reader->net, i)->is_used)
      reader->number[i] = n[reader->is_leaf[i]]++;
  g_string_append_printf (reader->machine->fabric,
                          "    kind: custom\n    switches:\n      - {name: leaf, count: %u}\n", n[1]);
  if (n[0] > 0)
    g_string_append_printf (reader->machine->fabric, "      - {name: spine, count: %u}\n", n[0]);
  fab_imported_machine_read (reader->machine, 0, "%u switches with hosts (leaf), %u without (spine)", n[1],
                             n[0]);
  /* a switch that is alone in its tier has no number in its name */
  for (guint i = 0; i < 2; i++)
    for (guint d = 0; n[i] == 1 && d < reader->net->devices->len; d++)
      if (reader->is_leaf[d] == (gboolean) i)
        reader->number[d] = G_MAXUINT;
}

static char *
switch_name (const Reader *reader, guint index)
{
  const char *tier = reader->is_leaf[index] ? "leaf" : "spine";

  return reader->number[index] == G_MAXUINT ? g_strdup (tier)
                                            : g_strdup_printf ("%s%u", tier, reader->number[index]);
}

/* Writes the cables between two switches as one link, and leaves out the slower ones among them. */
static void
write_trunk (Reader *reader, guint first)
{
  const FabIbCable *cable = ibnet_cable (reader->net, first), *best = cable;
  guint count = 0, n_slower = 0, slower_line = 0;
  g_autofree char *from = switch_name (reader, cable->a), *to = switch_name (reader, cable->b);

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < reader->net->cables->len; i++) {
      const FabIbCable *other = ibnet_cable (reader->net, i);

      if (other->a != cable->a || other->b != cable->b)
        continue;
      if (pass == 0 && ibnet_gbps (other->speed) > ibnet_gbps (best->speed))
        best = other;
      if (pass == 0 && i < first)
        return; /* the pair is already written */
      count += pass == 1 && strcmp (other->speed, best->speed) == 0;
      if (pass == 1 && strcmp (other->speed, best->speed) != 0 && n_slower++ == 0)
        slower_line = other->line;
    }
  if (n_slower > 0)
    fab_imported_machine_leave_out (
        reader->machine, slower_line,
        "left out: %u cables from %s to %s that are slower than the %s beside them", n_slower, from, to,
        best->speed);
  g_string_append_printf (reader->machine->fabric, "      - {from: %s, to: %s, link: %s, count: %u}\n", from,
                          to, ibnet_link (reader->machine, best), count);
}

static void
write_trunks (Reader *reader)
{
  gsize before = reader->machine->fabric->len;

  for (guint i = 0; i < reader->net->cables->len; i++) {
    const FabIbCable *cable = ibnet_cable (reader->net, i);

    if (!ibnet_device (reader->net, cable->a)->is_used || !ibnet_device (reader->net, cable->b)->is_used)
      continue;
    if (reader->machine->fabric->len == before)
      g_string_append (reader->machine->fabric, "    links:\n");
    write_trunk (reader, i);
  }
}

static guint
leaf_of (const Reader *reader, guint host, guint port)
{
  const Host *of = g_ptr_array_index (reader->hosts, host);

  return switch_end (reader, ibnet_cable (reader->net, g_array_index (of->ports, guint, port)));
}

static void
write_ports (Reader *reader)
{
  GString *out = reader->machine->fabric;

  g_string_append (out, "    attach:\n");
  for (guint port = 0; port < reader->n_ports; port++)
    for (guint first = 0, end; first < reader->hosts->len; first = end) {
      g_autofree char *leaf = switch_name (reader, leaf_of (reader, first, port));

      for (end = first;
           end < reader->hosts->len && leaf_of (reader, end, port) == leaf_of (reader, first, port);)
        end++;
      g_string_append_printf (out, "      - {to: %s, nodes: %u-%u, nics: %u}", leaf, first, end - 1, port);
      g_string_append_printf (out, " # %s ... %s\n",
                              ((const Host *) g_ptr_array_index (reader->hosts, first))->name,
                              ((const Host *) g_ptr_array_index (reader->hosts, end - 1))->name);
    }
}

/* Returns a cable with the speed of most ports, which decides the NIC. */
static const FabIbCable *
usual_cable (const Reader *reader)
{
  const FabIbCable *best = NULL;
  guint most = 0;

  for (guint i = 0; i < reader->hosts->len && i < 1000; i++) {
    const Host *host = g_ptr_array_index (reader->hosts, i);
    const FabIbCable *cable = ibnet_cable (reader->net, g_array_index (host->ports, guint, 0));
    guint n = 0;

    for (guint j = 0; j < reader->hosts->len; j++) {
      const Host *other = g_ptr_array_index (reader->hosts, j);
      n += strcmp (ibnet_cable (reader->net, g_array_index (other->ports, guint, 0))->speed, cable->speed)
        == 0;
    }
    if (n > most) {
      most = n;
      best = cable;
    }
  }
  return best;
}

static void
add_node (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabIbCable *cable = usual_cable (reader);
  const char *speed = cable->speed;
  double gbps = ibnet_gbps (speed);

  if (machine->nic == NULL) {
    machine->nic = ibnet_link (machine, cable);
    fab_imported_machine_read (machine, cable->line, "%u hosts with %u ports each, most of them %s",
                               reader->hosts->len, reader->n_ports, speed);
  }
  if (machine->accelerator == NULL) {
    machine->accelerator = gbps > 400 ? "b200-sxm"
                         : gbps > 200 ? "h100-sxm5-80gb"
                         : gbps > 100 ? "a100-sxm4-80gb"
                                      : "v100-sxm2-16gb";
    fab_imported_machine_infer (
        machine, cable->line,
        "accelerator: %s stands in, of the time of %s; --accelerator names the real one",
        machine->accelerator, speed);
  }
  const char *link = fab_known_pcie (machine, 0,
                                     fab_known_accelerator (machine->accelerator)->pcie_generation, 16);
  guint host = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT,
                                         NULL, 0);
  for (guint i = 0; i < reader->n_ports; i++) {
    fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, host, link, i);
    fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, host, link, i);
  }
  fab_imported_machine_infer (
      machine, 0,
      "inside a node: one GPU for each port, both on %s; the network does not see further. Take "
      "the node from an import of one of the hosts",
      link);
}

static gboolean
fill (Reader *reader, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;

  collect_hosts (reader);
  if (reader->hosts->len == 0)
    return fab_file_text_fail (file, 0, error, "no host has a port on a switch");
  drop_odd_hosts (reader);
  if (reader->n_ports > FAB_IMPORT_MAX_GPUS)
    return fab_file_text_fail (file, 0, error, "one host has %u ports; at most %d are possible",
                               reader->n_ports, FAB_IMPORT_MAX_GPUS);
  if (request->n_nodes > reader->hosts->len)
    return fab_file_text_fail (file, 0, error, "--nodes %u, but there are %u hosts", request->n_nodes,
                               reader->hosts->len);
  mark_switches (reader);
  write_switches (reader);
  write_trunks (reader);
  write_ports (reader);
  add_node (reader);
  fab_nvlink_sockets (reader->machine, 0, NULL, NULL);
  reader->machine->n_nodes = reader->hosts->len;
  return TRUE;
}

static gboolean
ibnetdiscover_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "switchguid=") || fab_file_text_has (text, "caguid=")
      || fab_file_text_has (text, "\"S-");
}

static gboolean
ibnetdiscover_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_autoptr (FabIbNet) net = ibnet_parse (file, error);
  Reader reader = { .machine = machine, .net = net };

  if (net == NULL)
    return FALSE;
  reader.hosts = g_ptr_array_new_with_free_func (host_free);
  reader.number = g_new0 (guint, net->devices->len + 1);
  reader.is_leaf = g_new0 (gboolean, net->devices->len + 1);
  gboolean is_good = fill (&reader, request, error);
  g_ptr_array_unref (reader.hosts);
  g_free (reader.number);
  g_free (reader.is_leaf);
  return is_good;
}

const FabFileFormat fab_file_ibnetdiscover = {
  .name = "ibnetdiscover",
  .tool = "ibnetdiscover",
  .help = "a network and its hosts",
  .kind = FAB_FILE_MACHINE,
  .recognises = ibnetdiscover_recognises,
  .read.machine = ibnetdiscover_read,
};
