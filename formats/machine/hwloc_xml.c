/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc_xml.c - hwloc's XML (`lstopo --of xml`), version 1 and later.
 *
 * Host bridges (Bridge of bridge_type 0-1) hold PCI bridges (1-1) and devices. hwloc shows every port, so going down
 * from a host bridge it is root port, upstream port, downstream port, ...: every second one is a switch, as NCCL counts
 * too. With --no-bridges devices are there alone. From version 2 on packages hold host bridges; version 1 has them
 * beside the package, below the NUMA node or the group that holds both. What hangs above several packages belongs to
 * the first.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/text/xml.h"
#include "sim/base/units.h"

typedef struct {
  FabImportedMachine *machine;
  const FabFileText *file;
  GPtrArray *gpus;     /* FabXml, in the order of the file */
  GArray *gpu_parts;   /* guint: index in `machine` of each of `gpus` */
  GHashTable *hosts;   /* package (FabXml; the root where there is none): part + 1 */
  gboolean is_any_amd; /* AMD's graphics cards count, since there is no other GPU */
} Reader;

static gboolean
is_type (const FabXml *object, const char *type)
{
  return fab_xml_is (object, "object") && g_strcmp0 (fab_xml_get (object, "type"), type) == 0;
}

/* Reads the hexadecimal digits behind a mark in pci_type="0302 [10de:06d2] [00de:0030] a3 00". */
static guint
hex_after (const FabXml *device, char mark, guint length)
{
  const char *text = fab_xml_get (device, "pci_type"), *start = text && mark ? strchr (text, mark) : text;
  g_autofree char *digits = start ? g_strndup (start + (mark ? 1 : 0), length) : NULL;
  guint64 value;

  return digits && g_ascii_string_to_unsigned (digits, 16, 0, G_MAXUINT, &value, NULL) ? (guint) value : 0;
}

/* Returns the operating system's device below a PCI device whose name is `prefix` and a number, or NULL. */
static const FabXml *
os_device (const FabXml *object, const char *prefix)
{
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);
    const char *name = is_type (child, "OSDev") ? fab_xml_get (child, "name") : NULL;

    if (name && g_str_has_prefix (name, prefix) && g_ascii_isdigit (name[strlen (prefix)]))
      return child;
  }
  return NULL;
}

/* Display and compute cards of NVIDIA and AMD, not the graphics of a management controller or of a processor: AMD's
 * display class counts where the id is in the table or ROCm knows the card. */
static gboolean
is_gpu (const Reader *reader, const FabXml *object)
{
  guint type = hex_after (object, '\0', 4), class = type >> 8, vendor = hex_after (object, '[', 4);

  if (!is_type (object, "PCIDev") || (class != 0x03 && class != 0x12))
    return FALSE;
  if (vendor != 0x1002)
    return vendor == 0x10de;
  return class == 0x12 || type == 0x0380 || reader->is_any_amd
      || fab_known_device (vendor, hex_after (object, ':', 4)) != NULL || os_device (object, "rsmi") != NULL;
}

static const char *
info (const FabXml *object, const char *name)
{
  for (guint i = 0; object && i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);
    if (fab_xml_is (child, "info") && g_strcmp0 (fab_xml_get (child, "name"), name) == 0)
      return fab_xml_get (child, "value");
  }
  return NULL;
}

/* Returns the OpenFabrics device of a NIC, whose name is "mlx5_0"; NULL for a plain network card. From hwloc 3 on
 * osdev_type is a set of bits. */
static const FabXml *
fabrics_device (const FabXml *object)
{
  for (guint i = 0; is_type (object, "PCIDev") && i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);
    guint type = is_type (child, "OSDev") ? fab_xml_number (child, "osdev_type", 0) : 0;

    if (type == 3 || type == 32
        || (type != 0 && g_strcmp0 (fab_xml_get (child, "subtype"), "OpenFabrics") == 0))
      return child;
  }
  return NULL;
}

static gboolean
holds_device (const Reader *reader, const FabXml *object)
{
  if (is_gpu (reader, object) || fabrics_device (object))
    return TRUE;
  for (guint i = 0; i < object->children->len; i++)
    if (holds_device (reader, g_ptr_array_index (object->children, i)))
      return TRUE;
  return FALSE;
}

