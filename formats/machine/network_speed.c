/* SPDX-License-Identifier: Apache-2.0 */
/* network_speed.c - widths and speeds of InfiniBand, rates of Ethernet, and the link entries that they are. */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/machine/machine.h"
#include "formats/machine/network.h"

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
  { NULL, 0, 0, NULL },
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
  for (guint i = 0; is_width && speeds[i].name != NULL; i++)
    if (strcmp (speeds[i].name, x + 1) == 0)
      return (gint) i;
  return -1;
}

/* Gb/s of a rate of Ethernet, "400G"; 0: it is none. */
static guint
ethernet_gbps (const char *speed)
{
  gsize n = strlen (speed);
  g_autofree char *number = n > 1 && speed[n - 1] == 'G' ? g_strndup (speed, n - 1) : NULL;
  guint64 gbps;

  return number != NULL && g_ascii_string_to_unsigned (number, 10, 1, 1600, &gbps, NULL) ? (guint) gbps : 0;
}

double
fab_imported_network_gbps (const char *speed)
{
  guint lanes;
  gint index = parse_speed (speed, &lanes);

  if (ethernet_gbps (speed) > 0)
    return ethernet_gbps (speed);
  return index < 0 ? 0 : lanes * speeds[index].lane_gbps * speeds[index].coding;
}

gboolean
fab_imported_network_is_speed (const char *speed)
{
  return fab_imported_network_gbps (speed) > 0;
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

  if (ethernet_gbps (cable->speed) > 0)
    return fab_known_ethernet (machine, cable->line, ethernet_gbps (cable->speed));
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
