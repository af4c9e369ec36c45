/* SPDX-License-Identifier: Apache-2.0 */
/* ibnetdiscover.c - reads the lines of ibnetdiscover.
 *
 *   Switch 36 "S-guid"  # "description" ...        a device, then a line for each port with a cable:
 *   [13]  "S-guid"[19]  # "description" lid 21 4xEDR
 *   [1](portguid)  "S-guid"[33]  # lid 5 lmc 0 "description" lid 2 4xQDR
 *
 * Each cable is listed at both ends, or at one where only that was pasted.
 */
#include <string.h>

#include "formats/machine/machine.h"
#include "formats/machine/network.h"

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

/* Accepts "S-" (switch) or "H-" (adapter) and hexadecimal digits. */
static gboolean
is_guid (const char *text)
{
  return text && (text[0] == 'S' || text[0] == 'H') && text[1] == '-' && text[2]
      && strspn (text + 2, "0123456789abcdefABCDEF") == strlen (text + 2);
}

static guint
add_device (FabImportedNetwork *self, const char *guid, const char *description)
{
  return fab_imported_network_add (self, guid, guid[0] == 'S', description);
}

/* Reads the line of a port of `device`, whose own line stands above. */
static gboolean
read_port (FabImportedNetwork *self, const FabFileText *file, const char *line, guint number, guint device,
           GError **error)
{
  const char *rest = line, *comment = strchr (line, '#');
  g_autofree char *guid = next_quoted (&rest), *plain = g_strchomp (g_strdup (line));
  const char *speed = strrchr (plain, ' ');
  guint64 port = g_ascii_strtoull (line + 1, NULL, 10), peer_port;
  g_autofree char *description = comment ? next_quoted (&comment) : NULL;

  if (!is_guid (guid) || *rest != '[')
    return fab_file_text_fail (file, number, error,
                               "a port must have the form [1] \"S-guid\"[2] # \"name\" lid 3 4xHDR");
  if (speed == NULL || !fab_imported_network_is_speed (speed + 1))
    return fab_file_text_fail (
        file, number, error,
        "'%s' is not a width and speed; lines must end with 4xEDR, 4xHDR, 2xNDR (older versions of "
        "ibnetdiscover left it out)",
        speed ? speed + 1 : plain);
  peer_port = g_ascii_strtoull (rest + 1, NULL, 10);
  return fab_imported_network_join (self, file, number, device, (guint) (port & 0xffff),
                                    add_device (self, guid, description), (guint) (peer_port & 0xffff),
                                    speed + 1, error);
}

static gboolean
is_device_line (const char *line)
{
  return g_str_has_prefix (line, "Switch")
      || (g_str_has_prefix (line, "Ca") && strchr (" \t", line[2]) && line[2]);
}

/* "sysimgguid=0xec0d9a0300ec8480" stands above the line of the device; 0: the line is none. */
static guint64
system_guid_of (const char *line)
{
  const char *prefix = "sysimgguid=0x";

  return g_str_has_prefix (line, prefix) ? g_ascii_strtoull (line + strlen (prefix), NULL, 16) : 0;
}

static gboolean
read_lines (FabImportedNetwork *self, const FabFileText *file, char **lines, GError **error)
{
  guint device = G_MAXUINT;
  guint64 system_guid = 0;

  for (guint i = 0; lines[i]; i++) {
    const char *line = lines[i] + strspn (lines[i], " \t"), *rest = line;

    system_guid = system_guid_of (line) > 0 ? system_guid_of (line) : system_guid;
    if (is_device_line (line)) {
      g_autofree char *guid = next_quoted (&rest), *description = guid ? next_quoted (&rest) : NULL;

      if (!is_guid (guid) || guid[0] != (line[0] == 'S' ? 'S' : 'H'))
        return fab_file_text_fail (file, i + 1, error,
                                   "a device must have the form Switch 36 \"S-guid\" or Ca 2 \"H-guid\"");
      device = add_device (self, guid, description);
      fab_imported_network_device (self, device)->system_guid = system_guid;
      system_guid = 0;
    } else if (*line == '[' && device == G_MAXUINT)
      return fab_file_text_fail (file, i + 1, error, "this port comes before any Switch or Ca");
    else if (*line == '[' && !read_port (self, file, line, i + 1, device, error))
      return FALSE;
  }
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
  g_autoptr (FabImportedNetwork) net = fab_imported_network_new ();
  g_auto (GStrv) lines = g_strsplit (request->file.text, "\n", -1);

  return read_lines (net, &request->file, lines, error)
      && fab_imported_network_fill (net, machine, request, error);
}

const FabFileFormat fab_file_ibnetdiscover = {
  .name = "ibnetdiscover",
  .tool = "ibnetdiscover",
  .help = "a network and its hosts",
  .kind = FAB_FILE_MACHINE,
  .recognises = ibnetdiscover_recognises,
  .read.machine = ibnetdiscover_read,
};
