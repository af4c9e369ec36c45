/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tree.c - the tree of a machine that NCCL and RCCL print with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=GRAPH or ALL.
 *
 *   gpu7:26:76 [0] NCCL INFO === System : maxBw 48.0 totalBw 370.8 ===
 *   gpu7:26:76 [0] NCCL INFO CPU/0-0 (1/1/3)                              architecture, vendor, model
 *   gpu7:26:76 [0] NCCL INFO + PCI[48.0] - PCI/0-c000 (1000c0301000100b)  a PCIe switch and its PCI id
 *   gpu7:26:76 [0] NCCL INFO               + PCI[48.0] - GPU/0-f000 (0)   below it: its plus stands under its name
 *   gpu7:26:76 [0] NCCL INFO                             + NVL[370.8] - NVS/0-0
 *
 * Numbers in brackets are GB/s that NCCL assumes (src/graph/topo.h): PCIe generation 3 x16 is 12; of an NVLink it is 18
 * (Pascal), 20 or in old versions 21 (Volta), 20 or 22 (Ampere), 12 (GA102), 20.6 (Hopper), 40.1 (Blackwell). From 2.28
 * on a GPU is below a DEV, which has the PCI id. Every rank prints the tree; the first one is read.
 */
#include <math.h>
#include <string.h>

#include "formats/machine/known.h"
#include "formats/text/scan.h"
#include "sim/base/units.h"

typedef enum { NODE_CPU, NODE_PCI, NODE_GPU, NODE_NIC, NODE_NET, NODE_NVS, NODE_OTHER } Kind;

/* A line of the tree: a node below its parent, or what a link of its parent leads to. */
typedef struct {
  Kind kind;
  char *id;     /* "0-4c000" */
  guint parent; /* index; G_MAXUINT: none */
  guint column; /* of its name in the message */
  guint line;
  char link[8];   /* "PCI", "NVL", "XGMI", "C2C", "SYS", "NET", "LOC"; "" of a CPU */
  double GBps;    /* of that link */
  guint64 device; /* vendor, device and those of the subsystem, 16 bits each; 0: not printed */
  gint rank;      /* of a GPU; -1: not printed */
  double net_GBps;
  guint cpu[3]; /* architecture, vendor, model */
  guint part;   /* of the machine, + 1; 0: none */
  gboolean holds_device;
} Node;

typedef struct {
  FabImportedMachine *machine;
  FabScan scan;
  GArray *nodes;     /* Node */
  char *printer;     /* "gpu7:26:76 [0]": who printed the tree that is read */
  GHashTable *parts; /* id of a GPU: part + 1 */
  GArray *gpus;      /* guint: index in `nodes` of each GPU */
  double top_GBps;   /* of the fastest NET */
} Reader;

static const char info[] = "NCCL INFO";

static void
node_clear (gpointer data)
{
  Node *self = data;

  g_free (self->id);
}

static Node *
node_at (const Reader *self, guint index)
{
  return &g_array_index (self->nodes, Node, index);
}

/* --- the lines --- */

/* Goes to the message of a line and returns who printed it, "" where no one is named. (transfer full) */
static char *
find_message (FabScan *scan)
{
  const char *mark = g_strstr_len (scan->start, scan->end - scan->start, info);
  const char *from = mark;

  if (mark == NULL)
    return g_strdup ("");
  scan->at = mark + strlen (info);
  if (scan->at < scan->end)
    scan->at++;
  for (guint words = 0; from > scan->start && words < 2; words++) {
    while (from > scan->start && from[-1] == ' ')
      from--;
    while (from > scan->start && from[-1] != ' ')
      from--;
  }
  return g_strchomp (g_strndup (from, (gsize) (mark - from)));
}

static const struct {
  const char *word;
  Kind kind;
} kinds[] = {
  { "CPU", NODE_CPU }, { "PCI", NODE_PCI }, { "GPU", NODE_GPU }, { "DEV", NODE_GPU },
  { "NIC", NODE_NIC }, { "NET", NODE_NET }, { "NVS", NODE_NVS }, { NULL, NODE_OTHER },
};

