/* SPDX-License-Identifier: Apache-2.0 */
/* rocm_smi.c - reads `rocm-smi --showtopo` and `amd-smi topology`: matrices of weights, hops and link types; the former
 * says each GPU's NUMA node too. The former calls GPUs GPU0, the latter 0000:c1:00.0. */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/machine/matrix.h"
#include "sim/base/units.h"

typedef struct {
  FabImportedMachine *machine;
  const FabFileText *file;
  char **lines;
  guint n;
  guint *parts; /* [n] */
} Reader;

static gboolean
is_head (const char *line)
{
  gsize blanks = strspn (line, " \t"), n = strcspn (line + blanks, " \t");
  g_autofree char *word = g_strndup (line + blanks, n);
  const char *colon = strchr (word, ':');

  return fab_matrix_is_head (line) || (colon != NULL && strchr (colon + 1, ':') != NULL);
}

/* Reads the matrix below a title. NULL with *error unset: there is none. */
static FabMatrix *
find_matrix (const Reader *reader, const char *title, GError **error)
{
  for (guint i = 0; reader->lines[i]; i++)
    if (strstr (reader->lines[i], title)) {
      for (guint head = i + 1; head < i + 4 && reader->lines[head]; head++)
        if (is_head (reader->lines[head]))
          return fab_matrix_read (reader->file, reader->lines, head, error);
      fab_file_text_fail (reader->file, i + 1, error, "there is no matrix below '%s'", title);
      return NULL;
    }
  return NULL;
}

/* Reads "GPU[3]  : (Topology) Numa Node: 1" or "GPU 3"; -1: not said. */
static gint
numa_node (const Reader *reader, guint gpu)
{
  for (guint i = 0; reader->lines[i]; i++) {
    const char *line = reader->lines[i], *node = strstr (line, "Numa Node:");
    guint64 index;
    gint64 value;

    if (node == NULL || !g_str_has_prefix (line, "GPU"))
      continue;
    gsize n_digits = strspn (line + 3 + strspn (line + 3, " ["), "0123456789");
    g_autofree char *number = g_strndup (line + 3 + strspn (line + 3, " ["), n_digits);
    g_autofree char *text = g_strstrip (g_strdup (node + strlen ("Numa Node:")));
    if (g_ascii_string_to_unsigned (number, 10, 0, G_MAXUINT, &index, NULL) && index == gpu
        && g_ascii_string_to_signed (text, 10, 0, 4096, &value, NULL))
      return (gint) value;
  }
  return -1;
}

static void
add_gpus (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const char *link = fab_known_usual_pcie (machine);
  g_autoptr (GHashTable) hosts = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < reader->n; i++) {
    gpointer node = GINT_TO_POINTER (numa_node (reader, i));

    if (!g_hash_table_contains (hosts, node))
      g_hash_table_insert (hosts, node,
                           GUINT_TO_POINTER (fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST,
                                                                       FAB_IMPORTED_MACHINE_NO_PARENT, NULL,
                                                                       G_MAXUINT)));
  }
  for (guint i = 0; i < reader->n; i++) {
    gpointer node = GINT_TO_POINTER (numa_node (reader, i));
    reader->parts[i] = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU,
                                                 GPOINTER_TO_UINT (g_hash_table_lookup (hosts, node)), link,
                                                 i);
  }
  fab_imported_machine_read (machine, 0, "%u %s on %u %s", reader->n, fab_plural (reader->n, "GPU", "GPUs"),
                             g_hash_table_size (hosts),
                             fab_plural (g_hash_table_size (hosts), "host (NUMA node)",
                                         "hosts (NUMA nodes)"));
  fab_imported_machine_infer (
      machine, 0, "PCIe: %s from each GPU to its host; the text knows no generations, widths, switches",
      link);
}

/* Says whether one XGMI wire joins the pair; two hops lead over another GPU. */
static gboolean
is_wired (const FabMatrix *types, const FabMatrix *hops, guint i, guint j)
{
  return strcmp (fab_matrix_cell (types, i, j), "XGMI") == 0
      && (hops == NULL || strcmp (fab_matrix_cell (hops, i, j), "1") == 0);
}

static guint
count_wired (const Reader *reader, const FabMatrix *types, const FabMatrix *hops)
{
  guint n = 0;

  for (guint i = 0; i < reader->n; i++)
    for (guint j = i + 1; j < reader->n; j++)
      n += is_wired (types, hops, i, j);
  return n;
}

