/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia_nvlink.c - what `nvidia-smi nvlink` prints with -s (status), -c (capabilities), -R and -p (the other ends).
 *
 *   GPU 0: NVIDIA H100 PCIe (UUID: GPU-6968dfc2-...)
 *            Link 0: 26.562 GB/s                                      -s, or <inactive>
 *            Link 0, P2P is supported: true                           -c
 *            Link 0: Remote Device 00000000:D5:00.0: Link 0           -R
 *            Link 0: 00000000:D5:00.0                                 -p
 *
 * Several of these may stand in one text. nvidia-smi numbers GPUs by their bus ids, so that other ends are GPUs where
 * there are as many of them as GPUs and none would be joined to itself; else they are NVSwitches.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/text/scan.h"
#include "sim/base/units.h"

enum { MAX_LINKS = 64 };

typedef struct {
  guint line;
  guint n_up, n_down; /* links by -s */
  double GBps;        /* of the fastest by -s */
  guint64 listed;     /* a bit for each link of -c */
  GArray *remotes;    /* guint64: bus id of the other end of each link, from -R or -p */
} Gpu;

typedef struct {
  FabImportedMachine *machine;
  FabScan scan;
  GArray *gpus;    /* Gpu */
  GArray *bus_ids; /* guint64: of all other ends, ascending */
  guint *parts;    /* [n] */
} Reader;

static Gpu *
gpu_at (const Reader *self, guint index)
{
  return &g_array_index (self->gpus, Gpu, index);
}

/* --- the lines --- */

/* Reads "GPU 12:"; FALSE, and nothing has changed: the line is another one. */
static gboolean
read_head (FabScan *scan, guint64 *index)
{
  FabScan at = *scan;
  guint64 found;

  if (!fab_scan_text (&at, "GPU ") || !fab_scan_whole (&at, FAB_IMPORT_MAX_GPUS - 1, &found)
      || !fab_scan_text (&at, ":"))
    return FALSE;
  *scan = at;
  *index = found;
  return TRUE;
}

/* Reads "00000000:D5:00.0" as one number. */
static gboolean
read_bus_id (FabScan *scan, guint64 *bus_id)
{
  FabScan at = *scan;
  guint64 part[4];

  for (guint i = 0; i < 4; i++)
    if (!fab_scan_hex (&at, &part[i]) || (i < 3 && !fab_scan_text (&at, i < 2 ? ":" : ".")))
      return FALSE;
  if (part[0] > G_MAXUINT32 || part[1] > 0xff || part[2] > 0xff || part[3] > 0xf)
    return FALSE;
  *scan = at;
  *bus_id = part[0] << 20 | part[1] << 12 | part[2] << 4 | part[3];
  return TRUE;
}

static void
add_remote (Reader *self, Gpu *gpu, guint64 bus_id)
{
  guint i = 0;

  g_array_append_val (gpu->remotes, bus_id);
  while (i < self->bus_ids->len && g_array_index (self->bus_ids, guint64, i) < bus_id)
    i++;
  if (i == self->bus_ids->len || g_array_index (self->bus_ids, guint64, i) != bus_id)
    g_array_insert_val (self->bus_ids, i, bus_id);
}

/* Reads what stands behind "Link 3" of a GPU. */
static gboolean
read_state (Reader *self, Gpu *gpu, guint64 link, GError **error)
{
  FabScan before = self->scan;
  guint64 bus_id;
  double GBps;

  if (fab_scan_text (&self->scan, ",")) {
    gpu->listed |= (guint64) 1 << link;
    return TRUE;
  }
  if (!fab_scan_text (&self->scan, ":"))
    return TRUE;
  before = self->scan;
  (void) fab_scan_column (&before);
  if (fab_scan_text (&self->scan, "<inactive>") || fab_scan_text (&self->scan, "inactive")) {
    gpu->n_down++;
    return TRUE;
  }
  if (fab_scan_text (&self->scan, "Remote Device")) {
    if (!read_bus_id (&self->scan, &bus_id))
      return fab_scan_fail (&before, error,
                            "a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0");
    add_remote (self, gpu, bus_id);
    return TRUE;
  }
  if (read_bus_id (&self->scan, &bus_id)) {
    add_remote (self, gpu, bus_id);
    return TRUE;
  }
  if (!fab_scan_real (&self->scan, &GBps) || !fab_scan_text (&self->scan, "GB/s"))
    return g_ascii_isalpha (*before.at) /* "Replay Errors: 0" of -e */
        || fab_scan_fail (&before, error, "a rate belongs here, as 26.562 GB/s, or <inactive>");
  gpu->n_up += GBps > 0;
  gpu->n_down += GBps <= 0;
  gpu->GBps = MAX (gpu->GBps, GBps);
  return TRUE;
}