static Kind
kind_of (const char *word)
{
  guint i = 0;

  while (kinds[i].word != NULL && strcmp (word, kinds[i].word) != 0)
    i++;
  return kinds[i].kind;
}

/* Reads what stands in parentheses behind a name. */
static void
read_details (Reader *self, Node *node)
{
  FabScan scan = self->scan;
  guint64 value;
  double GBps;

  if (!fab_scan_text (&scan, "("))
    return;
  if (node->kind == NODE_CPU)
    for (guint i = 0; i < 3 && fab_scan_whole (&scan, G_MAXINT, &value); i++) {
      node->cpu[i] = (guint) value;
      (void) fab_scan_text (&scan, "/");
    }
  else if (node->kind == NODE_NET) {
    while (fab_scan_to (&scan, "/"))
      ;
    if (fab_scan_real (&scan, &GBps))
      node->net_GBps = GBps;
  } else if (node->kind == NODE_PCI || (node->kind == NODE_GPU && strcspn (scan.at, ")") == 16)) {
    if (fab_scan_hex (&scan, &value) && fab_scan_text (&scan, ")"))
      node->device = value;
  } else if (node->kind == NODE_GPU && fab_scan_whole (&scan, G_MAXINT, &value))
    node->rank = (gint) value;
}

/* Whether a node is a part of the tree of PCIe, below which others may stand. */
static gboolean
is_of_pcie (const Node *node)
{
  return *node->link == '\0' || strcmp (node->link, "PCI") == 0;
}

/* Returns the node under whose name a plus stands, of those above it. G_MAXUINT: none. */
static guint
parent_at (const Reader *self, guint column)
{
  for (guint i = self->nodes->len; i-- > 0;) {
    const Node *above = node_at (self, i);

    if (is_of_pcie (above) && above->column == column)
      return i;
    if (is_of_pcie (above) && above->column < column)
      return G_MAXUINT;
  }
  return G_MAXUINT;
}

/* Reads "+ NVL[370.8] - ", if it is there. */
static gboolean
read_link (Reader *self, const char *message, Node *node, GError **error)
{
  FabScan before = self->scan;
  g_autofree char *name = NULL;

  (void) fab_scan_column (&before);
  node->parent = G_MAXUINT;
  if (!fab_scan_text (&self->scan, "+"))
    return TRUE;
  name = fab_scan_word (&self->scan, "[");
  if (name == NULL || strlen (name) >= sizeof node->link || !fab_scan_text (&self->scan, "[")
      || !fab_scan_real (&self->scan, &node->GBps) || !fab_scan_text (&self->scan, "]")
      || !fab_scan_text (&self->scan, "-"))
    return fab_scan_fail (&before, error, "a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0");
  g_strlcpy (node->link, name, sizeof node->link);
  node->parent = parent_at (self, (guint) (before.at - message));
  return node->parent != G_MAXUINT
      || fab_scan_fail (
             &before, error,
             "this plus stands below the name of nothing above it; were blanks lost from the log?");
}

/* Reads a line of the tree; other messages are passed over. */
static gboolean
read_node (Reader *self, GError **error)
{
  const char *message = self->scan.at;
  FabScan begin = self->scan;
  Node node = { .line = self->scan.line, .rank = -1 };
  g_autofree char *word = NULL;

  if (!fab_scan_text (&begin, "+") && !fab_scan_text (&begin, "CPU/"))
    return TRUE;
  if (!read_link (self, message, &node, error))
    return FALSE;
  node.column = fab_scan_column (&self->scan) - (guint) (message - self->scan.start);
  begin = self->scan;
  word = fab_scan_word (&self->scan, "/");
  node.kind = word ? kind_of (word) : NODE_OTHER;
  if (word == NULL || !fab_scan_text (&self->scan, "/")
      || (node.id = fab_scan_word (&self->scan, "(")) == NULL)
    return fab_scan_fail (&begin, error, "a name belongs here, as GPU/0-4c000");
  read_details (self, &node);
  if (self->nodes->len >= FAB_IMPORT_MAX_PARTS) {
    g_free (node.id);
    return fab_scan_fail (&begin, error, "the machine has more than %d parts", FAB_IMPORT_MAX_PARTS);
  }
  g_array_append_val (self->nodes, node);
  return TRUE;
}

