/* SPDX-License-Identifier: Apache-2.0 */
/* iblinkinfo.c - reads the lines of iblinkinfo, of a whole fabric, of its switches alone, or what grep left of it.
 *
 *   CA: host-3 HCA-1:                         a device, then a line for each port
 *         0xb883...      6    1[  ] ==( 4X   53.125 Gbps Active/  LinkUp)==>       3    3[  ] "leaf-7" ( )
 *   Switch: 0x0c42... leaf-7:
 *              3    3[  ] ==( 4X   53.125 Gbps Active/  LinkUp)==>       6    1[  ] "host-3 HCA-1" ( )
 *
 * With -l (--line) names stand in each line: 0xguid "name" lid port[  ] ==( ... )==> 0xguid lid port[  ] "name" ( ).
 * Numbers before a port are LIDs: a switch has one, an adapter one for each port. So a LID with several ports is a
 * switch, whether or not the line above it that says so was kept.
 */
#include <string.h>

#include "formats/machine/machine.h"
#include "formats/machine/network.h"
#include "formats/text/scan.h"
#include "sim/base/units.h"

/* What is known of a LID. */
typedef struct {
  guint64 lid;
  char *name;   /* NULL: no line says it */
  guint line;   /* at which it was named first */
  guint device; /* in the network */
  gint kind;    /* 'S', 'C'; 0: by its ports */
  guint64 port; /* the first that a line begins with; 0: no line does */
  guint64 guid; /* 0: no line says it */
  gboolean has_several;
} Lid;

/* One port, as its line says. */
typedef struct {
  guint line;
  guint lid, peer; /* indices of Lid */
  guint64 port, peer_port;
  char *speed;    /* "4xHDR" */
  char *possible; /* what both ends can do, where the tool says that it is more; NULL: it does not */
} Cable;

typedef struct {
  FabScan scan;
  GArray *lids;   /* Lid */
  GArray *cables; /* Cable */
  GHashTable *by_lid;
  gint kind;    /* of the device whose lines follow; 0: not said */
  guint64 guid; /* of it, where it is a switch; 0: not said */
  char *name;
  guint n_slower, slower_line; /* cables that the tool calls slower than they could be */
  guint n_idle, idle_line;     /* that are up, but not active */
} Reader;

static const struct {
  const char *name;
  double gbps; /* of a lane, as it is signalled */
} lanes[] = {
  { "SDR", 2.5 },     { "DDR", 5 },        { "QDR", 10 },     { "FDR10", 10.3125 },
  { "FDR", 14.0625 }, { "EDR", 25.78125 }, { "HDR", 53.125 }, { "NDR", 106.25 },
  { "XDR", 212.5 },   { "GDR", 425 },      { NULL, 0 },
};

static Lid *
lid_at (const Reader *self, guint index)
{
  return &g_array_index (self->lids, Lid, index);
}

/* Returns the index of a LID. A name that contradicts an earlier one is an error: the text holds two fabrics. */
static gboolean
find_lid (Reader *self, guint64 lid, const char *name, guint *index, GError **error)
{
  gpointer found = g_hash_table_lookup (self->by_lid, GSIZE_TO_POINTER (lid));
  Lid fresh = { .lid = lid };
  Lid *known;

  if (lid == 0)
    return fab_scan_fail (
        &self->scan, error,
        "LID 0: no subnet manager has numbered this port, so that the text does not tell ports "
        "apart; print it again when one runs");
  if (found == NULL) {
    g_array_append_val (self->lids, fresh);
    g_hash_table_insert (self->by_lid, GSIZE_TO_POINTER (lid), GUINT_TO_POINTER (self->lids->len));
    found = GUINT_TO_POINTER (self->lids->len);
  }
  *index = GPOINTER_TO_UINT (found) - 1;
  known = lid_at (self, *index);
  if (name == NULL || *name == '\0')
    return TRUE;
  if (known->name != NULL && strcmp (known->name, name) != 0)
    return fab_scan_fail (&self->scan, error,
                          "LID %" G_GUINT64_FORMAT
                          " is '%s' here and '%s' in line %u: these are two fabrics; import "
                          "each by itself",
                          lid, name, known->name, known->line);
  if (known->name == NULL) {
    known->name = g_strdup (name);
    known->line = self->scan.line;
  }
  return TRUE;
}

