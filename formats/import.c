/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - finds the format, calls its reader, and checks the names that the user gave. */
#include "formats/import.h"

#include <string.h>

#include "formats/machine/known.h"
#include "formats/machine/network_join.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

enum { MAX_NODES = 200000, IMPORTED = FAB_FILE_MACHINE | FAB_FILE_MODEL };

/* Names all formats, of machines and of measurements; the help says what prints each. */
static char *
list_formats (void)
{
  g_autofree const char **names = fab_file_format_names (IMPORTED | FAB_FILE_MEASUREMENT);
  g_autofree char *all = g_strjoinv (", ", (char **) names);

  return g_strdup_printf ("the formats are %s; `fabricast import --help` describes them", all);
}

/* Graphs of Chakra have no mark but the end of their name, and not all JSON is a trace. */
static gboolean
is_trace (const FabFileText *file)
{
  const FabFileFormat *format = fab_file_format_of (FAB_FILE_TRACE, file);

  return g_str_has_suffix (file->name, ".et")
      || (format != NULL && format->why_not == NULL && strcmp (format->name, "Chakra") != 0
          && (strcmp (format->name, "json") != 0 || fab_file_text_has (file, "\"traceEvents\"")));
}

static gboolean
fail_trace (const FabFileText *file, GError **error)
{
  return fab_file_text_fail (file, 0, error, "this is a trace and no machine: `fabricast import trace %s`",
                             file->name);
}

static const FabFileFormat *
find_format (const FabImportRequest *request, GError **error)
{
  const FabFileFormat *format = request->format ? fab_file_format_named (IMPORTED, request->format)
                                                : fab_file_format_of (IMPORTED, &request->file);
  g_autofree char *known = format == NULL ? list_formats () : NULL;

  if (format != NULL)
    return format;
  if (request->format == NULL && is_trace (&request->file)) {
    fail_trace (&request->file, error);
    return NULL;
  }
  if (request->format == NULL && fab_file_format_of (FAB_FILE_JOB, &request->file) != NULL) {
    fab_file_text_fail (&request->file, 0, error,
                        "this is a job's configuration (%s) and no machine: `fabricast import job %s`",
                        fab_file_format_of (FAB_FILE_JOB, &request->file)->tool, request->file.name);
    return NULL;
  }
  if (request->format) {
    g_autofree const char **names = fab_file_format_names (IMPORTED),
                          **measured = fab_file_format_names (FAB_FILE_MEASUREMENT);
    const char *machine = fab_nearest (request->format, names);
    const char *nearest = machine ? machine : fab_nearest (request->format, measured);
    fab_throw (error, FAB_ERROR_INPUT, "--from %s: unknown format%s%s; %s", request->format,
               nearest ? "; nearest is " : "", nearest ? nearest : "", known);
  } else
    fab_file_text_fail (&request->file, 0, error, "this text has none of the known formats; %s", known);
  return NULL;
}

static gboolean
check_entry (const FabCatalog *catalog, FabCatalogSection section, const char *option, const char *name,
             GError **error)
{
  gboolean is_known = section == FAB_SECTION_LINKS ? fab_catalog_link (catalog, name) != NULL
                                                   : fab_catalog_accelerator (catalog, name) != NULL;
  g_autofree const char **names = fab_catalog_names (catalog, section);
  const char *nearest = is_known ? NULL : fab_nearest (name, names);

  return is_known
      || fab_throw (error, FAB_ERROR_INPUT, "%s %s: no such entry%s%s; `fabricast describe %s` lists them",
                    option, name, nearest ? "; nearest is " : "", nearest ? nearest : "",
                    section == FAB_SECTION_LINKS ? "links" : "accelerators");
}

static gboolean
is_name (const char *name)
{
  return g_ascii_isalpha (*name)
      && strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.") == strlen (name);
}

static gboolean
check_text (const FabFileText *file, GError **error)
{
  if (file->size > FAB_IMPORT_MAX_BYTES)
    return fab_file_text_fail (file, 0, error,
                               "the text is larger than %u MiB, and no machine prints as much",
                               (guint) (FAB_IMPORT_MAX_BYTES >> 20));
  if (strlen (file->text) != file->size && g_str_has_suffix (file->name, ".et"))
    return fail_trace (file, error);
  if (strlen (file->text) != file->size)
    return fab_file_text_fail (file, 0, error, "this is not a text, because it holds a byte 0");
  return TRUE;
}