static gboolean
read_tree (Reader *self, GError **error)
{
  while (fab_scan_line (&self->scan)) {
    g_autofree char *printer = find_message (&self->scan);
    FabScan head = self->scan;

    if (self->printer == NULL) {
      if (fab_scan_text (&head, "=== System :"))
        self->printer = g_steal_pointer (&printer);
      continue;
    }
    if (strcmp (printer, self->printer) != 0)
      continue;
    if (fab_scan_text (&head, "====="))
      return TRUE;
    if (!read_node (self, error))
      return FALSE;
  }
  return self->nodes->len > 0
      || fab_file_text_fail (self->scan.file, 0, error,
                             "there is no tree below a line '=== System : maxBw ...'");
}

/* --- what it is --- */

/* Returns the node that a link of its own leads to, as a GPU below its DEV. */
static gboolean
is_child (const Node *node, guint parent, const char *link)
{
  return node->parent == parent && strcmp (node->link, link) == 0;
}

static gboolean
is_pci_child (const Node *node, guint parent)
{
  return is_child (node, parent, "PCI");
}

/* The rate of the fastest NET of a NIC, in GB/s; 0: it has none. */
static double
net_rate (const Reader *self, guint nic)
{
  double fastest = 0;

  for (guint i = nic; i < self->nodes->len; i++)
    if (is_child (node_at (self, i), nic, "NET"))
      fastest = MAX (fastest,
                     node_at (self, i)->net_GBps > 0 ? node_at (self, i)->net_GBps : node_at (self, i)->GBps);
  return fastest;
}

static gboolean
is_wanted_nic (const Reader *self, guint nic)
{
  return net_rate (self, nic) > 0.99 * self->top_GBps;
}

/* Marks what leads to a GPU or to a NIC that counts. Children stand behind their parents. */
static void
mark_devices (Reader *self)
{
  for (guint i = self->nodes->len; i-- > 0;) {
    Node *node = node_at (self, i);

    if (!is_of_pcie (node))
      continue;
    node->holds_device = node->holds_device || node->kind == NODE_GPU
                      || (node->kind == NODE_NIC && is_wanted_nic (self, i));
    if (node->holds_device && node->parent != G_MAXUINT)
      node_at (self, node->parent)->holds_device = TRUE;
  }
}

/* NCCL's GB/s of one NVLink, and what has so many of them. */
static const struct {
  double GBps;
  guint least, most; /* of a GPU */
  const char *accelerator;
} nvlinks[] = {
  { 20.6, 18, 18, "h100-sxm5-80gb" }, { 20.6, 8, 8, "h800-sxm5" },
  { 20.6, 6, 12, "h100-pcie-80gb" },  { 40.1, 18, 18, "b200-sxm" },
  { 20, 12, 12, "a100-sxm4-80gb" },   { 22, 12, 12, "a100-sxm4-80gb" },
  { 20, 8, 8, "a800-sxm4-80gb" },     { 20, 1, 6, "v100-sxm2-16gb" },
  { 21, 1, 6, "v100-sxm2-16gb" },     { 12, 4, 4, "rtx3090" },
  { 18, 1, 4, "p100-sxm2" },          { 0, 0, 0, NULL },
};

enum { MOST_LINKS = 64, MOST_NODES = 100000 };

/* Whether a rate is a whole number of links; sets *count, to the nearest number in any case. */
static gboolean
is_multiple (double GBps, double of_one, guint *count)
{
  *count = (guint) (MIN (GBps / of_one, MOST_LINKS) + 0.5);
  return fabs (GBps - *count * of_one) < 0.051; /* the log has one decimal */
}