/* The generation whose lanes have this rate; NULL: none has. */
static const char *
generation_of (double gbps)
{
  for (guint i = 0; lanes[i].name != NULL; i++)
    if (gbps > 0.99 * lanes[i].gbps && gbps < 1.01 * lanes[i].gbps)
      return lanes[i].name;
  return NULL;
}

/* Reads "4X 25.78125 Gbps", and returns it as "4xEDR". (transfer full) */
static char *
read_speed (Reader *self, GError **error)
{
  FabScan before = self->scan;
  guint64 width;
  double gbps;

  if (!fab_scan_whole (&self->scan, 12, &width) || !fab_scan_text (&self->scan, "X")
      || !fab_scan_real (&self->scan, &gbps) || !fab_scan_text (&self->scan, "Gbps")) {
    fab_scan_fail (&before, error, "a width and the rate of a lane belong here, as 4X 53.125 Gbps");
    return NULL;
  }
  if (generation_of (gbps) != NULL) {
    g_autofree char *speed = g_strdup_printf ("%ux%s", (guint) width, generation_of (gbps));

    if (fab_imported_network_is_speed (speed))
      return g_steal_pointer (&speed);
  }
  fab_scan_fail (&before, error,
                 "%" G_GUINT64_FORMAT
                 "X of %g Gbps is no rate of InfiniBand; a lane has 25.78125 (EDR), 53.125 (HDR), "
                 "106.25 (NDR) or 212.5 (XDR)",
                 width, gbps);
  return NULL;
}

/* Reads "Active/  LinkUp)==>". *is_up is FALSE for a port without a cable that works. */
static gboolean
read_state (Reader *self, gboolean *is_up, GError **error)
{
  g_autofree char *state = fab_scan_word (&self->scan, "/"), *physical = NULL;

  if (state == NULL || !fab_scan_text (&self->scan, "/")
      || (physical = fab_scan_word (&self->scan, ")")) == NULL || !fab_scan_text (&self->scan, ")==>"))
    return fab_scan_fail (&self->scan, error, "a state belongs here, as Active/  LinkUp)==>");
  *is_up = strcmp (physical, "LinkUp") == 0;
  if (*is_up && strcmp (state, "Active") != 0 && self->n_idle++ == 0)
    self->idle_line = self->scan.line;
  return TRUE;
}

/* Reads "Could be 53.125 Gbps", "Could be 4X" or both: what is not said is as it runs. */
static void
read_possible (Reader *self, Cable *cable)
{
  double number;
  gboolean is_more = FALSE;
  guint width = (guint) g_ascii_strtoull (cable->speed, NULL, 10);
  const char *generation = strchr (cable->speed, 'x') + 1;

  while (fab_scan_to (&self->scan, "Could be") && fab_scan_real (&self->scan, &number))
    if (fab_scan_text (&self->scan, "X") && number >= 1 && number <= 12) {
      width = (guint) number;
      is_more = TRUE;
    } else if (fab_scan_text (&self->scan, "Gbps") && generation_of (number) != NULL) {
      generation = generation_of (number);
      is_more = TRUE;
    }
  if (!is_more)
    return;
  cable->possible = g_strdup_printf ("%ux%s", width, generation);
  if (self->n_slower++ == 0)
    self->slower_line = self->scan.line;
}