static gboolean
check_request (const FabImportRequest *request, const FabCatalog *catalog, GError **error)
{
  if (!check_text (&request->file, error))
    return FALSE;
  if (request->name && !is_name (request->name))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--name %s: a name begins with a letter and holds letters, digits, - _ .",
                      request->name);
  if (request->n_nodes > MAX_NODES)
    return fab_throw (error, FAB_ERROR_INPUT, "--nodes %u: at most %d are possible", request->n_nodes,
                      MAX_NODES);
  return (request->accelerator == NULL
          || check_entry (catalog, FAB_SECTION_ACCELERATORS, "--accelerator", request->accelerator, error))
      && (request->nic == NULL || check_entry (catalog, FAB_SECTION_LINKS, "--nic", request->nic, error));
}

/* Adds NICs where there are several machines and the tool shows none. */
static void
add_missing_nics (FabImportedMachine *machine, const FabImportRequest *request)
{
  guint n = machine->parts->len;

  if (machine->node != NULL || fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_NIC) > 0
      || (request->nic == NULL && request->n_nodes < 2))
    return;
  for (guint i = 0; i < n; i++) {
    FabImportedMachinePart gpu = *fab_imported_machine_part (machine, i);

    if (gpu.kind == FAB_IMPORTED_MACHINE_GPU)
      fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, gpu.parent, gpu.link, gpu.order);
  }
  machine->nic = request->nic ? request->nic : fab_known_port (machine, 0, FAB_PORT_UNKNOWN, NULL, 0);
  fab_imported_machine_infer (machine, 0, "a NIC beside each GPU, since the text shows none and %s",
                              request->nic ? "--nic was given" : "there are several nodes");
}

/* A machine with what the user said of it. (transfer full) */
static FabImportedMachine *
machine_new (const FabFileFormat *format, const FabImportRequest *request)
{
  FabImportedMachine *machine = fab_imported_machine_new (format->tool);

  machine->accelerator = request->accelerator;
  machine->nic = request->nic;
  if (request->accelerator)
    fab_imported_machine_infer (machine, 0, "accelerator: %s, as --accelerator says", request->accelerator);
  if (request->nic)
    fab_imported_machine_infer (machine, 0, "NIC ports: %s, as --nic says", request->nic);
  return machine;
}

static char *
import_machine (const FabFileFormat *format, const FabImportRequest *request, GError **error)
{
  g_autoptr (FabImportedMachine) machine = machine_new (format, request);

  if (!format->read.machine (machine, request, error))
    return NULL;
  add_missing_nics (machine, request);
  if (request->n_nodes > 0)
    machine->n_nodes = request->n_nodes;
  else if (machine->fabric->len == 0 && machine->n_nodes == 1)
    fab_imported_machine_infer (machine, 0, "nodes: 1; --nodes asks for more of the same, behind one switch");
  return fab_imported_machine_scenario (machine, request->name ? request->name : "imported",
                                        request->file.name);
}

static char *
import_fragment (const FabFileFormat *format, const FabImportRequest *request, GError **error)
{
  const char *option = request->accelerator != NULL ? "--accelerator"
                     : request->nic != NULL         ? "--nic"
                     : request->n_nodes > 0         ? "--nodes"
                                                    : NULL;

  if (option == NULL)
    return format->read.model (request, error);
  fab_throw (error, FAB_ERROR_INPUT, "%s: %s is a %s and not a machine", option, request->file.name,
             format->tool);
  return NULL;
}

char *
fab_import (const FabImportRequest *request, const FabCatalog *catalog, gboolean *is_fragment, GError **error)
{
  const FabFileFormat *format = check_request (request, catalog, error) ? find_format (request, error) : NULL;

  if (format == NULL)
    return NULL;
  if (is_fragment != NULL)
    *is_fragment = format->kind == FAB_FILE_MODEL;
  return format->kind == FAB_FILE_MODEL ? import_fragment (format, request, error)
                                        : import_machine (format, request, error);
}

/* --- a network and its hosts --- */