static gboolean
read_lines (Reader *self, GError **error)
{
  guint64 index = G_MAXUINT64, link; /* of the GPU whose lines follow */

  while (fab_scan_line (&self->scan)) {
    if (read_head (&self->scan, &index)) {
      if (index > self->gpus->len)
        return fab_scan_fail (&self->scan, error, "GPU %u comes before GPU %u", (guint) index,
                              self->gpus->len);
      if (index == self->gpus->len) {
        Gpu gpu = { .line = self->scan.line, .remotes = g_array_new (FALSE, FALSE, sizeof (guint64)) };
        g_array_append_val (self->gpus, gpu);
      }
      continue;
    }
    if (index < self->gpus->len && fab_scan_text (&self->scan, "Link ")
        && fab_scan_whole (&self->scan, MAX_LINKS - 1, &link)
        && !read_state (self, gpu_at (self, (guint) index), link, error))
      return FALSE;
  }
  return TRUE;
}

/* --- what it is --- */

/* Links of a GPU that work: by -s, else as many as have another end, else as -c lists. */
static guint
links_of (const Gpu *gpu)
{
  guint n = 0;

  if (gpu->n_up + gpu->n_down > 0)
    return gpu->n_up;
  if (gpu->remotes->len > 0)
    return gpu->remotes->len;
  for (guint i = 0; i < MAX_LINKS; i++)
    n += gpu->listed >> i & 1;
  return n;
}

static guint
most_links (const Reader *self)
{
  guint most = 0;

  for (guint i = 0; i < self->gpus->len; i++)
    most = MAX (most, links_of (gpu_at (self, i)));
  return most;
}

static void
choose_accelerator (Reader *self)
{
  FabImportedMachine *machine = self->machine;
  double GBps = 0;
  guint n_links = most_links (self);

  if (machine->accelerator != NULL || fab_known_accelerator_in_text (machine, self->scan.file))
    return;
  for (guint i = 0; i < self->gpus->len; i++)
    GBps = MAX (GBps, gpu_at (self, i)->GBps);
  machine->accelerator = GBps > 40                 ? "b200-sxm"
                       : GBps > 26 || n_links > 12 ? "h100-sxm5-80gb"
                       : GBps > 13 && GBps < 15    ? "rtx3090"
                       : n_links > 6               ? "a100-sxm4-80gb"
                       : GBps > 0 && GBps < 21     ? "p100-sxm2"
                                                   : "v100-sxm2-16gb";
  fab_imported_machine_infer (machine, gpu_at (self, 0)->line,
                              "accelerator: %s, by %u links of %g GB/s; no name in the text is in the table; "
                              "--accelerator names another",
                              machine->accelerator, n_links, GBps);
}

static guint
index_of_bus_id (const Reader *self, guint64 bus_id)
{
  guint i = 0;

  while (g_array_index (self->bus_ids, guint64, i) != bus_id)
    i++;
  return i;
}

/* Counts links of pairs, n_links[n * n], where the other ends are the GPUs. FALSE: they are switches, or not said. */
static gboolean
count_pairs (const Reader *self, guint *n_links)
{
  guint n = self->gpus->len;

  if (self->bus_ids->len != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < gpu_at (self, i)->remotes->len; k++) {
      guint peer = index_of_bus_id (self, g_array_index (gpu_at (self, i)->remotes, guint64, k));

      if (peer == i)
        return FALSE;
      n_links[i * n + peer]++;
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++)
      n_links[i * n + j] = n_links[j * n + i] = MIN (n_links[i * n + j], n_links[j * n + i]);
  return TRUE;
}

static void
add_switch (Reader *self, const char *link)
{
  FabImportedMachine *machine = self->machine;
  guint centre = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_SCALE_UP,
                                           FAB_IMPORTED_MACHINE_NO_PARENT, NULL, 0);

  for (guint i = 0; i < self->gpus->len; i++)
    if (links_of (gpu_at (self, i)) > 0)
      fab_imported_machine_join (machine, self->parts[i], centre, link,
                                 MIN (links_of (gpu_at (self, i)), MAX_LINKS));
  if (self->bus_ids->len > 0)
    fab_imported_machine_read (machine, 0, "%u NVSwitches at the other ends, which are one here",
                               self->bus_ids->len);
  else
    fab_imported_machine_infer (machine, 0,
                                "one NVSwitch at the other ends, as machines with %s have; -R says the ends",
                                machine->accelerator);
}