static void
collect_gpus (Reader *reader, const FabXml *object)
{
  if (is_gpu (reader, object))
    g_ptr_array_add (reader->gpus, (gpointer) object);
  for (guint i = 0; i < object->children->len; i++)
    collect_gpus (reader, g_ptr_array_index (object->children, i));
}

/* Returns the widest PCIe link of the rate that hwloc prints: GB/s, one direction, without line coding, which costs
 * generations 1 and 2 20 %. */
static const char *
link_of (Reader *reader, const FabXml *device)
{
  static const double lane_GBps[] = { 0.25, 0.5, 0.984615, 1.969231, 3.938462, 7.563, 15.125 };
  const char *text = fab_xml_get (device, "pci_link_speed");
  double rate = text ? g_ascii_strtod (text, NULL) : 0;

  for (guint lanes = 16; lanes >= 1; lanes /= 2)
    for (guint generation = 1; generation <= G_N_ELEMENTS (lane_GBps); generation++) {
      double expected = lane_GBps[generation - 1] * lanes;
      if (rate > 0.99 * expected && rate < 1.01 * expected) {
        fab_imported_machine_infer (reader->machine, device->line,
                                    "PCIe: the widest link that gives the printed GB/s");
        return fab_known_pcie (reader->machine, device->line, generation, lanes);
      }
    }
  fab_imported_machine_infer (reader->machine, device->line,
                              "PCIe: generation %u x16 where the file has no known pci_link_speed",
                              fab_known_accelerator (reader->machine->accelerator)->pcie_generation);
  return fab_known_usual_pcie (reader->machine);
}

/* ROCm's number of a GPU, by which the file names its peers. */
static guint
gpu_order (const FabXml *gpu)
{
  const FabXml *device = os_device (gpu, "rsmi");

  return device ? (guint) g_ascii_strtoull (fab_xml_get (device, "name") + strlen ("rsmi"), NULL, 10)
                : G_MAXUINT;
}

/* Reads "506b:4b03:003f:a9b6", as hwloc writes GUIDs; 0: it is none. */
static guint64
guid_of (const char *text)
{
  GString *plain = g_string_new (NULL);
  guint64 guid;
  char *end;

  for (const char *at = text; at && *at; at++)
    if (*at != ':')
      g_string_append_c (plain, *at);
  guid = g_ascii_strtoull (plain->str, &end, 16);
  if (*end != '\0')
    guid = 0;
  g_string_free (plain, TRUE);
  return guid;
}

static void
add_nic (Reader *reader, const FabXml *object, guint parent)
{
  guint part = fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_NIC, parent,
                                         link_of (reader, object), G_MAXUINT);
  FabImportedMachinePart *nic = fab_imported_machine_part (reader->machine, part);
  const FabXml *device = fabrics_device (object);

  if (fab_xml_get (device, "name") != NULL)
    nic->name = fab_imported_machine_text (reader->machine, "%s", fab_xml_get (device, "name"));
  nic->guid = guid_of (info (device, "NodeGUID"));
}

static void add_below (Reader *reader, const FabXml *object, guint parent, guint n_bridges);

static void
add_object (Reader *reader, const FabXml *object, guint parent, guint n_bridges)
{
  FabImportedMachine *machine = reader->machine;
  guint part;

  if (!holds_device (reader, object))
    return;
  if (is_gpu (reader, object)) {
    part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, parent, link_of (reader, object),
                                     gpu_order (object));
    g_array_append_val (reader->gpu_parts, part);
  } else if (fabrics_device (object)) {
    add_nic (reader, object, parent);
  } else if (is_type (object, "Bridge") && g_strcmp0 (fab_xml_get (object, "bridge_type"), "1-1") == 0) {
    part = n_bridges % 2 == 0 ? parent
                              : fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SWITCH, parent,
                                                          link_of (reader, object), G_MAXUINT);
    add_below (reader, object, part, n_bridges + 1);
  } else
    add_below (reader, object, parent, n_bridges);
}

static void
add_below (Reader *reader, const FabXml *object, guint parent, guint n_bridges)
{
  for (guint i = 0; i < object->children->len; i++)
    add_object (reader, g_ptr_array_index (object->children, i), parent, n_bridges);
}

static gboolean
is_host_bridge (const FabXml *object)
{
  return is_type (object, "Bridge") && g_strcmp0 (fab_xml_get (object, "bridge_type"), "0-1") == 0;
}

