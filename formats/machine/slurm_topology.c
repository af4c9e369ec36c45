/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_topology.c - Slurm's topology.conf, of topology/tree and topology/block, and `scontrol show topology`.
 *
 *   SwitchName=spine Switches=leaf[1-2]
 *   SwitchName=leaf1 Nodes=gpu[001-018] LinkSpeed=400
 *   BlockName=rack1 Nodes=gpu[001-018]
 *   BlockSizes=18,36
 *
 * A line may go on behind a backslash. Keys are written in any case.
 */
#include <string.h>

#include "formats/machine/scheduler_tree.h"
#include "formats/text/scan.h"

typedef struct {
  FabScan scan;
  FabSchedulerTree *tree;
  guint64 level; /* as scontrol prints it: above 0 a line names the nodes of lower switches too */
  gint current;  /* switch of the present line; -1: none yet */
  guint n_blocks, first_block; /* line */
  gboolean goes_on;            /* the line before ends with a backslash */
} Reader;

/* Takes "Key=" of the word that comes next, in any case. */
static gboolean
take_key (FabScan *scan, const char *key)
{
  FabScan at = *scan;
  gsize n = strlen (key);

  (void) fab_scan_column (&at);
  if ((gsize) (at.end - at.at) <= n || g_ascii_strncasecmp (at.at, key, n) != 0 || at.at[n] != '=')
    return FALSE;
  at.at += n + 1;
  *scan = at;
  return TRUE;
}

static gboolean
put_all (Reader *self, gboolean are_switches, GError **error)
{
  FabScan before = self->scan;
  g_autofree char *list = fab_scan_word (&self->scan, "\\"), *why = NULL;
  g_autoptr (GPtrArray) names = list ? fab_scheduler_tree_expand (list) : NULL;

  if (list == NULL || (!are_switches && self->level > 0) || strcmp (list, "(null)") == 0
      || strcmp (list, "ALL") == 0)
    return TRUE;
  if (self->current < 0)
    return fab_scan_fail (&before, error, "SwitchName= or BlockName= must stand before these");
  if (names == NULL)
    return fab_scan_fail (&before, error, "'%s' is no list of names, as gpu[001-018,20] is", list);
  for (guint i = 0; i < names->len; i++) {
    const char *name = g_ptr_array_index (names, i);
    gboolean is_put = are_switches
                        ? fab_scheduler_tree_put_switch (self->tree, (guint) self->current, name, before.line,
                                                         &why)
                        : fab_scheduler_tree_put_node (self->tree, (guint) self->current, name, &why);

    if (!is_put)
      return fab_scan_fail (&before, error, "%s", why);
  }
  return TRUE;
}

/* Reads the name of a switch or of a block, which is a switch of its nodes. */
static gboolean
read_name (Reader *self, gboolean is_block, GError **error)
{
  FabScan before = self->scan;
  g_autofree char *name = fab_scan_word (&self->scan, "\\");

  if (name == NULL)
    return fab_scan_fail (&before, error, "a name belongs here, as SwitchName=leaf1");
  self->current = (gint) fab_scheduler_tree_add (self->tree, name, before.line);
  if (is_block && self->n_blocks++ == 0)
    self->first_block = before.line;
  return TRUE;
}

static gboolean
read_line (Reader *self, GError **error)
{
  if (!self->goes_on) {
    self->current = -1;
    self->level = 0;
  }
  self->goes_on = FALSE;
  while (!fab_scan_is_done (&self->scan) && *self->scan.at != '#') {
    if (take_key (&self->scan, "SwitchName")) {
      if (!read_name (self, FALSE, error))
        return FALSE;
    } else if (take_key (&self->scan, "BlockName")) {
      if (!read_name (self, TRUE, error))
        return FALSE;
    } else if (take_key (&self->scan, "Level")) {
      (void) fab_scan_whole (&self->scan, G_MAXUINT, &self->level);
    } else if (take_key (&self->scan, "Switches")) {
      if (!put_all (self, TRUE, error))
        return FALSE;
    } else if (take_key (&self->scan, "Nodes")) {
      if (!put_all (self, FALSE, error))
        return FALSE;
    } else if (fab_scan_text (&self->scan, "\\"))
      self->goes_on = TRUE;
    else
      g_free (fab_scan_word (&self->scan, "\\")); /* LinkSpeed=, BlockSizes= */
  }
  return TRUE;
}

static gboolean
slurm_recognises (const FabFileText *text)
{
  FabScan scan = FAB_SCAN (text);

  while (fab_scan_line (&scan))
    if (take_key (&scan, "SwitchName") || take_key (&scan, "BlockName"))
      return TRUE;
  return FALSE;
}

static gboolean
slurm_read (FabImportedMachine *machine, const FabImportRequest *request, GError **error)
{
  g_autoptr (FabSchedulerTree) tree = fab_scheduler_tree_new ();
  Reader self = { .scan = FAB_SCAN (&request->file), .tree = tree };

  while (fab_scan_line (&self.scan))
    if (!read_line (&self, error))
      return FALSE;
  if (self.n_blocks > 0)
    fab_imported_machine_infer (
        machine, self.first_block,
        "%u blocks are switches here; in Slurm a block is a domain of fast links between nodes, as a rack of "
        "GB200 is, and nodes of this scenario have none between them",
        self.n_blocks);
  return fab_scheduler_tree_fill (tree, machine, request, error);
}

const FabFileFormat fab_file_slurm_topology = {
  .name = "slurm-topology",
  .tool = "scontrol show topology",
  .help = "topology.conf of Slurm, tree or block, or scontrol show topology",
  .kind = FAB_FILE_MACHINE,
  .recognises = slurm_recognises,
  .read.machine = slurm_read,
};