/* The sum of a GPU's links of that kind, in GB/s. */
static double
links_of (const Reader *self, guint gpu, const char *link)
{
  double sum = 0;

  for (guint i = gpu; i < self->nodes->len; i++)
    if (is_child (node_at (self, i), gpu, link) && node_at (self, i)->kind != NODE_CPU)
      sum += node_at (self, i)->GBps;
  return sum;
}

/* The accelerator by what NCCL assumes of its xGMI or NVLink; NULL: it has none, or an unknown one. */
static const char *
accelerator_by_links (const Reader *self, double *GBps, const char **kind)
{
  double nvlink = 0, xgmi = 0, one = 0;
  guint count;

  for (guint i = 0; i < self->gpus->len; i++) {
    guint gpu = g_array_index (self->gpus, guint, i);

    nvlink = MAX (nvlink, links_of (self, gpu, "NVL"));
    xgmi = MAX (xgmi, links_of (self, gpu, "XGMI"));
    for (guint j = gpu; j < self->nodes->len; j++)
      if (is_child (node_at (self, j), gpu, "XGMI"))
        one = node_at (self, j)->GBps;
  }
  *GBps = xgmi > 0 ? xgmi : nvlink;
  *kind = xgmi > 0 ? "xGMI" : "NVLink";
  if (xgmi > 0) /* RCCL's src/graph/topo.h: 24 before MI200, 36 of MI200, 48 of MI300 and later */
    return is_multiple (one, 48, &count) ? "mi300x"
         : is_multiple (one, 36, &count) ? "mi250x-gcd"
         : xgmi > 2.5 * 24               ? "mi100"
                                         : "mi50";
  for (guint i = 0; nvlinks[i].accelerator != NULL; i++)
    if (is_multiple (nvlink, nvlinks[i].GBps, &count) && count >= nvlinks[i].least
        && count <= nvlinks[i].most)
      return nvlinks[i].accelerator;
  return NULL;
}

/* Whether some device or switch is of that maker: AMD's cards have switches of their own. */
static gboolean
has_vendor (const Reader *self, guint vendor)
{
  for (guint i = 0; i < self->nodes->len; i++)
    if (node_at (self, i)->device >> 48 == vendor)
      return TRUE;
  return FALSE;
}

static void
choose_accelerator (Reader *self)
{
  FabImportedMachine *machine = self->machine;
  const Node *first = node_at (self, g_array_index (self->gpus, guint, 0));
  guint vendor = (guint) (first->device >> 48), device = (guint) (first->device >> 32) & 0xffff;
  const char *name, *kind, *product;
  double GBps;

  if (machine->accelerator != NULL || fab_known_accelerator_by_pci (machine, first->line, vendor, device)
      || fab_known_accelerator_in_text (machine, self->scan.file))
    return;
  product = first->device != 0
              ? fab_imported_machine_text (machine, ", and its PCI id %04x:%04x is not in the table", vendor,
                                           device)
              : "";
  name = accelerator_by_links (self, &GBps, &kind);
  if (name != NULL)
    fab_imported_machine_infer (
        machine, first->line,
        "accelerator: %s, the usual one with %g GB/s of %s, as NCCL counts it%s%s; --accelerator "
        "names another",
        name, GBps, kind, product,
        strcmp (name, "h100-sxm5-80gb") == 0   ? " (H200 and H20 have as many links)"
        : strcmp (name, "a100-sxm4-80gb") == 0 ? " (A100 with 40 GB has as many links)"
        : strcmp (name, "mi300x") == 0         ? " (MI325X, MI350X and MI355X have it too)"
                                               : "");
  else {
    name = has_vendor (self, 0x1002) ? "mi50" : first->GBps > 40 ? "l40s" : "a10g";
    name = GBps > 0 ? "h100-sxm5-80gb" : name;
    fab_imported_machine_infer (
        machine, first->line, "accelerator: %s stands in, as %s%s; --accelerator names the real one", name,
        GBps > 0 ? "the rate of its NVLinks is not in the table" : "there is no NVLink", product);
  }
  machine->accelerator = name;
}

