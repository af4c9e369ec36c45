/* SPDX-License-Identifier: Apache-2.0 */
/* lldp.c - neighbours of Ethernet switches, as SONiC's `show lldp table` prints them, of one switch or several.
 *
 *   admin@leaf1:~$ show lldp table
 *   LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
 *   -----------  --------------  -----------------  ------------  -----------------------
 *   Ethernet0    gpu01           0c:42:a1:88:0a:1c  R             Interface   8 as enp5s0f0
 *   Ethernet112  spine1          Ethernet4          BR            Ethernet4
 *
 * The prompt says whose table it is. A neighbour is a switch where the text has its table too, or where it is a bridge
 * whose port is no network card. Speeds stand in `show interfaces status`, which may be in the same text.
 */
#include <string.h>

#include "formats/machine/machine.h"
#include "formats/machine/network.h"
#include "formats/text/scan.h"
#include "sim/base/units.h"

enum { N_COLUMNS = 5 };

/* A row of a table of neighbours. */
typedef struct {
  guint line;
  char *local, *port;                        /* the switch, and its port */
  char *remote, *peer_port, *kinds, *detail; /* the other columns */
} Row;

typedef struct {
  FabScan scan;
  GArray *rows;         /* Row */
  GHashTable *switches; /* names whose tables the text has */
  GHashTable *speeds;   /* "leaf1 Ethernet0": "400G" */
  char *name;           /* whose output follows; NULL: no prompt yet */
  guint offsets[N_COLUMNS];
  gboolean is_table, is_status;
  guint n_management, management_line;
} Reader;

/* --- the lines --- */

/* Reads "admin@leaf1:~$ show ..." or "leaf1# show ...": the name of the switch. */
static gboolean
read_prompt (Reader *self)
{
  const char *start = self->scan.start, *end = self->scan.end,
             *show = g_strstr_len (start, end - start, "show "), *from, *to;

  if (show == NULL)
    show = g_strstr_len (start, end - start, "lldpshow");
  if (show == NULL || show == start)
    return FALSE;
  from = memchr (start, '@', (gsize) (show - start));
  from = from != NULL ? from + 1 : start;
  to = from;
  while (to < show && (g_ascii_isalnum (*to) || strchr ("-_.", *to) != NULL))
    to++;
  if (to == from || to == show || strchr (":#>$ ", *to) == NULL)
    return FALSE;
  g_free (self->name);
  self->name = g_strndup (from, (gsize) (to - from));
  self->is_table = self->is_status = FALSE;
  return TRUE;
}

/* Finds where the columns begin by the line of dashes. FALSE: it is no such line. */
static gboolean
read_dashes (Reader *self)
{
  guint n = 0;
  gboolean is_inside = FALSE;

  for (const char *c = self->scan.start; c < self->scan.end; c++) {
    if (*c != '-' && *c != ' ')
      return FALSE;
    if (*c == '-' && !is_inside && n < N_COLUMNS)
      self->offsets[n++] = (guint) (c - self->scan.start);
    is_inside = *c == '-';
  }
  return n == N_COLUMNS;
}

/* What stands in a column of the present line. (transfer full) */
static char *
cell (const Reader *self, guint column)
{
  gsize length = (gsize) (self->scan.end - self->scan.start);
  gsize from = MIN (self->offsets[column], length),
        to = column + 1 < N_COLUMNS ? MIN (self->offsets[column + 1], length) : length;

  return g_strstrip (g_strndup (self->scan.start + from, to - from));
}

static void
row_clear (gpointer data)
{
  Row *row = data;

  g_free (row->local);
  g_free (row->port);
  g_free (row->remote);
  g_free (row->peer_port);
  g_free (row->kinds);
  g_free (row->detail);
}

static gboolean
read_row (Reader *self, GError **error)
{
  Row row = { self->scan.line, g_strdup (self->name ? self->name : "switch"),
              cell (self, 0),  cell (self, 1),
              cell (self, 2),  cell (self, 3),
              cell (self, 4) };

  if (*row.remote == '\0' || *row.peer_port == '\0') {
    row_clear (&row);
    return fab_scan_fail (&self->scan, error,
                          "a row must have a port, a device and its port, below the dashes of their columns");
  }
  if (g_str_has_prefix (row.port, "eth") || g_str_has_prefix (row.port, "Management")) {
    if (self->n_management++ == 0)
      self->management_line = row.line;
    row_clear (&row);
    return TRUE;
  }
  g_hash_table_add (self->switches, g_strdup (row.local));
  g_array_append_val (self->rows, row);
  return TRUE;
}

/* Reads "Ethernet0  25,26,27,28  100G  9100 ..." of `show interfaces status`. */
static void
read_status (Reader *self)
{
  g_autofree char *port = fab_scan_word (&self->scan, ""),
                  *lanes = port ? fab_scan_word (&self->scan, "") : NULL,
                  *speed = lanes ? fab_scan_word (&self->scan, "") : NULL;

  if (speed != NULL && fab_imported_network_is_speed (speed))
    g_hash_table_insert (self->speeds, g_strdup_printf ("%s %s", self->name ? self->name : "switch", port),
                         g_strdup (speed));
}