/* Before version 1.11 a package was called Socket. */
static gboolean
is_package (const FabXml *object)
{
  return is_type (object, "Package") || is_type (object, "Socket");
}

/* Returns the first object below, or itself, that is a package; NULL: none. *n counts all. */
static const FabXml *
find_package (const FabXml *object, guint *n)
{
  const FabXml *first = is_package (object) ? object : NULL;

  *n += first != NULL;
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *found = find_package (g_ptr_array_index (object->children, i), n);
    first = first ? first : found;
  }
  return first;
}

/* The package to which what hangs at `object` belongs: the one that holds it, or the first one of the smallest object
 * that holds both. NULL: the file has no packages. */
static const FabXml *
package_of (const FabXml *object)
{
  const FabXml *package = NULL;
  guint n = 0;

  for (const FabXml *above = object->parent; above != NULL && package == NULL; above = above->parent)
    package = is_package (above) ? above : find_package (above, &n);
  return package;
}

/* Calls `take` with the uppermost bridges and devices that hold GPUs or NICs, in the order of the file. */
static void
walk_trees (Reader *reader, const FabXml *object,
            void (*take) (Reader *reader, const FabXml *tree, gpointer data), gpointer data)
{
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *child = g_ptr_array_index (object->children, i);

    if (!is_type (child, "Bridge") && !is_type (child, "PCIDev"))
      walk_trees (reader, child, take, data);
    else if (holds_device (reader, child))
      take (reader, child, data);
  }
}

/* Hosts are numbered in the order of their packages. */
static void
add_hosts (Reader *reader, const FabXml *object, GHashTable *wanted)
{
  if (g_hash_table_contains (wanted, object)) {
    guint host = fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_HOST,
                                           FAB_IMPORTED_MACHINE_NO_PARENT, NULL, G_MAXUINT);
    g_hash_table_insert (reader->hosts, (gpointer) object, GUINT_TO_POINTER (host + 1));
  }
  for (guint i = 0; i < object->children->len; i++)
    add_hosts (reader, g_ptr_array_index (object->children, i), wanted);
}

typedef struct {
  const FabXml *root;
  GHashTable *n_bridges; /* package, or root: how many host bridges with devices it has */
} Trees;

static const FabXml *
owner_of (const Trees *trees, const FabXml *tree)
{
  const FabXml *package = package_of (tree);

  return package ? package : trees->root;
}

static void
count_tree (Reader *reader G_GNUC_UNUSED, const FabXml *tree, gpointer data)
{
  Trees *trees = data;
  gpointer owner = (gpointer) owner_of (trees, tree);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (trees->n_bridges, owner));

  g_hash_table_insert (trees->n_bridges, owner, GUINT_TO_POINTER (n + is_host_bridge (tree)));
}

/* Host bridges are vertices only where a host has several: their devices are then NODE apart. */
static void
add_tree (Reader *reader, const FabXml *tree, gpointer data)
{
  Trees *trees = data;
  gconstpointer owner = owner_of (trees, tree);
  guint host = GPOINTER_TO_UINT (g_hash_table_lookup (reader->hosts, owner)) - 1;

  if (!is_host_bridge (tree)) {
    add_object (reader, tree, host, 0);
    return;
  }
  if (GPOINTER_TO_UINT (g_hash_table_lookup (trees->n_bridges, owner)) > 1)
    host = fab_imported_machine_add (reader->machine, FAB_IMPORTED_MACHINE_BRIDGE, host,
                                     fab_known_usual_pcie (reader->machine), G_MAXUINT);
  add_below (reader, tree, host, 0);
}

static void
add_trees (Reader *reader, const FabXml *root)
{
  g_autoptr (GHashTable) n_bridges = g_hash_table_new (NULL, NULL);
  Trees trees = { .root = root, .n_bridges = n_bridges };

  walk_trees (reader, root, count_tree, &trees);
  add_hosts (reader, root, n_bridges);
  walk_trees (reader, root, add_tree, &trees);
}

static const FabXml *
find_type (const FabXml *object, const char *type)
{
  if (is_type (object, type))
    return object;
  for (guint i = 0; i < object->children->len; i++) {
    const FabXml *found = find_type (g_ptr_array_index (object->children, i), type);
    if (found)
      return found;
  }
  return NULL;
}

