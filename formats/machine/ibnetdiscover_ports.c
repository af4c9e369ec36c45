/* SPDX-License-Identifier: Apache-2.0 */
/* ibnetdiscover_ports.c - reads the report of `ibnetdiscover -p`, a line for each port.
 *
 *   CA   44  1 0x0002c9030045f121 4x FDR - SW    2 17 0x0002c903006e1430 ( 'node7 HCA-1' - 'leaf-2' )
 *   SW    2 19 0x0002c903006e1430 4x SDR                                   'leaf-2'
 *
 * That is kind, LID, port, GUID, width, speed and, where there is a cable, the same of the other end.
 */
#include <string.h>

#include "formats/machine/machine.h"
#include "formats/machine/network.h"
#include "formats/text/scan.h"

/* One end of a line. */
typedef struct {
  gboolean is_switch;
  guint64 lid, port, guid;
} End;

static gboolean
read_kind (FabScan *scan, gboolean *is_switch)
{
  static const char *const kinds[] = { "CA ", "SW ", "RT " };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (fab_scan_text (scan, kinds[i])) {
      *is_switch = i == 1;
      return TRUE;
    }
  return FALSE;
}

static gboolean
read_end (FabScan *scan, End *end)
{
  FabScan guid;

  if (!read_kind (scan, &end->is_switch) || !fab_scan_whole (scan, 0xffff, &end->lid)
      || !fab_scan_whole (scan, 255, &end->port))
    return FALSE;
  guid = *scan;
  return fab_scan_text (&guid, "0x") && fab_scan_hex (scan, &end->guid);
}

static guint
add_end (FabImportedNetwork *net, const End *end, const char *name)
{
  g_autofree char *id = g_strdup_printf ("%c-%016" G_GINT64_MODIFIER "x", end->is_switch ? 'S' : 'H',
                                         end->guid);

  return fab_imported_network_add (net, id, end->is_switch, name);
}

/* Reads a cable behind its own end: "- SW 2 17 0x... ( 'node7 HCA-1' - 'leaf-2' )". */
static gboolean
read_cable (FabImportedNetwork *net, FabScan *scan, const End *own, const char *speed, GError **error)
{
  End peer;
  FabScan before = *scan;
  g_autofree char *name = NULL, *peer_name = NULL;
  guint a, b;

  if (!read_end (scan, &peer))
    return fab_scan_fail (&before, error, "the other end belongs here, as SW 2 17 0x0002c903006e1430");
  before = *scan;
  if (!fab_scan_text (scan, "(") || (name = fab_scan_quoted (scan, '\'')) == NULL
      || !fab_scan_text (scan, "-") || (peer_name = fab_scan_quoted (scan, '\'')) == NULL)
    return fab_scan_fail (&before, error,
                          "the names of both ends belong here, as ( 'node7 HCA-1' - 'leaf-2' )");
  a = add_end (net, own, name);
  b = add_end (net, &peer, peer_name);
  return fab_imported_network_join (net, scan->file, scan->line, a, (guint) own->port, b, (guint) peer.port,
                                    speed, error);
}

static gboolean
read_line (FabImportedNetwork *net, FabScan *scan, GError **error)
{
  FabScan before = *scan;
  End own;
  g_autofree char *width = NULL, *name = NULL, *speed = NULL;

  if (!read_kind (scan, &own.is_switch))
    return TRUE;
  *scan = before;
  if (!read_end (scan, &own))
    return fab_scan_fail (&before, error, "a port must have the form CA 44 1 0x0002c9030045f121 4x FDR");
  (void) fab_scan_column (scan);
  before = *scan;
  width = fab_scan_word (scan, "");
  name = width ? fab_scan_word (scan, "") : NULL;
  if (!fab_scan_text (scan, "-"))
    return TRUE; /* a port without a cable */
  speed = g_strconcat (width, name, NULL);
  if (name == NULL || !fab_imported_network_is_speed (speed))
    return fab_scan_fail (&before, error, "'%s %s' is not a width and speed, as 4x EDR, 4x HDR or 2x NDR are",
                          width, name ? name : "");
  return read_cable (net, scan, &own, speed, error);
}

/* Whether some line begins as those of ports do. */
static gboolean
ports_recognises (const FabFileText *text)
{
  FabScan scan = FAB_SCAN (text);
  End end;

  while (fab_scan_line (&scan))
    if (read_end (&scan, &end))
      return TRUE;
  return FALSE;
}

static gboolean
ports_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  g_autoptr (FabImportedNetwork) net = fab_imported_network_new ();
  FabScan scan = FAB_SCAN (&request->file);

  while (fab_scan_line (&scan))
    if (!read_line (net, &scan, error))
      return FALSE;
  return fab_imported_network_fill (net, machine, request, error);
}

const FabFileFormat fab_file_ibnetdiscover_ports = {
  .name = "ibnetdiscover-p",
  .tool = "ibnetdiscover -p",
  .help = "the same with -p, a line for each port",
  .kind = FAB_FILE_MACHINE,
  .recognises = ports_recognises,
  .read.machine = ports_read,
};
