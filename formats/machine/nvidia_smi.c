/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia_smi.c - `nvidia-smi topo -m`.
 *
 * A matrix of GPUs and NICs; a cell says how far apart two of them are, or NV# for # NVLinks. Behind the cells stand
 * CPU and NUMA affinity; below the matrix a legend says what NIC0 is called.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/machine/machine.h"
#include "formats/machine/matrix.h"
#include "sim/base/units.h"

/* Distances in the words of `nvidia-smi topo -m`, nearest first. */
typedef enum {
  FAB_APART_PIX,
  FAB_APART_PXB,
  FAB_APART_PHB,
  FAB_APART_NODE,
  FAB_APART_SYS,
  FAB_APART_UNKNOWN, /* the tool prints something else for this pair */
} FabApart;

typedef struct {
  guint n;
  const FabImportedMachineKind *kinds; /* [n]: GPU or NIC */
  const FabApart *apart;               /* [n * n], symmetric */
  const char *const *affinity;         /* [n]: devices with equal texts have the same host; NULL: unknown */
  const char *link;                    /* catalogue entry of every wire */
} FabPcieDevices;

/* Groups of devices within each distance, from hosts down.
 *
 * Groups nest: what is PIX apart is also within PXB, and so on. A host bridge is a vertex of its own only below
 * a host that has several (NODE), since only then does it tell anything apart; a group within PXB hangs below a
 * switch, and when it holds several groups within PIX, each of these below a switch of its own.
 */

enum { N_LEVELS = FAB_APART_NODE + 1 };

typedef struct {
  FabImportedMachine *machine;
  const FabPcieDevices *devices;
  guint *group[N_LEVELS]; /* first device of the group */
  /* by first device of a group: the part that stands for the group; FAB_MACHINE_NO_PARENT: none yet */
  guint *vertex[N_LEVELS];
} Tree;

static gboolean
is_together (const FabPcieDevices *devices, guint level, guint i, guint j)
{
  const char *a = devices->affinity[i], *b = devices->affinity[j];

  if (devices->apart[i * devices->n + j] <= level)
    return TRUE;
  return level == FAB_APART_NODE && a && b && strcmp (a, b) == 0;
}

static void
find_groups (Tree *tree, guint level)
{
  const FabPcieDevices *devices = tree->devices;
  guint *group = tree->group[level];

  for (guint i = 0; i < devices->n; i++)
    group[i] = i;
  for (guint i = 0; i < devices->n; i++)
    for (guint j = 0; j < i; j++) {
      guint from = MAX (group[i], group[j]), to = MIN (group[i], group[j]);

      if (!is_together (devices, level, i, j))
        continue;
      for (guint k = 0; k < devices->n; k++)
        if (group[k] == from)
          group[k] = to;
    }
}

/* Counts the groups of level `inner` inside the group of level `outer` that holds the device. */
static guint
count_inside (const Tree *tree, guint inner, guint outer, guint device)
{
  guint n = 0;

  for (guint i = 0; i < tree->devices->n; i++)
    n += tree->group[inner][i] == i && tree->group[outer][i] == tree->group[outer][device];
  return n;
}

static guint
count_members (const Tree *tree, guint level, guint device)
{
  guint n = 0;

  for (guint i = 0; i < tree->devices->n; i++)
    n += tree->group[level][i] == tree->group[level][device];
  return n;
}

/* Says whether the device's host has pairs that are NODE apart. */
static gboolean
has_bridges (const Tree *tree, guint device)
{
  const FabPcieDevices *devices = tree->devices;

  for (guint i = 0; i < devices->n; i++)
    for (guint j = 0; j < i; j++)
      if (devices->apart[i * devices->n + j] == FAB_APART_NODE
          && tree->group[FAB_APART_NODE][i] == tree->group[FAB_APART_NODE][device])
        return TRUE;
  return FALSE;
}

static guint
vertex_of (Tree *tree, guint level, guint device, FabImportedMachineKind kind, guint parent)
{
  guint *vertex = &tree->vertex[level][tree->group[level][device]];

  if (*vertex == FAB_IMPORTED_MACHINE_NO_PARENT)
    *vertex = fab_imported_machine_add (tree->machine, kind, parent,
                                        parent == FAB_IMPORTED_MACHINE_NO_PARENT ? NULL : tree->devices->link,
                                        G_MAXUINT);
  return *vertex;
}