static void
choose_accelerator (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabXml *gpu = g_ptr_array_index (reader->gpus, 0);
  guint vendor = hex_after (gpu, '[', 4), device = hex_after (gpu, ':', 4);

  if (machine->accelerator || fab_known_accelerator_by_pci (machine, gpu->line, vendor, device))
    return;
  machine->accelerator = vendor == 0x1002 ? "mi50" : "l40s";
  fab_imported_machine_infer (machine, gpu->line,
                              "accelerator: %s stands in for PCI id %04x:%04x, which is not in the table; "
                              "--accelerator names another",
                              machine->accelerator, vendor, device);
}

/* --- xGMI: "XGMIPeers" of a GPU names those of its hive; the matrix "XGMIHops" says which of them are beside it --- */

/* Reads the numbers of all elements `name` of a matrix, in order. (transfer full) */
static GArray *
numbers_of (const FabXml *matrix, const char *name)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint i = 0; i < matrix->children->len; i++) {
    const FabXml *child = g_ptr_array_index (matrix->children, i);
    g_auto (GStrv) words = fab_xml_is (child, name) ? g_strsplit_set (fab_xml_text (child), " \t\r\n", -1)
                                                    : NULL;

    for (guint k = 0; words && words[k]; k++)
      if (words[k][0] != '\0') {
        guint64 value = g_ascii_strtoull (words[k], NULL, 10);
        g_array_append_val (numbers, value);
      }
  }
  return numbers;
}

static const FabXml *
find_matrix (const FabXml *topology, const char *name)
{
  for (guint i = 0; i < topology->children->len; i++) {
    const FabXml *child = g_ptr_array_index (topology->children, i);

    if ((fab_xml_is (child, "distances2") || fab_xml_is (child, "distances2hetero"))
        && g_strcmp0 (fab_xml_get (child, "name"), name) == 0)
      return child;
  }
  return NULL;
}

/* Index among `gpus` of the one with this ROCm device; G_MAXUINT: none. */
static guint
gpu_with (const Reader *reader, const char *key, const char *value)
{
  for (guint i = 0; i < reader->gpus->len; i++) {
    const FabXml *device = os_device (g_ptr_array_index (reader->gpus, i), "rsmi");

    if (device && g_strcmp0 (fab_xml_get (device, key), value) == 0)
      return i;
  }
  return G_MAXUINT;
}

static void
wire (gboolean *wired, guint n, guint i, guint j, gboolean is_wired)
{
  if (i < n && j < n && i != j)
    wired[i * n + j] = wired[j * n + i] = is_wired;
}

static gboolean
read_peers (const Reader *reader, gboolean *wired)
{
  gboolean has_peers = FALSE;
  guint n = reader->gpus->len;

  for (guint i = 0; i < n; i++) {
    const char *peers = info (os_device (g_ptr_array_index (reader->gpus, i), "rsmi"), "XGMIPeers");
    g_auto (GStrv) names = peers ? g_strsplit (peers, " ", -1) : NULL;

    for (guint k = 0; names && names[k]; k++) {
      guint j = names[k][0] ? gpu_with (reader, "name", names[k]) : G_MAXUINT;

      wire (wired, n, i, j, TRUE);
      has_peers |= j < n && i != j;
    }
  }
  return has_peers;
}

/* Keeps the peers that are one hop apart. */
static void
read_hops (const Reader *reader, const FabXml *topology, gboolean *wired)
{
  const FabXml *matrix = find_matrix (topology, "XGMIHops");
  g_autoptr (GArray) indexes = matrix ? numbers_of (matrix, "indexes") : NULL;
  g_autoptr (GArray) hops = matrix ? numbers_of (matrix, "u64values") : NULL;
  guint n = indexes ? indexes->len : 0;

  if (hops == NULL || hops->len != n * n || n > FAB_IMPORT_MAX_GPUS)
    return;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++) {
      g_autofree char *from = g_strdup_printf ("%" G_GUINT64_FORMAT, g_array_index (indexes, guint64, i));
      g_autofree char *to = g_strdup_printf ("%" G_GUINT64_FORMAT, g_array_index (indexes, guint64, j));

      if (g_array_index (hops, guint64, i * n + j) > 1)
        wire (wired, reader->gpus->len, gpu_with (reader, "gp_index", from),
              gpu_with (reader, "gp_index", to), FALSE);
    }
}