static gboolean
read_lines (Reader *self, GError **error)
{
  gboolean awaits_dashes = FALSE;

  while (fab_scan_line (&self->scan)) {
    FabScan word = self->scan;

    if (read_prompt (self))
      continue;
    if (fab_scan_text (&word, "LocalPort")) {
      awaits_dashes = TRUE;
      self->is_table = self->is_status = FALSE;
    } else if (awaits_dashes) {
      awaits_dashes = FALSE;
      self->is_table = read_dashes (self);
      if (!self->is_table)
        return fab_scan_fail (&self->scan, error,
                              "a line of dashes for each column belongs below LocalPort RemoteDevice ...");
    } else if (fab_scan_text (&word, "Interface") && fab_scan_text (&word, "Lanes"))
      self->is_status = TRUE;
    else if (fab_scan_is_done (&word) || fab_scan_text (&word, "---"))
      self->is_table = FALSE;
    else if (self->is_table && !read_row (self, error))
      return FALSE;
    else if (self->is_status)
      read_status (self);
  }
  return TRUE;
}

/* --- the network --- */

/* Whether a port is a network card of a host: it has an address, or what an operating system calls such cards. */
static gboolean
is_card (const Row *row)
{
  static const char *const names[] = { "en", "eth", "ib", "mlx", "bond", "rdma" };
  const char *detail = g_str_has_prefix (row->detail, "Interface") && strstr (row->detail, " as ") != NULL
                         ? strstr (row->detail, " as ") + strlen (" as ")
                         : row->peer_port;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix (detail, names[i]))
      return TRUE;
  return strlen (row->peer_port) == 17 && row->peer_port[2] == ':' && row->peer_port[5] == ':';
}

static gboolean
is_switch (const Reader *self, const Row *row)
{
  return g_hash_table_contains (self->switches, row->remote)
      || (strchr (row->kinds, 'B') != NULL && !is_card (row));
}

/* A number for a port's name: all its digits, "Ethernet1/51" as 1051. */
static guint
number_of (const char *port)
{
  guint number = 0;

  for (const char *c = port; *c != '\0'; c++)
    if (g_ascii_isdigit (*c))
      number = number * (c > port && g_ascii_isdigit (c[-1]) ? 10 : 100) + (guint) (*c - '0');
  return number & 0xffff;
}

static const char *
speed_of (const Reader *self, const Row *row)
{
  g_autofree char *key = g_strdup_printf ("%s %s", row->local, row->port);

  return g_hash_table_lookup (self->speeds, key);
}

/* A cable between two switches that both have tables counts once, however either calls the other's port. */
static gboolean
is_listed_elsewhere (const Reader *self, const Row *row)
{
  return g_hash_table_contains (self->switches, row->remote) && strcmp (row->remote, row->local) <= 0;
}

static gboolean
add_row (const Reader *self, FabImportedNetwork *net, const Row *row, const char *speed, GError **error)
{
  gboolean is_trunk = is_switch (self, row);
  g_autofree char *id = is_trunk ? g_strdup (row->remote)
                                 : g_strdup_printf ("%s %s", row->remote, row->peer_port);
  guint own, peer;

  own = fab_imported_network_add (net, row->local, TRUE, row->local);
  peer = fab_imported_network_add (net, id, is_trunk, is_trunk ? row->remote : NULL);
  if (!is_trunk && fab_imported_network_device (net, peer)->host == NULL) {
    fab_imported_network_device (net, peer)->host = g_strdup (row->remote);
    fab_imported_network_device (net, peer)->adapter = g_strdup (row->peer_port);
  }
  return fab_imported_network_join (net, self->scan.file, row->line, own, number_of (row->port), peer,
                                    is_trunk ? number_of (row->peer_port) : 1, speed, error);
}

static gboolean
add_rows (const Reader *self, FabImportedNetwork *net, FabImportedMachine *machine, GError **error)
{
  static const char usual[] = "400G";
  guint n_unknown = 0, unknown_line = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    const char *speed = speed_of (self, row);

    if (is_listed_elsewhere (self, row))
      continue;
    if (speed == NULL && n_unknown++ == 0)
      unknown_line = row->line;
    if (!add_row (self, net, row, speed != NULL ? speed : usual, error))
      return FALSE;
  }
  if (n_unknown > 0)
    fab_imported_machine_infer (
        machine, unknown_line,
        "%u %s at %s: LLDP says no rates; keep what `show interfaces status` of the switches prints in the "
        "same text",
        n_unknown, fab_plural (n_unknown, "port runs", "ports run"), usual);
  if (self->n_management > 0)
    fab_imported_machine_leave_out (
        machine, self->management_line, "left out: %u %s of management", self->n_management,
        fab_plural (self->n_management, "neighbour at a port", "neighbours at ports"));
  return TRUE;
}

static gboolean
lldp_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "LocalPort") && fab_file_text_has (text, "RemoteDevice")
      && fab_file_text_has (text, "RemotePortID");
}

static gboolean
lldp_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  g_autoptr (FabImportedNetwork) net = fab_imported_network_new ();
  Reader self = { .scan = FAB_SCAN (&request->file),
                  .rows = g_array_new (FALSE, FALSE, sizeof (Row)),
                  .switches = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                  .speeds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free) };

  g_array_set_clear_func (self.rows, row_clear);
  gboolean is_good = read_lines (&self, error) && add_rows (&self, net, machine, error)
                  && fab_imported_network_fill (net, machine, request, error);

  g_array_unref (self.rows);
  g_hash_table_unref (self.switches);
  g_hash_table_unref (self.speeds);
  g_free (self.name);
  return is_good;
}

const FabFileFormat fab_file_lldp = {
  .name = "lldp",
  .tool = "show lldp table",
  .help = "show lldp table of SONiC, with show interfaces status, of several switches",
  .kind = FAB_FILE_MACHINE,
  .recognises = lldp_recognises,
  .read.machine = lldp_read,
};