static guint
add_device (Tree *tree, guint device)
{
  guint above = vertex_of (tree, FAB_APART_NODE, device, FAB_IMPORTED_MACHINE_HOST,
                           FAB_IMPORTED_MACHINE_NO_PARENT);

  if (has_bridges (tree, device))
    above = vertex_of (tree, FAB_APART_PHB, device, FAB_IMPORTED_MACHINE_BRIDGE, above);
  if (count_members (tree, FAB_APART_PXB, device) > 1)
    above = vertex_of (tree, FAB_APART_PXB, device, FAB_IMPORTED_MACHINE_SWITCH, above);
  if (count_inside (tree, FAB_APART_PIX, FAB_APART_PXB, device) > 1)
    above = vertex_of (tree, FAB_APART_PIX, device, FAB_IMPORTED_MACHINE_SWITCH, above);
  return fab_imported_machine_add (tree->machine, tree->devices->kinds[device], above, tree->devices->link,
                                   G_MAXUINT);
}

/* Adds hosts, bridges, switches and devices to the machine. Sets parts[i] to the index of device i. O(n^2). */
static void
pcie_tree_add (FabImportedMachine *machine, const FabPcieDevices *devices, guint *parts)
{
  Tree tree = { .machine = machine, .devices = devices };

  for (guint level = 0; level < N_LEVELS; level++) {
    tree.group[level] = g_new (guint, devices->n);
    tree.vertex[level] = g_new (guint, devices->n);
    for (guint i = 0; i < devices->n; i++)
      tree.vertex[level][i] = FAB_IMPORTED_MACHINE_NO_PARENT;
    find_groups (&tree, level);
  }
  for (guint i = 0; i < devices->n; i++)
    parts[i] = add_device (&tree, i);
  for (guint level = 0; level < N_LEVELS; level++) {
    g_free (tree.group[level]);
    g_free (tree.vertex[level]);
  }
}

typedef struct {
  FabImportedMachine *machine;
  const FabFileText *file;
  const FabMatrix *matrix;
  char **lines;
  guint n;                       /* number of devices */
  FabImportedMachineKind *kinds; /* [n] */
  FabApart *apart;               /* [n * n] */
  guint *n_links;                /* [n * n]: number of NVLinks */
  const char **affinity;         /* [n] */
} Reader;

static const struct {
  const char *word;
  FabApart apart;
} words[] = {
  { "PIX", FAB_APART_PIX },    { "PXB", FAB_APART_PXB }, { "PHB", FAB_APART_PHB }, { "NODE", FAB_APART_NODE },
  { "SYS", FAB_APART_SYS },    { "SOC", FAB_APART_SYS }, /* SOC: drivers from before 2017 */
  { NULL, FAB_APART_UNKNOWN },
};

static gboolean
parse_cell (const char *cell, FabApart *apart, guint *n_links)
{
  guint64 count;

  *n_links = 0;
  *apart = FAB_APART_UNKNOWN;
  if (g_str_has_prefix (cell, "NV") && g_ascii_string_to_unsigned (cell + 2, 10, 1, 64, &count, NULL)) {
    *n_links = (guint) count;
    return TRUE;
  }
  for (guint i = 0; words[i].word != NULL; i++)
    if (strcmp (words[i].word, cell) == 0) {
      *apart = words[i].apart;
      return TRUE;
    }
  return FALSE;
}

static gboolean
read_cell (Reader *reader, guint i, guint j, GError **error)
{
  const char *cell = fab_matrix_cell (reader->matrix, i, j);
  guint line = g_array_index (reader->matrix->lines, guint, i);
  const char *row = g_ptr_array_index (reader->matrix->labels, i),
             *column = g_ptr_array_index (reader->matrix->labels, j);

  if (i == j)
    return strcmp (cell, "X") == 0
        || fab_file_text_fail (reader->file, line, error, "%s to itself must be 'X', not '%s'", row, cell);
  if (!parse_cell (cell, &reader->apart[i * reader->n + j], &reader->n_links[i * reader->n + j]))
    return fab_file_text_fail (reader->file, line, error,
                               "%s to %s: '%s' is none of X, NV#, PIX, PXB, PHB, NODE, SYS", row, column,
                               cell);
  if (j < i && strcmp (cell, fab_matrix_cell (reader->matrix, j, i)) != 0)
    return fab_file_text_fail (reader->file, line, error, "%s to %s is '%s', but %s to %s '%s'", row, column,
                               cell, column, row, fab_matrix_cell (reader->matrix, j, i));
  return TRUE;
}

static gboolean
read_cells (Reader *reader, GError **error)
{
  for (guint i = 0; i < reader->n; i++) {
    const char *label = g_ptr_array_index (reader->matrix->labels, i);
    const char *affinity = fab_matrix_cell (reader->matrix, i, reader->n);

    reader->kinds[i] = fab_matrix_is_gpu (label) ? FAB_IMPORTED_MACHINE_GPU : FAB_IMPORTED_MACHINE_NIC;
    if (reader->kinds[i] == FAB_IMPORTED_MACHINE_GPU && affinity && strcmp (affinity, "N/A") != 0)
      reader->affinity[i] = affinity;
    for (guint j = 0; j < reader->n; j++)
      if (!read_cell (reader, i, j, error))
        return FALSE;
  }
  return TRUE;
}