/* The place of a GPU among all of them by ROCm's numbers; those without one come last. */
static guint
place_of (const Reader *reader, guint gpu)
{
  guint order = gpu_order (g_ptr_array_index (reader->gpus, gpu)), n_before = 0;

  for (guint i = 0; i < reader->gpus->len; i++) {
    guint other = gpu_order (g_ptr_array_index (reader->gpus, i));

    n_before += other < order || (other == order && i < gpu);
  }
  return n_before;
}

/* Sorts wires and parts by ROCm's numbers, which follow the packages. */
static void
add_xgmi (const Reader *reader, const gboolean *wired)
{
  guint n = reader->gpus->len;
  g_autofree guint *places = g_new (guint, n), *parts = g_new (guint, n);
  g_autofree gboolean *sorted = g_new (gboolean, n * n);
  const FabXml *first = os_device (g_ptr_array_index (reader->gpus, 0), "rsmi");

  for (guint i = 0; i < n; i++) {
    places[i] = place_of (reader, i);
    parts[places[i]] = g_array_index (reader->gpu_parts, guint, i);
  }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      sorted[places[i] * n + places[j]] = wired[i * n + j];
  fab_xgmi_add (reader->machine, first ? first->line : 0, n, sorted, parts);
}

/* --- NVLink: the matrix "NVLinkBandwidth" has the rates of all links of a pair together, in MB/s of one direction. Its
 * objects are GPUs (as NVML numbers them), ports of NVSwitches, and packages of POWER (hwloc/topology-nvml.c). --- */

enum { NVLINK1_MB_PER_S = 20000, NVLINK_MB_PER_S = 25000, MOST_LINKS = 1000 };

typedef struct {
  guint n;          /* objects of the matrix */
  guint *gpus;      /* [n] index among the reader's GPUs; G_MAXUINT: another object */
  gboolean *is_pci; /* [n] a port of an NVSwitch */
  GArray *rates;    /* guint64 [n * n] */
} Rates;

static void
rates_clear (Rates *self)
{
  g_free (self->gpus);
  g_free (self->is_pci);
  if (self->rates)
    g_array_unref (self->rates);
}

/* Index among the reader's GPUs of the one whose NVML device has this number; G_MAXUINT: none. */
static guint
gpu_of_nvml (const Reader *reader, const char *gp_index)
{
  for (guint i = 0; i < reader->gpus->len; i++) {
    const FabXml *device = os_device (g_ptr_array_index (reader->gpus, i), "nvml");

    if (device && g_strcmp0 (fab_xml_get (device, "gp_index"), gp_index) == 0)
      return i;
  }
  return G_MAXUINT;
}

/* "OSDev:332 PCIDev:40 Package:3" of a matrix of several types; "332 333" of one of a type that it names. */
static void
read_objects (const Reader *reader, const FabXml *matrix, Rates *rates)
{
  g_autoptr (GString) all = g_string_new (NULL);
  g_auto (GStrv) words = NULL;

  for (guint i = 0; i < matrix->children->len; i++) {
    const FabXml *child = g_ptr_array_index (matrix->children, i);

    if (fab_xml_is (child, "indexes"))
      g_string_append_printf (all, "%s ", fab_xml_text (child));
  }
  words = g_strsplit_set (all->str, " \t\r\n", -1);
  rates->gpus = g_new0 (guint, g_strv_length (words));
  rates->is_pci = g_new0 (gboolean, g_strv_length (words));
  for (guint i = 0; words[i]; i++) {
    const char *colon = strchr (words[i], ':');

    if (words[i][0] == '\0')
      continue;
    rates->is_pci[rates->n] = g_str_has_prefix (words[i], "PCIDev:");
    rates->gpus[rates->n++] = gpu_of_nvml (reader, colon ? colon + 1 : words[i]);
  }
}

/* Links between pairs of GPUs, [n * n] of the reader's. Links to switches count for every pair, as nvidia-smi shows
 * them. */