static void
choose_accelerator (Reader *reader, const FabMatrix *types, guint n_wired)
{
  guint n_pairs = reader->n * (reader->n - 1) / 2;
  const char *name = n_wired == 0 ? "mi50" : n_wired == n_pairs && reader->n == 8 ? "mi300x" : "mi250x-gcd";

  if (reader->machine->accelerator)
    return;
  fab_imported_machine_infer (
      reader->machine, fab_matrix_line (types),
      "accelerator: %s, as %u of %u pairs have xGMI (all of 8 GPUs MI300X, some MI250X, none an older "
      "card); --accelerator names another",
      name, n_wired, n_pairs);
  reader->machine->accelerator = name;
}

static void
add_wires (Reader *reader, const FabMatrix *types, const FabMatrix *hops)
{
  g_autofree gboolean *wired = g_new0 (gboolean, reader->n * reader->n);

  for (guint i = 0; i < reader->n; i++)
    for (guint j = i + 1; j < reader->n; j++)
      wired[i * reader->n + j] = wired[j * reader->n + i] = is_wired (types, hops, i, j);
  guint n = count_wired (reader, types, hops);
  fab_imported_machine_read (reader->machine, fab_matrix_line (types), "%u %s with an xGMI wire between them",
                             n, fab_plural (n, "pair", "pairs"));
  fab_xgmi_add (reader->machine, fab_matrix_line (types), reader->n, wired, reader->parts);
}

static gboolean
check_types (const Reader *reader, const FabMatrix *types, GError **error)
{
  static const char *const known[] = { "XGMI", "PCIE", "PCIe", "0", "X", "SELF", "N/A", "UNKNOWN", NULL };

  for (guint i = 0; i < reader->n; i++)
    for (guint j = 0; j < reader->n; j++)
      if (!g_strv_contains (known, fab_matrix_cell (types, i, j)))
        return fab_file_text_fail (reader->file, g_array_index (types->lines, guint, i), error,
                                   "GPU%u to GPU%u: '%s' is neither XGMI nor PCIE", i, j,
                                   fab_matrix_cell (types, i, j));
  return TRUE;
}

static gboolean
fill (Reader *reader, const FabMatrix *types, const FabMatrix *hops, GError **error)
{
  if (hops && hops->labels->len != reader->n)
    return fab_file_text_fail (reader->file, 0, error, "the text has hops of %u GPUs and link types of %u",
                               hops->labels->len, reader->n);
  if (reader->n > FAB_IMPORT_MAX_GPUS)
    return fab_file_text_fail (reader->file, 0, error, "the machine has more than %d GPUs",
                               FAB_IMPORT_MAX_GPUS);
  if (!check_types (reader, types, error))
    return FALSE;
  choose_accelerator (reader, types, count_wired (reader, types, hops));
  reader->parts = g_new (guint, reader->n);
  add_gpus (reader);
  if (count_wired (reader, types, hops) > 0)
    add_wires (reader, types, hops);
  g_free (reader->parts);
  reader->machine->nic = NULL;
  fab_nvlink_sockets (reader->machine, 0, NULL, NULL);
  return TRUE;
}

static gboolean
rocm_smi_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "Link Type between two GPUs");
}

static gboolean
read_matrices (FabImportedMachine *machine, const FabImportRequest *request, const char *types_title,
               const char *hops_title, GError **error)
{
  const FabFileText *file = &request->file;
  g_auto (GStrv) lines = fab_matrix_lines (file->text);
  Reader reader = { .machine = machine, .file = file, .lines = lines };
  g_autoptr (GError) cause = NULL;
  g_autoptr (FabMatrix) types = find_matrix (&reader, types_title, &cause);
  g_autoptr (FabMatrix) hops = types ? find_matrix (&reader, hops_title, &cause) : NULL;

  if (cause) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  if (types == NULL)
    return fab_file_text_fail (file, 0, error, "the line '%s' is missing", types_title);
  reader.n = types->labels->len;
  return fill (&reader, types, hops, error);
}

static gboolean
rocm_smi_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  return read_matrices (machine, request, "Link Type between two GPUs", "Hops between two GPUs", error);
}

static gboolean
amd_smi_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "LINK TYPE TABLE");
}

static gboolean
amd_smi_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  return read_matrices (machine, request, "LINK TYPE TABLE", "HOPS TABLE", error);
}

const FabFileFormat fab_file_rocm_smi = {
  .name = "rocm-smi",
  .tool = "rocm-smi --showtopo",
  .kind = FAB_FILE_MACHINE,
  .recognises = rocm_smi_recognises,
  .read.machine = rocm_smi_read,
};

const FabFileFormat fab_file_amd_smi = {
  .name = "amd-smi",
  .tool = "amd-smi topology",
  .kind = FAB_FILE_MACHINE,
  .recognises = amd_smi_recognises,
  .read.machine = amd_smi_read,
};