/* Neighbours are pairs, as bridges join cards in neighbouring slots. */
static void
add_bridges (Reader *self, const char *link)
{
  for (guint i = 0; i + 1 < self->gpus->len; i += 2) {
    guint n = MIN (links_of (gpu_at (self, i)), links_of (gpu_at (self, i + 1)));

    if (n > 0)
      fab_imported_machine_join (self->machine, self->parts[i], self->parts[i + 1], link, MIN (n, MAX_LINKS));
  }
  if (self->gpus->len > 2)
    fab_imported_machine_infer (
        self->machine, 0,
        "NVLink: GPU 0 with 1, 2 with 3 and so on, as bridges join cards in neighbouring slots; "
        "`nvidia-smi nvlink -R` or `nvidia-smi topo -m` says which");
}

static void
add_links (Reader *self)
{
  FabImportedMachine *machine = self->machine;
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);
  const char *link = known->link != NULL && g_str_has_prefix (known->link, "nvlink") ? known->link
                                                                                     : "nvlink3";
  guint n = self->gpus->len;
  g_autofree guint *n_links = g_new0 (guint, n * n);

  if (n < 2 || most_links (self) == 0)
    return;
  if (count_pairs (self, n_links))
    fab_nvlink_add (machine, 0, n, n_links, self->parts);
  else if (known->has_switch || self->bus_ids->len > 0)
    add_switch (self, link);
  else if (n == 2 || strstr (link, "bridge") != NULL || strstr (link, "rtx") != NULL)
    add_bridges (self, link);
  else
    fab_imported_machine_leave_out (
        machine, 0,
        "left out: NVLink, as the text does not say which GPUs the links join; `nvidia-smi "
        "topo -m` does");
}

/* Says which GPUs have fewer links than the others: links that are down are what people look for here. */
static void
note_links (const Reader *self)
{
  g_autoptr (GString) fewer = g_string_new (NULL);
  guint most = most_links (self);

  for (guint i = 0; i < self->gpus->len; i++)
    if (links_of (gpu_at (self, i)) < most)
      g_string_append_printf (fewer, "%sGPU %u has %u", fewer->len > 0 ? ", " : "", i,
                              links_of (gpu_at (self, i)));
  fab_imported_machine_read (self->machine, gpu_at (self, 0)->line, "%u %s with %u %s%s%s", self->gpus->len,
                             fab_plural (self->gpus->len, "GPU", "GPUs"), most,
                             fab_plural (most, "NVLink", "NVLinks"),
                             fewer->len > 0 ? " each but these: " : "", fewer->str);
}

static gboolean
fill (Reader *self, GError **error)
{
  FabImportedMachine *machine = self->machine;
  const char *pcie;
  guint host;

  if (self->gpus->len == 0)
    return fab_file_text_fail (self->scan.file, 0, error,
                               "there is no line with a GPU, as GPU 0: NVIDIA H100 PCIe");
  choose_accelerator (self);
  pcie = fab_known_usual_pcie (machine);
  host = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL,
                                   0);
  self->parts = g_new (guint, self->gpus->len);
  for (guint i = 0; i < self->gpus->len; i++)
    self->parts[i] = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, host, pcie, i);
  note_links (self);
  add_links (self);
  machine->nic = NULL;
  fab_imported_machine_infer (
      machine, 0,
      "PCIe: %s from each GPU to one host; the text says nothing about PCIe, hosts and NICs, which "
      "`nvidia-smi topo -m` does",
      pcie);
  fab_nvlink_sockets (machine, 0, NULL, NULL);
  return TRUE;
}

/* Whether a line of a link stands below one of a GPU. */
static gboolean
nvlink_recognises (const FabFileText *text)
{
  FabScan scan = FAB_SCAN (text);
  guint64 index;
  gboolean has_gpu = FALSE;

  if (!fab_file_text_has (text, "Link 0"))
    return FALSE;
  while (fab_scan_line (&scan)) {
    has_gpu = has_gpu || read_head (&scan, &index);
    if (has_gpu && fab_scan_text (&scan, "Link 0"))
      return TRUE;
  }
  return FALSE;
}

static gboolean
nvlink_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  Reader self = { .machine = machine,
                  .scan = FAB_SCAN (&request->file),
                  .gpus = g_array_new (FALSE, FALSE, sizeof (Gpu)),
                  .bus_ids = g_array_new (FALSE, FALSE, sizeof (guint64)) };
  gboolean is_good = read_lines (&self, error) && fill (&self, error);

  for (guint i = 0; i < self.gpus->len; i++)
    g_array_unref (gpu_at (&self, i)->remotes);
  g_array_unref (self.gpus);
  g_array_unref (self.bus_ids);
  g_free (self.parts);
  return is_good;
}

const FabFileFormat fab_file_nvidia_nvlink = {
  .name = "nvidia-nvlink",
  .tool = "nvidia-smi nvlink",
  .help = "nvidia-smi nvlink -s, -c, -R or -p",
  .kind = FAB_FILE_MACHINE,
  .recognises = nvlink_recognises,
  .read.machine = nvlink_read,
};