/* Finds "  NIC0: mlx5_0" below the matrix. */
static const char *
nic_name (const Reader *reader, guint device)
{
  const char *label = g_ptr_array_index (reader->matrix->labels, device);

  for (char **line = reader->lines + reader->matrix->next_line; *line; line++) {
    const char *start = *line + strspn (*line, " \t");
    gsize length = strlen (label);

    if (strncmp (start, label, length) == 0 && start[length] == ':')
      return start + length + 1 + strspn (start + length + 1, " \t");
  }
  return label;
}

static gboolean
is_near_gpu (const Reader *reader, guint nic)
{
  for (guint i = 0; i < reader->n; i++)
    if (reader->kinds[i] == FAB_IMPORTED_MACHINE_GPU && reader->apart[nic * reader->n + i] <= FAB_APART_PXB)
      return TRUE;
  return FALSE;
}

/* Chooses the devices to keep: where some NICs are close to GPUs, the others serve storage and management. Returns
 * how many are kept, and lists them in `kept`. */
static guint
keep_devices (const Reader *reader, guint *kept)
{
  gboolean has_near = FALSE;
  guint n = 0, n_nics = 0;
  guint first_out = 0; /* line */
  g_autoptr (GString) left_out = g_string_new (NULL);

  for (guint i = 0; i < reader->n; i++)
    has_near = has_near || (reader->kinds[i] == FAB_IMPORTED_MACHINE_NIC && is_near_gpu (reader, i));
  for (guint i = 0; i < reader->n; i++) {
    if (reader->kinds[i] == FAB_IMPORTED_MACHINE_NIC && has_near && !is_near_gpu (reader, i)) {
      if (left_out->len == 0)
        first_out = g_array_index (reader->matrix->lines, guint, i);
      g_string_append_printf (left_out, "%s%s", left_out->len ? ", " : "", nic_name (reader, i));
      continue;
    }
    n_nics += reader->kinds[i] == FAB_IMPORTED_MACHINE_NIC;
    kept[n++] = i;
  }
  if (left_out->len > 0)
    fab_imported_machine_leave_out (
        reader->machine, first_out,
        "left out as storage or management, since no GPU is within PXB of them: %s", left_out->str);
  if (n_nics > 0)
    fab_imported_machine_read (reader->machine, fab_matrix_line (reader->matrix), "%u %s beside them", n_nics,
                               fab_plural (n_nics, "NIC", "NICs"));
  return n;
}

/* Adds the tree of the kept devices; parts[] is indexed by device. */
static void
add_tree (Reader *reader, guint *parts)
{
  g_autofree guint *kept = g_new (guint, reader->n), *found = g_new (guint, reader->n);
  guint n = keep_devices (reader, kept);
  g_autofree FabImportedMachineKind *kinds = g_new (FabImportedMachineKind, n);
  g_autofree FabApart *apart = g_new (FabApart, n * n);
  g_autofree const char **affinity = g_new (const char *, n);

  for (guint i = 0; i < n; i++) {
    kinds[i] = reader->kinds[kept[i]];
    affinity[i] = reader->affinity[kept[i]];
    for (guint j = 0; j < n; j++)
      apart[i * n + j] = reader->apart[kept[i] * reader->n + kept[j]];
  }
  pcie_tree_add (reader->machine,
                 &(FabPcieDevices){ n, kinds, apart, affinity, fab_known_usual_pcie (reader->machine) },
                 found);
  for (guint i = 0; i < n; i++) {
    parts[kept[i]] = found[i];
    if (kinds[i] == FAB_IMPORTED_MACHINE_NIC)
      fab_imported_machine_part (reader->machine, found[i])->name = fab_imported_machine_text (
          reader->machine, "%s", nic_name (reader, kept[i]));
  }
}

/* The name of the first NIC that is kept says its kind. */
static void
choose_port (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const char *first = NULL;

  for (guint i = 0; i < machine->parts->len && first == NULL; i++)
    if (fab_imported_machine_part (machine, i)->kind == FAB_IMPORTED_MACHINE_NIC)
      first = fab_imported_machine_part (machine, i)->name;
  if (first == NULL)
    machine->nic = NULL;
  else if (machine->nic == NULL)
    machine->nic = fab_known_port (machine, fab_matrix_line (reader->matrix), FAB_PORT_UNKNOWN, first, 0);
}