/* Reads what stands behind the arrow: the other end. */
static gboolean
read_peer (Reader *self, Cable *cable, GError **error)
{
  FabScan before = self->scan, number;
  guint64 guid = 0, lid;
  g_autofree char *name = NULL;

  number = self->scan;
  if (!fab_scan_text (&number, "0x") || !fab_scan_hex (&self->scan, &guid))
    self->scan = before;
  if (!fab_scan_whole (&self->scan, 0xffff, &lid) || !fab_scan_whole (&self->scan, 255, &cable->peer_port)
      || !fab_scan_text (&self->scan, "[") || !fab_scan_to (&self->scan, "]")
      || (name = fab_scan_quoted (&self->scan, '"')) == NULL)
    return fab_scan_fail (&before, error, "the other end belongs here, as 3   41[  ] \"leaf-7\"");
  if (!find_lid (self, lid, name, &cable->peer, error))
    return FALSE;
  if (guid != 0)
    lid_at (self, cable->peer)->guid = guid;
  read_possible (self, cable);
  return TRUE;
}

/* Reads what stands before the arrow: "0xguid", with -l its name, the LID and the port. */
static gboolean
read_own (Reader *self, Cable *cable, GError **error)
{
  FabScan before = self->scan, mark = self->scan;
  gboolean has_guid = fab_scan_text (&mark, "0x");
  guint64 guid = 0, lid;
  g_autofree char *name = NULL;
  Lid *own;

  if ((has_guid && !fab_scan_hex (&self->scan, &guid)))
    return fab_scan_fail (&before, error, "a GUID belongs here, as 0x0c42a10300b95bfa");
  name = fab_scan_quoted (&self->scan, '"');
  if (!fab_scan_whole (&self->scan, 0xffff, &lid) || !fab_scan_whole (&self->scan, 255, &cable->port)
      || !fab_scan_text (&self->scan, "[") || !fab_scan_to (&self->scan, "]")
      || !fab_scan_text (&self->scan, "==("))
    return fab_scan_fail (&before, error,
                          "a port must have the form 3   12[  ] ==( 4X 53.125 Gbps Active/ LinkUp)==>");
  if (!find_lid (self, lid, name ? name : self->name, &cable->lid, error))
    return FALSE;
  own = lid_at (self, cable->lid);
  own->has_several = own->has_several || (own->port != 0 && own->port != cable->port);
  own->port = cable->port;
  own->guid = guid != 0 ? guid : own->guid != 0 ? own->guid : self->guid;
  if (own->kind == 0)
    own->kind = self->kind != 0 ? self->kind : name != NULL ? 0 : has_guid ? 'C' : 'S';
  return TRUE;
}

static gboolean
read_cable (Reader *self, GError **error)
{
  Cable cable = { .line = self->scan.line };
  gboolean is_up = FALSE;
  FabScan state;

  if (!read_own (self, &cable, error))
    return FALSE;
  state = self->scan;
  if (fab_scan_text (&state, "Down") || !fab_scan_to (&state, "==>"))
    return TRUE;
  if ((cable.speed = read_speed (self, error)) == NULL || !read_state (self, &is_up, error)
      || (is_up && !read_peer (self, &cable, error))) {
    g_free (cable.speed);
    return FALSE;
  }
  if (is_up)
    g_array_append_val (self->cables, cable);
  else
    g_free (cable.speed);
  return TRUE;
}

/* Reads "CA: host-3 HCA-1:" or "Switch: 0x0c42a10300b95bfa leaf-7:", which old versions write without the colon, to the
 * end of its line. Other lines stay. */
static void
read_head (Reader *self)
{
  if (fab_scan_text (&self->scan, "CA:"))
    self->kind = 'C';
  else if (fab_scan_text (&self->scan, "Switch:") || fab_scan_text (&self->scan, "Switch 0x"))
    self->kind = 'S';
  else
    return;
  self->guid = 0;
  if (self->kind == 'S')
    (void) fab_scan_hex (&self->scan, &self->guid);
  g_free (self->name);
  self->name = fab_scan_rest (&self->scan);
  if (g_str_has_suffix (self->name, ":"))
    self->name[strlen (self->name) - 1] = '\0';
}

static gboolean
read_lines (Reader *self, GError **error)
{
  while (fab_scan_line (&self->scan)) {
    read_head (self);
    if (g_strstr_len (self->scan.at, self->scan.end - self->scan.at, "==(") != NULL
        && !read_cable (self, error))
      return FALSE;
  }
  return TRUE;
}