static void
count_nvlinks (const Rates *rates, guint n, guint mb_per_s, guint *n_links)
{
  g_autofree guint *to_switch = g_new0 (guint, n);

  for (guint i = 0; i < rates->n; i++)
    for (guint j = 0; j < rates->n; j++) {
      guint64 rate = g_array_index (rates->rates, guint64, i * rates->n + j);
      guint links = (guint) MIN (rate / mb_per_s, MOST_LINKS);

      if (i == j || rates->gpus[i] == G_MAXUINT)
        continue;
      if (rates->gpus[j] != G_MAXUINT)
        n_links[rates->gpus[i] * n + rates->gpus[j]] = links;
      else if (rates->is_pci[j])
        to_switch[rates->gpus[i]] += links;
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      if (i != j && MIN (to_switch[i], to_switch[j]) > 0)
        n_links[i * n + j] = MIN (to_switch[i], to_switch[j]);
}

/* FALSE: the text has no such matrix, or no link of a GPU in it. */
static gboolean
add_nvlinks (Reader *reader, const FabXml *topology)
{
  const FabXml *matrix = find_matrix (topology, "NVLinkBandwidth");
  const char *link = fab_known_accelerator (reader->machine->accelerator)->link;
  guint n = reader->gpus->len, most = 0;
  g_autofree guint *n_links = g_new0 (guint, n * n);
  Rates rates = { 0 };

  if (matrix != NULL) {
    read_objects (reader, matrix, &rates);
    rates.rates = numbers_of (matrix, "u64values");
    if (rates.n <= FAB_IMPORT_MAX_GPUS * 8 && rates.rates->len == rates.n * rates.n)
      count_nvlinks (&rates, n, g_strcmp0 (link, "nvlink1") == 0 ? NVLINK1_MB_PER_S : NVLINK_MB_PER_S,
                     n_links);
    rates_clear (&rates);
  }
  for (guint i = 0; i < n * n; i++)
    most = MAX (most, n_links[i]);
  if (most == 0)
    return FALSE;
  fab_imported_machine_read (reader->machine, matrix->line, "NVLinks of each pair of GPUs (NVLinkBandwidth)");
  fab_nvlink_add (reader->machine, matrix->line, n, n_links,
                  (const guint *) (gpointer) reader->gpu_parts->data);
  return TRUE;
}

static void
add_scale_up (Reader *reader, const FabXml *topology)
{
  guint n = reader->gpus->len;
  const guint *parts = (const guint *) (gpointer) reader->gpu_parts->data;
  g_autofree gboolean *wired = g_new0 (gboolean, n * n);

  if (read_peers (reader, wired)) {
    read_hops (reader, topology, wired);
    fab_imported_machine_read (reader->machine, 0, "GPUs that are peers by xGMI (XGMIPeers)");
    add_xgmi (reader, wired);
  } else if (!fab_nvlink_power9 (reader->machine, 0, n, parts) && !add_nvlinks (reader, topology))
    fab_nvlink_assume (reader->machine, 0, n, parts);
}

/* The PCI class of a NIC says whether its port is InfiniBand or Ethernet. */
static const char *
port_by_pci (Reader *reader, const FabXml *object)
{
  guint class = hex_after (object, '\0', 4);
  const char *found = NULL;

  if (fabrics_device (object))
    return fab_known_port_by_pci (reader->machine, object->line, hex_after (object, '[', 4),
                                  hex_after (object, ':', 4),
                                  class == 0x0207   ? FAB_PORT_INFINIBAND
                                  : class == 0x0200 ? FAB_PORT_ETHERNET
                                                    : FAB_PORT_UNKNOWN);
  for (guint i = 0; i < object->children->len && found == NULL; i++)
    found = port_by_pci (reader, g_ptr_array_index (object->children, i));
  return found;
}

static void
choose_port (Reader *reader, const FabXml *root)
{
  guint n = fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_NIC);

  if (n == 0) {
    reader->machine->nic = NULL;
    return;
  }
  fab_imported_machine_read (reader->machine, 0,
                             "%u %s with an OpenFabrics device; other network cards are left out", n,
                             fab_plural (n, "NIC", "NICs"));
  if (reader->machine->nic == NULL)
    reader->machine->nic = port_by_pci (reader, root);
  if (reader->machine->nic == NULL)
    reader->machine->nic = fab_known_port (reader->machine, 0, FAB_PORT_UNKNOWN, NULL, 0);
}

