/* SPDX-License-Identifier: Apache-2.0 */
/* topo_check.c - `fabricast topo --check`: which cables of a machine, or of a network that a tool listed, are unlike
 * their peers. */
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/hardware/cmd_topo.h"
#include "cli/terminal/terminal.h"
#include "formats/import.h"
#include "models/models.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

enum { MOST_SHOWN = 30, LABEL = 12, RATE = 12, INDENT = 2 + LABEL + RATE + 2 };

static const char *const labels[FAB_N_CABLING_KINDS] = {
  [FAB_CABLING_MISSING] = "missing",
  [FAB_CABLING_MISSING_NIC] = "missing port",
  [FAB_CABLING_SLOW] = "slow",
  [FAB_CABLING_CROSSED] = "crossed",
  [FAB_CABLING_MISPLACED] = "wrong place",
  [FAB_CABLING_FEW_UPLINKS] = "few uplinks",
};

static const FabCablingFinding *
finding_at (const FabCabling *self, guint i)
{
  return &g_array_index (self->findings, FabCablingFinding, i);
}

/* --- what a path holds --- */

gboolean
fab_topo_is_network (const char *path)
{
  g_autofree char *text = NULL;
  gsize size;

  if (path == NULL || g_str_has_suffix (path, ".yaml") || g_str_has_suffix (path, ".yml"))
    return FALSE;
  if (strcmp (path, "-") == 0)
    return TRUE;
  fab_cli_keep_pipe (path);
  if (!fab_cli_read_file (path, FAB_IMPORT_MAX_BYTES, &text, &size, NULL))
    return FALSE;
  return fab_file_format_of (FAB_FILE_MACHINE, &(FabFileText){ path, text, size }) != NULL;
}

FabCabling *
fab_topo_read_network (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize size;

  if (!fab_cli_read_file (path, FAB_IMPORT_MAX_BYTES, &text, &size, error))
    return NULL;
  FabImportRequest request = { .file = { strcmp (path, "-") == 0 ? "standard input" : path, text, size },
                               .registry = &fab_models };
  g_autoptr (FabImportedNetwork) network = fab_import_network (&request, error);

  return network != NULL ? fab_cabling_of_network (network, request.file.name) : NULL;
}

/* --- text --- */

/* Appends words in lines that fit the terminal, or 100 columns, below one another from column INDENT on. */
static void
append_words (GString *page, const char *text)
{
  g_autofree char *printable = fab_cli_printable (text);
  g_auto (GStrv) words = g_strsplit (printable, " ", -1);
  glong n = 0, most = (glong) fab_terminal_prose_columns (100) - INDENT;

  for (guint i = 0; words[i] != NULL; i++) {
    glong length = g_utf8_strlen (words[i], -1);

    if (n > 0 && n + 1 + length > most) {
      g_string_append_printf (page, "\n%*s", INDENT, "");
      n = 0;
    }
    g_string_append_printf (page, "%s%s", n > 0 ? " " : "", words[i]);
    n += length + (n > 0);
  }
  g_string_append_c (page, '\n');
}

static void
append_finding (GString *page, const FabCablingFinding *finding)
{
  g_autofree char *rate = g_strdup_printf ("%.4g GB/s", finding->lost_bytes_per_s / 1e9);

  g_string_append_printf (page, "  %-*s%*s  ", LABEL, labels[finding->kind], RATE, rate);
  append_words (page, finding->text);
}

static void
append_head (GString *page, const FabCabling *self)
{
  g_autofree char *source = fab_cli_printable (self->source);
  g_autoptr (GArray) tiers = fab_cabling_tiers (self);
  guint n_hosts = 0, n_trunks = 0, n_ports = 0;

  for (guint i = 0; i < self->parts->len; i++)
    n_hosts += fab_cabling_part (self, i)->is_host;
  for (guint i = 0; i < self->cables->len; i++)
    *(fab_cabling_part (self, fab_cabling_cable (self, i)->a)->is_host
          ? &n_ports
          : &n_trunks) += fab_cabling_cable (self, i)->count;
  g_string_append_printf (page, "%s: %u %s", source, n_hosts, fab_plural (n_hosts, "host", "hosts"));
  for (guint i = 0; i < tiers->len; i++) {
    guint n = g_array_index (tiers, guint, i);
    g_autofree char *name = fab_cabling_tier_name (i + 1, n);

    g_string_append_printf (page, ", %u %s", n, name);
  }
  g_string_append_printf (page, "; %u %s of hosts, %u %s between switches\n", n_ports,
                          fab_plural (n_ports, "port", "ports"), n_trunks,
                          fab_plural (n_trunks, "cable", "cables"));
}

static void
print_text (const FabCabling *self, gboolean is_whole)
{
  g_autoptr (GString) page = g_string_new (NULL);
  guint n = self->findings->len, n_shown = is_whole ? n : MIN (n, MOST_SHOWN);

  append_head (page, self);
  if (n == 0)
    g_string_append (page, "\nNo cable is unlike its peers.\n");
  else
    g_string_append_printf (
        page,
        "\n%u %s unlike %s peers. The worst come first, by the rate that is lost or goes to the wrong "
        "place:\n\n",
        n, fab_plural (n, "thing is", "things are"), fab_plural (n, "its", "their"));
  for (guint i = 0; i < n_shown; i++)
    append_finding (page, finding_at (self, i));
  if (n_shown < n)
    g_string_append_printf (page, "  ... and %u more; --all shows every one\n", n - n_shown);
  if (self->notes->len > 0)
    g_string_append_c (page, '\n');
  for (guint i = 0; i < self->notes->len; i++) {
    g_autofree char *note = fab_cli_printable (g_ptr_array_index (self->notes, i));

    g_string_append_printf (page, "%s\n", note);
  }
  g_print ("%s", page->str);
}

/* --- JSON --- */

static void
add_finding (FabJson *json, const FabCablingFinding *finding)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kind", fab_cabling_kind_names[finding->kind]);
  fab_json_add_text (json, "part", finding->part);
  fab_json_add_text (json, "port", finding->port);
  fab_json_add_text (json, "peer", finding->peer);
  fab_json_add_text (json, "peer_port", finding->peer_port);
  if (finding->n_usual > 0) {
    fab_json_add_whole (json, "has", finding->n_has);
    fab_json_add_whole (json, "usual", finding->n_usual);
  }
  fab_json_add_real (json, "lost_GBps", finding->lost_bytes_per_s / 1e9);
  fab_json_add_text (json, "text", finding->text);
  fab_json_end (json);
}

static void
print_json (const FabCabling *self)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (GArray) tiers = fab_cabling_tiers (self);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "source", self->source);
  fab_json_begin_array (json, "switches_by_tier");
  for (guint i = 0; i < tiers->len; i++)
    fab_json_add_whole (json, NULL, g_array_index (tiers, guint, i));
  fab_json_end (json);
  fab_json_begin_array (json, "findings");
  for (guint i = 0; i < self->findings->len; i++)
    add_finding (json, finding_at (self, i));
  fab_json_end (json);
  fab_json_begin_array (json, "notes");
  for (guint i = 0; i < self->notes->len; i++)
    fab_json_add_text (json, NULL, g_ptr_array_index (self->notes, i));
  fab_json_end (json);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

void
fab_topo_print_check (FabCabling *cabling, gboolean is_json, gboolean is_whole)
{
  fab_cabling_check (cabling);
  if (is_json)
    print_json (cabling);
  else
    print_text (cabling, is_whole);
}