/* A LID that begins no line is an adapter: the text lists every port of a switch. */
static gboolean
is_switch (const Lid *lid)
{
  return lid->kind == 'S' || (lid->kind == 0 && lid->has_several);
}

/* Both ends of a cable list it, and either may say what it could be; the first one counts. */
static void
note_possible (FabImportedNetwork *net, const Cable *cable)
{
  FabImportedCable *last;

  if (net->cables->len == 0)
    return;
  last = fab_imported_network_cable (net, net->cables->len - 1);
  if (last->line == cable->line)
    last->possible = g_string_chunk_insert_const (net->texts, cable->possible);
}

static gboolean
add_cables (Reader *self, FabImportedNetwork *net, GError **error)
{
  for (guint i = 0; i < self->lids->len; i++) {
    Lid *lid = lid_at (self, i);
    g_autofree char *id = g_strdup_printf ("lid-%" G_GUINT64_FORMAT, lid->lid);

    lid->device = fab_imported_network_add (net, id, is_switch (lid), lid->name);
    fab_imported_network_device (net, lid->device)->guid = lid->guid;
  }
  for (guint i = 0; i < self->cables->len; i++) {
    const Cable *cable = &g_array_index (self->cables, Cable, i);

    if (!fab_imported_network_join (net, self->scan.file, cable->line, lid_at (self, cable->lid)->device,
                                    (guint) cable->port, lid_at (self, cable->peer)->device,
                                    (guint) cable->peer_port, cable->speed, error))
      return FALSE;
    if (cable->possible != NULL)
      note_possible (net, cable);
  }
  return TRUE;
}

static void
note_cables (const Reader *self, FabImportedMachine *machine)
{
  if (self->n_slower > 0)
    fab_imported_machine_read (
        machine, self->slower_line,
        "%u %s slower or narrower than both ends can, the first in line %u (\"Could be\")", self->n_slower,
        fab_plural (self->n_slower, "port runs", "ports run"), self->slower_line);
  if (self->n_idle > 0)
    fab_imported_machine_infer (
        machine, self->idle_line,
        "%u %s up and not active, the first in line %u; %s once a subnet manager has set %s up", self->n_idle,
        fab_plural (self->n_idle, "port is", "ports are"), self->idle_line,
        fab_plural (self->n_idle, "it counts, as it does", "they count, as they do"),
        fab_plural (self->n_idle, "it", "them"));
}

static void
lid_clear (gpointer data)
{
  Lid *lid = data;

  g_free (lid->name);
}

static void
cable_clear (gpointer data)
{
  Cable *cable = data;

  g_free (cable->speed);
  g_free (cable->possible);
}

static gboolean
iblinkinfo_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, ")==>") && fab_file_text_has (text, "==(");
}

static gboolean
iblinkinfo_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  g_autoptr (FabImportedNetwork) net = fab_imported_network_new ();
  Reader self = { .scan = FAB_SCAN (&request->file),
                  .lids = g_array_new (FALSE, FALSE, sizeof (Lid)),
                  .cables = g_array_new (FALSE, FALSE, sizeof (Cable)),
                  .by_lid = g_hash_table_new (NULL, NULL) };

  g_array_set_clear_func (self.lids, lid_clear);
  g_array_set_clear_func (self.cables, cable_clear);
  gboolean is_good = read_lines (&self, error) && add_cables (&self, net, error)
                  && fab_imported_network_fill (net, machine, request, error);

  if (is_good)
    note_cables (&self, machine);
  g_array_unref (self.lids);
  g_array_unref (self.cables);
  g_hash_table_unref (self.by_lid);
  g_free (self.name);
  return is_good;
}

const FabFileFormat fab_file_iblinkinfo = {
  .name = "iblinkinfo",
  .tool = "iblinkinfo",
  .help = "a network and its hosts, whole or with -l",
  .kind = FAB_FILE_MACHINE,
  .recognises = iblinkinfo_recognises,
  .read.machine = iblinkinfo_read,
};