/* --- its parts --- */

/* The PCIe link of NCCL's GB/s: 12 for generation 3 x16, in proportion for others. */
static const char *
pcie_of (Reader *self, const Node *node)
{
  const FabKnownAccelerator *known = fab_known_accelerator (self->machine->accelerator);
  guint count;

  for (guint generation = 3; generation <= 6; generation++)
    if (is_multiple (node->GBps, 12 << (generation - 3), &count) && count == 1)
      return fab_known_pcie (self->machine, node->line, generation, FAB_PCIE_LANES);
  for (guint lanes = 8; lanes >= 4; lanes /= 2)
    if (is_multiple (node->GBps, 12.0 * lanes / 16, &count) && count == 1)
      return fab_known_pcie (self->machine, node->line, 3, lanes);
  fab_imported_machine_infer (
      self->machine, node->line,
      "PCIe: generation %u x16 where the log has %g GB/s, which no device of such a machine "
      "has; virtual machines print such rates",
      known->pcie_generation, node->GBps);
  return fab_known_usual_pcie (self->machine);
}

/* GPUs are numbered by their ranks where all are printed and follow each other, else as they stand. */
static void
number_gpus (Reader *self)
{
  gint first = G_MAXINT, last = G_MININT;

  for (guint i = 0; i < self->gpus->len; i++) {
    gint rank = node_at (self, g_array_index (self->gpus, guint, i))->rank;

    first = MIN (first, rank);
    last = MAX (last, rank);
  }
  for (guint i = 0; i < self->gpus->len; i++) {
    Node *gpu = node_at (self, g_array_index (self->gpus, guint, i));

    gpu->rank = first >= 0 && (guint) (last - first) + 1 == self->gpus->len ? gpu->rank - first : (gint) i;
  }
}

static void
add_below (Reader *self, guint index, guint parent)
{
  Node *node = node_at (self, index);
  guint part = parent;

  if (!node->holds_device)
    return;
  if (node->kind == NODE_GPU) {
    part = fab_imported_machine_add (self->machine, FAB_IMPORTED_MACHINE_GPU, parent, pcie_of (self, node),
                                     (guint) node->rank);
    g_hash_table_insert (self->parts, node->id, GUINT_TO_POINTER (part + 1));
  } else if (node->kind == NODE_NIC)
    part = fab_imported_machine_add (self->machine, FAB_IMPORTED_MACHINE_NIC, parent, pcie_of (self, node),
                                     G_MAXUINT);
  else if (node->kind == NODE_PCI)
    part = fab_imported_machine_add (self->machine, FAB_IMPORTED_MACHINE_SWITCH, parent, pcie_of (self, node),
                                     G_MAXUINT);
  node->part = part + 1;
  if (node->kind == NODE_GPU || node->kind == NODE_NIC)
    return;
  for (guint i = index; i < self->nodes->len; i++)
    if (is_pci_child (node_at (self, i), index))
      add_below (self, i, part);
}

static void
add_hosts (Reader *self)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    Node *cpu = node_at (self, i);

    if (cpu->kind != NODE_CPU || *cpu->link != '\0' || !cpu->holds_device)
      continue;
    cpu->part = fab_imported_machine_add (self->machine, FAB_IMPORTED_MACHINE_HOST,
                                          FAB_IMPORTED_MACHINE_NO_PARENT, NULL, G_MAXUINT)
              + 1;
    for (guint j = i; j < self->nodes->len; j++)
      if (is_pci_child (node_at (self, j), i))
        add_below (self, j, cpu->part - 1);
  }
}

/* --- its links --- */