static void
choose_sockets (Reader *reader, const FabXml *topology)
{
  guint n = 0;
  const FabXml *root = find_type (topology, "Machine"), *package = find_package (topology, &n);
  const FabXml *says = info (package, "CPUModel") || info (package, "CPUVendor") ? package : root;
  const char *vendor = info (says, "CPUVendor"), *family = info (says, "CPUFamilyNumber"),
             *number = info (says, "CPUModelNumber"), *model = info (says, "CPUModel"),
             *platform = info (root, "PlatformModel"), *found = NULL;
  guint64 family_number, model_number;

  if (vendor && family && number && g_ascii_string_to_unsigned (family, 10, 0, 999, &family_number, NULL)
      && g_ascii_string_to_unsigned (number, 10, 0, 999, &model_number, NULL))
    found = fab_known_socket (vendor, (guint) family_number, (guint) model_number);
  if (found == NULL && model)
    found = fab_known_socket_named (model);
  if (found == NULL && platform)
    found = fab_known_socket_named (platform);
  if (found && (model || vendor)
      && fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_HOST) > 1)
    fab_imported_machine_read (reader->machine, says->line, "CPU %s, so %s between hosts",
                               model ? model : vendor, found);
  fab_nvlink_sockets (reader->machine, package ? package->line : 0, model ? model : vendor, found);
}

static gboolean
read_topology (Reader *reader, const FabXml *topology, GError **error)
{
  const FabXml *root = find_type (topology, "Machine");

  if (!fab_xml_is (topology, "topology"))
    return fab_file_text_fail (reader->file, topology->line, error,
                               "the first element is <%s>, not <topology>", topology->name);
  if (root == NULL)
    return fab_file_text_fail (reader->file, topology->line, error, "an object of type Machine is missing");
  collect_gpus (reader, root);
  if (reader->gpus->len == 0) {
    reader->is_any_amd = TRUE;
    collect_gpus (reader, root);
  }
  if (reader->gpus->len == 0)
    return fab_file_text_fail (
        reader->file, root->line, error,
        "there is no GPU, that is no PCIDev of NVIDIA or AMD; was lstopo run with --no-io?");
  choose_accelerator (reader);
  add_trees (reader, root);
  if (reader->gpu_parts->len != reader->gpus->len)
    return fab_file_text_fail (reader->file, root->line, error,
                               "there are %u GPUs, but %u of them are below another device",
                               reader->gpus->len, reader->gpus->len - reader->gpu_parts->len);
  if (reader->gpus->len > FAB_IMPORT_MAX_GPUS || reader->machine->parts->len > FAB_IMPORT_MAX_PARTS)
    return fab_file_text_fail (reader->file, root->line, error,
                               "the machine has more than %d GPUs or %d parts", FAB_IMPORT_MAX_GPUS,
                               FAB_IMPORT_MAX_PARTS);
  fab_imported_machine_read (reader->machine, root->line, "%u %s below %u %s, with the PCIe bridges between",
                             reader->gpus->len, fab_plural (reader->gpus->len, "GPU", "GPUs"),
                             fab_imported_machine_count (reader->machine, FAB_IMPORTED_MACHINE_HOST),
                             fab_plural (fab_imported_machine_count (reader->machine,
                                                                     FAB_IMPORTED_MACHINE_HOST),
                                         "package", "packages"));
  if (info (root, "HostName") != NULL)
    reader->machine->host_name = fab_imported_machine_text (reader->machine, "%s", info (root, "HostName"));
  choose_port (reader, root);
  choose_sockets (reader, topology);
  add_scale_up (reader, topology);
  return TRUE;
}

static gboolean
hwloc_xml_recognises (const FabFileText *text)
{
  return fab_xml_begins_with (text->text, "topology");
}

static gboolean
hwloc_xml_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;
  g_autoptr (FabXml) topology = fab_xml_parse (file, error);
  Reader reader = { .machine = machine, .file = file };

  if (topology == NULL)
    return FALSE;
  reader.gpus = g_ptr_array_new ();
  reader.gpu_parts = g_array_new (FALSE, FALSE, sizeof (guint));
  reader.hosts = g_hash_table_new (NULL, NULL);
  gboolean is_good = read_topology (&reader, topology, error);
  g_hash_table_unref (reader.hosts);
  g_ptr_array_unref (reader.gpus);
  g_array_unref (reader.gpu_parts);
  return is_good;
}

const FabFileFormat fab_file_hwloc = {
  .name = "hwloc",
  .tool = "lstopo --of xml",
  .kind = FAB_FILE_MACHINE,
  .recognises = hwloc_xml_recognises,
  .read.machine = hwloc_xml_read,
};