static void
note_tree (Reader *reader, guint n_gpus)
{
  FabImportedMachine *machine = reader->machine;
  gboolean is_hidden = FALSE;

  for (guint i = 0; i < machine->parts->len; i++) {
    const FabImportedMachinePart *part = fab_imported_machine_part (machine, i);
    is_hidden = is_hidden
             || (part->kind == FAB_IMPORTED_MACHINE_GPU && machine->links->len > 0
                 && fab_imported_machine_part (machine, part->parent)->kind == FAB_IMPORTED_MACHINE_HOST);
  }
  guint n_hosts = fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_HOST);
  fab_imported_machine_read (machine, fab_matrix_line (reader->matrix), "%u %s on %u %s%s", n_gpus,
                             fab_plural (n_gpus, "GPU", "GPUs"), n_hosts,
                             fab_plural (n_hosts, "host (NUMA node)", "hosts (NUMA nodes)"),
                             fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_SWITCH) > 0
                                 ? ", and the PCIe switches that their distances tell"
                                 : "");
  fab_imported_machine_infer (machine, fab_matrix_line (reader->matrix),
                              "PCIe: %s everywhere, what %s has; the matrix knows no generations and widths",
                              fab_known_usual_pcie (machine), machine->accelerator);
  if (is_hidden)
    fab_imported_machine_infer (
        machine, fab_matrix_line (reader->matrix),
        "each GPU at a PCIe port of its host: where NVLink joins two GPUs, their PCIe distance "
        "is not printed");
}

static void
fill (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  g_autofree guint *gpus = g_new (guint, reader->n), *parts = g_new0 (guint, reader->n);
  g_autofree guint *gpu_parts = g_new (guint, reader->n), *n_links = g_new (guint, reader->n * reader->n);
  guint n = 0;

  for (guint i = 0; i < reader->n; i++)
    if (reader->kinds[i] == FAB_IMPORTED_MACHINE_GPU)
      gpus[n++] = i;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      n_links[i * n + j] = reader->n_links[gpus[i] * reader->n + gpus[j]];
  if (machine->accelerator == NULL && !fab_known_accelerator_in_text (machine, reader->file))
    machine->accelerator = fab_nvlink_accelerator (machine, fab_matrix_line (reader->matrix), n, n_links);
  add_tree (reader, parts);
  for (guint i = 0; i < n; i++)
    gpu_parts[i] = parts[gpus[i]];
  fab_nvlink_add (machine, fab_matrix_line (reader->matrix), n, n_links, gpu_parts);
  choose_port (reader);
  note_tree (reader, n);
  fab_nvlink_sockets (machine, fab_matrix_line (reader->matrix), NULL, NULL);
}

static gboolean
read_matrix (Reader *reader, GError **error)
{
  guint n_gpus = 0;

  for (guint i = 0; i < reader->n; i++)
    n_gpus += fab_matrix_is_gpu (g_ptr_array_index (reader->matrix->labels, i));
  if (n_gpus > FAB_IMPORT_MAX_GPUS || reader->n > FAB_IMPORT_MAX_PARTS / 4)
    return fab_file_text_fail (reader->file, 0, error, "the machine has more than %d GPUs or %d devices",
                               FAB_IMPORT_MAX_GPUS, FAB_IMPORT_MAX_PARTS / 4);
  reader->kinds = g_new0 (FabImportedMachineKind, reader->n);
  reader->apart = g_new0 (FabApart, reader->n * reader->n);
  reader->n_links = g_new0 (guint, reader->n * reader->n);
  reader->affinity = g_new0 (const char *, reader->n);
  gboolean is_good = read_cells (reader, error);
  if (is_good)
    fill (reader);
  g_free (reader->kinds);
  g_free (reader->apart);
  g_free (reader->n_links);
  g_free (reader->affinity);
  return is_good;
}

static gint
find_head (char **lines)
{
  for (gint i = 0; lines[i]; i++)
    if (fab_matrix_is_head (lines[i]))
      return i;
  return -1;
}

static gboolean
nvidia_smi_recognises (const FabFileText *text)
{
  g_auto (GStrv) lines = fab_matrix_lines (text->text);

  return !fab_file_text_has (text, "ROCm") && !fab_file_text_has (text, "Link Type between")
      && find_head (lines) >= 0;
}

static gboolean
nvidia_smi_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_auto (GStrv) lines = fab_matrix_lines (file->text);
  gint head = find_head (lines);
  g_autoptr (FabMatrix) matrix = head >= 0 ? fab_matrix_read (file, lines, (guint) head, error) : NULL;
  Reader reader = { .machine = machine, .file = file, .matrix = matrix, .lines = lines };

  if (head < 0)
    return fab_file_text_fail (file, 0, error,
                               "there is no matrix, because a line with GPU0 GPU1 ... is missing");
  if (matrix == NULL)
    return FALSE;
  reader.n = matrix->labels->len;
  return read_matrix (&reader, error);
}

const FabFileFormat fab_file_nvidia_smi = {
  .name = "nvidia-smi",
  .tool = "nvidia-smi topo -m",
  .kind = FAB_FILE_MACHINE,
  .recognises = nvidia_smi_recognises,
  .read.machine = nvidia_smi_read,
};