/* What NCCL assumes of one link of a generation; some versions assume another rate. */
static const struct {
  const char *link;
  double GBps, changed_GBps;
} generations[] = {
  { "nvlink1", 18, 18 }, { "nvlink2", 20, 21 },     { "nvlink3-rtx", 12, 12 },
  { "nvlink3", 20, 22 }, { "nvlink4", 20.6, 20.6 }, { "nvlink5", 40.1, 40.1 },
  { NULL, 0, 0 },
};

/* The number of links of a rate, by what NCCL assumes of one of them; an xGMI is one. */
static guint
count_links (const Reader *self, double GBps)
{
  const char *link = fab_known_accelerator (self->machine->accelerator)->link;
  guint count = 1;

  for (guint i = 0; generations[i].link != NULL; i++)
    if (g_str_has_prefix (link, generations[i].link)) {
      if (!is_multiple (GBps, generations[i].changed_GBps, &count))
        (void) is_multiple (GBps, generations[i].GBps, &count);
      break;
    }
  return MAX (count, 1);
}

static gboolean
add_link (Reader *self, const Node *gpu, const Node *link, guint *centre, GError **error)
{
  FabImportedMachine *machine = self->machine;
  const char *nvlink = fab_known_accelerator (machine->accelerator)->link;
  guint from = gpu->part - 1, to;

  if (strcmp (link->link, "C2C") == 0)
    fab_imported_machine_join (machine, from, fab_imported_machine_host (machine, from), "nvlink-c2c", 1);
  if (strcmp (link->link, "NVL") != 0 && strcmp (link->link, "XGMI") != 0)
    return TRUE;
  if (nvlink == NULL || g_str_has_prefix (nvlink, "xgmi") != (*link->link == 'X'))
    return fab_file_text_fail (self->scan.file, link->line, error,
                               "%s, but the catalogue knows no such links of %s; --accelerator names another",
                               link->link, machine->accelerator);
  if (link->kind == NODE_NVS) {
    if (*centre == FAB_IMPORTED_MACHINE_NO_PARENT)
      *centre = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SCALE_UP,
                                          FAB_IMPORTED_MACHINE_NO_PARENT, NULL, 0);
    fab_imported_machine_join (machine, from, *centre, nvlink, count_links (self, link->GBps));
    return TRUE;
  }
  if (link->kind == NODE_CPU) {
    fab_imported_machine_join (machine, from, fab_imported_machine_host (machine, from), "nvlink2-power9",
                               count_links (self, link->GBps));
    return TRUE;
  }
  to = GPOINTER_TO_UINT (g_hash_table_lookup (self->parts, link->id));
  if (to == 0)
    return fab_file_text_fail (
        self->scan.file, link->line, error,
        "%s leads to GPU/%s, which has no line of its own; the log was cut: leave all lines of "
        "the tree, up to that of =====",
        link->link, link->id);
  if (from < to - 1)
    fab_imported_machine_join (machine, from, to - 1, nvlink, count_links (self, link->GBps));
  return TRUE;
}

static gboolean
add_links (Reader *self, GError **error)
{
  guint centre = FAB_IMPORTED_MACHINE_NO_PARENT;

  for (guint i = 0; i < self->gpus->len; i++) {
    guint gpu = g_array_index (self->gpus, guint, i);

    for (guint j = gpu; j < self->nodes->len; j++)
      if (node_at (self, j)->parent == gpu
          && !add_link (self, node_at (self, gpu), node_at (self, j), &centre, error))
        return FALSE;
  }
  if (self->machine->links->len > 0)
    fab_imported_machine_read (self->machine, 0, "%u %s between GPUs, or of GPUs and their switch%s",
                               self->machine->links->len,
                               fab_plural (self->machine->links->len, "wire", "wires"),
                               centre == FAB_IMPORTED_MACHINE_NO_PARENT ? ""
                                                                        : " (NVS, the NVSwitches as one)");
  return TRUE;
}

/* --- NICs and hosts --- */