/* What several files hold. */
typedef struct {
  GPtrArray *hosts;            /* FabImportedHost */
  const FabFileFormat *format; /* of the network; NULL: none was read yet */
  FabFileText network;
  GString *names; /* of all files */
} Files;

/* A host that shows no NICs gets one beside each GPU. */
static void
add_host (Files *self, FabImportedMachine *machine, const FabImportRequest *request)
{
  FabImportedHost *host = g_new0 (FabImportedHost, 1);
  FabImportRequest several = *request;

  several.n_nodes = 2;
  add_missing_nics (machine, &several);
  host->machine = machine;
  host->file = g_utf8_make_valid (request->file.name, -1);
  g_ptr_array_add (self->hosts, host);
}

/* Reads one file: a host, or the network, which may be refused until its hosts are known. */
static gboolean
add_file (Files *self, const FabImportRequest *request, GError **error)
{
  const FabFileFormat *format = check_text (&request->file, error) ? find_format (request, error) : NULL;
  g_autoptr (GError) failure = NULL;

  if (format == NULL)
    return FALSE;
  if (format->kind != FAB_FILE_MACHINE)
    return fab_file_text_fail (&request->file, 0, error, "%s is neither a network nor a host of one",
                               format->tool ? format->tool : format->name);
  g_autoptr (FabImportedMachine) machine = machine_new (format, request);
  gboolean is_read = format->read.machine (machine, request, &failure);
  if (machine->network == NULL && !is_read) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  if (machine->network != NULL && self->format != NULL)
    return fab_file_text_fail (&request->file, 0, error,
                               "this is a second network, after %s; import each by itself",
                               self->network.name);
  g_string_append_printf (self->names, "%s%s", self->names->len > 0 ? ", " : "", request->file.name);
  if (machine->network == NULL) {
    add_host (self, g_steal_pointer (&machine), request);
    return TRUE;
  }
  self->format = format;
  self->network = request->file;
  return TRUE;
}

static char *
join_files (const Files *self, const FabImportRequest *request, GError **error)
{
  FabImportRequest whole = *request;

  whole.file = self->network;
  whole.hosts = self->hosts;
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new (self->format->tool);
  machine->nic = request->nic;
  if (!self->format->read.machine (machine, &whole, error))
    return NULL;
  if (request->n_nodes > 0)
    machine->n_nodes = request->n_nodes;
  return fab_imported_machine_scenario (machine, request->name ? request->name : "imported",
                                        self->names->str);
}

char *
fab_import_joined (const FabImportRequest *request, const FabFileText *files, guint n_files,
                   const FabCatalog *catalog, GError **error)
{
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (fab_imported_host_free);
  g_autoptr (GString) names = g_string_new (NULL);
  Files self = { .hosts = hosts, .names = names };
  FabImportRequest one = *request;
  gboolean is_good = TRUE;

  for (guint i = 0; i < n_files && is_good; i++) {
    one.file = files[i];
    one.n_nodes = 0;
    is_good = (i > 0 || check_request (&one, catalog, error)) && add_file (&self, &one, error);
  }
  if (is_good && self.format == NULL)
    is_good = fab_throw (
        error, FAB_ERROR_INPUT,
        "several files of machines need one that lists their network, as ibnetdiscover prints it; %s "
        "do not",
        self.names->str);
  return is_good ? join_files (&self, request, error) : NULL;
}

FabImportedNetwork *
fab_import_network (const FabImportRequest *request, GError **error)
{
  const FabFileFormat *format = check_text (&request->file, error) ? find_format (request, error) : NULL;
  g_autoptr (GError) failure = NULL;

  if (format == NULL)
    return NULL;
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new (format->tool);
  gboolean is_read = format->kind == FAB_FILE_MACHINE && format->read.machine (machine, request, &failure);
  if (machine->network != NULL) /* a network without hosts is no scenario, but it has cables */
    return fab_imported_network_ref (machine->network);
  if (format->kind == FAB_FILE_MACHINE && !is_read)
    g_propagate_error (error, g_steal_pointer (&failure));
  else
    fab_file_text_fail (&request->file, 0, error,
                        "this is %s, which lists no network; give what `ibnetdiscover` prints, or a scenario",
                        format->tool);
  return NULL;
}