/* The number of the first NET that is as fast as any: 12 of NET/0-c; G_MAXUINT: there is none. */
static guint
first_net (const Reader *self)
{
  for (guint i = 0; i < self->nodes->len; i++) {
    const Node *net = node_at (self, i);
    double GBps = net->net_GBps > 0 ? net->net_GBps : net->GBps;
    const char *dash = strrchr (net->id, '-');

    if (net->kind == NODE_NET && GBps > 0.99 * self->top_GBps)
      return (guint) g_ascii_strtoull (dash != NULL ? dash + 1 : net->id, NULL, 16);
  }
  return G_MAXUINT;
}

/* What "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB" says of the fastest port. */
static FabPortKind
port_kind (const Reader *self)
{
  FabScan scan = FAB_SCAN (self->scan.file);
  g_autofree char *mark = g_strdup_printf ("[%u]", first_net (self));

  while (fab_scan_line (&scan)) {
    g_autofree char *word = NULL;

    if (!fab_scan_to (&scan, "NET/IB : Using") || !fab_scan_to (&scan, mark))
      continue;
    word = fab_scan_word (&scan, "");
    if (word != NULL && g_str_has_suffix (word, "/RoCE"))
      return FAB_PORT_ETHERNET;
    if (word != NULL && g_str_has_suffix (word, "/IB"))
      return FAB_PORT_INFINIBAND;
  }
  return fab_file_text_has (self->scan.file, "Using network Socket") ? FAB_PORT_ETHERNET : FAB_PORT_UNKNOWN;
}

static void
choose_port (Reader *self, guint n_slower)
{
  FabImportedMachine *machine = self->machine;
  const FabFileText *file = self->scan.file;
  guint n = fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_NIC);
  gboolean is_efa = fab_file_text_has (file, "provider is efa")
                 || fab_file_text_has (file, "Provider is efa");
  FabPortKind kind = port_kind (self);

  if (n == 0) {
    machine->nic = NULL;
    return;
  }
  fab_imported_machine_read (machine, 0, "%u %s, whose network runs at %g Gb/s", n,
                             fab_plural (n, "NIC", "NICs"), self->top_GBps * 8);
  if (n_slower > 0)
    fab_imported_machine_leave_out (machine, 0, "left out: %u %s slower than the others or %s no network",
                                    n_slower, fab_plural (n_slower, "NIC that is", "NICs that are"),
                                    fab_plural (n_slower, "has", "have"));
  if (machine->nic != NULL)
    return;
  if (kind == FAB_PORT_UNKNOWN && !is_efa) {
    kind = FAB_PORT_INFINIBAND;
    fab_imported_machine_infer (
        machine, 0,
        "NIC ports: InfiniBand, which the log does not say, as it has no line NET/IB : Using ...; "
        "--nic names another");
  }
  machine->nic = fab_known_port (machine, 0, kind, is_efa ? "efa" : NULL,
                                 (guint) MIN (self->top_GBps * 8000 + 0.5, G_MAXINT));
}

static void
choose_sockets (Reader *self)
{
  static const char *const intel[] = { NULL, "qpi-socket-broadwell", "upi-socket-skylake",
                                       "upi-socket-sapphire-rapids", "upi-socket-emerald-rapids" };
  const Node *cpu = node_at (self, 0);
  const char *found = NULL;

  if (cpu->cpu[0] == 1 && cpu->cpu[1] == 1 && cpu->cpu[2] < G_N_ELEMENTS (intel))
    found = intel[cpu->cpu[2]];
  else if (cpu->cpu[0] == 1 && cpu->cpu[1] == 2)
    found = fab_known_accelerator (self->machine->accelerator)->pcie_generation >= 5 ? "xgmi-socket-genoa"
                                                                                     : "xgmi-socket-rome";
  else if (cpu->cpu[0] == 2)
    found = "xbus-power9";
  else if (cpu->cpu[0] == 3)
    found = "nv-grace-socket";
  if (found != NULL && fab_imported_machine_count (self->machine, FAB_IMPORTED_MACHINE_HOST) > 1)
    fab_imported_machine_infer (
        self->machine, cpu->line,
        "between hosts: %s, as NCCL calls the CPU architecture %u, vendor %u, model %u", found, cpu->cpu[0],
        cpu->cpu[1], cpu->cpu[2]);
  fab_nvlink_sockets (self->machine, cpu->line, "not named", found);
}

/* Reads "nNodes 2" of the line that sums up a communicator. */
static void
find_nodes (Reader *self)
{
  FabScan scan = FAB_SCAN (self->scan.file);
  guint64 n;

  while (fab_scan_line (&scan))
    if (fab_scan_to (&scan, " nNodes ") && fab_scan_whole (&scan, MOST_NODES, &n) && n > 1) {
      self->machine->n_nodes = (guint) n;
      fab_imported_machine_read (self->machine, scan.line, "%u nodes in the communicator (nNodes)",
                                 (guint) n);
      return;
    }
}

static gboolean
fill (Reader *self, GError **error)
{
  const FabFileText *file = self->scan.file;
  guint n_nics = 0;

  for (guint i = 0; i < self->nodes->len; i++) {
    if (node_at (self, i)->kind == NODE_GPU && strcmp (node_at (self, i)->link, "PCI") == 0)
      g_array_append_val (self->gpus, i);
    if (node_at (self, i)->kind == NODE_NIC) {
      self->top_GBps = MAX (self->top_GBps, net_rate (self, i));
      n_nics++;
    }
  }
  if (self->gpus->len == 0)
    return fab_file_text_fail (file, 0, error,
                               "the tree has no GPU; a line such as + PCI[24.0] - GPU/47000 (0) is one");
  if (self->gpus->len > FAB_IMPORT_MAX_GPUS)
    return fab_file_text_fail (file, 0, error, "the machine has more than %d GPUs", FAB_IMPORT_MAX_GPUS);
  mark_devices (self);
  choose_accelerator (self);
  number_gpus (self);
  add_hosts (self);
  if (!add_links (self, error))
    return FALSE;
  guint n_hosts = fab_imported_machine_count (self->machine, FAB_IMPORTED_MACHINE_HOST);
  fab_imported_machine_read (self->machine, node_at (self, 0)->line,
                             "%u %s below %u %s, with the PCIe switches between", self->gpus->len,
                             fab_plural (self->gpus->len, "GPU", "GPUs"), n_hosts,
                             fab_plural (n_hosts, "host (NUMA node)", "hosts (NUMA nodes)"));
  choose_port (self, n_nics - fab_imported_machine_count (self->machine, FAB_IMPORTED_MACHINE_NIC));
  choose_sockets (self);
  find_nodes (self);
  return TRUE;
}

/* Output of nccl-tests may have a tree above its table: then it is a measurement, unless --from says otherwise. */
static gboolean
nccl_tree_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "=== System :")
      && !(fab_file_text_has (text, "algbw") && fab_file_text_has (text, "busbw"));
}

static gboolean
nccl_tree_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  Reader self = { .machine = machine,
                  .scan = FAB_SCAN (&request->file),
                  .nodes = g_array_new (FALSE, FALSE, sizeof (Node)),
                  .parts = g_hash_table_new (g_str_hash, g_str_equal),
                  .gpus = g_array_new (FALSE, FALSE, sizeof (guint)) };

  g_array_set_clear_func (self.nodes, node_clear);
  gboolean is_good = read_tree (&self, error) && fill (&self, error);

  g_array_unref (self.nodes);
  g_array_unref (self.gpus);
  g_hash_table_unref (self.parts);
  g_free (self.printer);
  return is_good;
}

const FabFileFormat fab_file_nccl_tree = {
  .name = "nccl-tree",
  .tool = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH",
  .help = "=== System, in a log of NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH (NCCL, RCCL)",
  .kind = FAB_FILE_MACHINE,
  .recognises = nccl_tree_recognises,
  .read.machine = nccl_tree_read,
};
