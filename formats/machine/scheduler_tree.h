/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_tree.h - switches above switches above nodes, as schedulers know a network: who is below whom, no cables.
 *
 * A reader adds what a text says; fab_scheduler_tree_fill makes a fabric of kind `custom` of it.
 */
#pragma once

#include "formats/machine/machine.h"

typedef struct _FabSchedulerTree FabSchedulerTree;

FabSchedulerTree *fab_scheduler_tree_new (void);
void fab_scheduler_tree_free (FabSchedulerTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSchedulerTree, fab_scheduler_tree_free)

/* Expands names as Slurm and pdsh write them, "gpu[01-03,7],login1"; NULL: a bracket, a range or the number of names is
 * wrong. (transfer full) (element-type utf8) */
GPtrArray *fab_scheduler_tree_expand (const char *list);

/* Adds a switch, or what another line says of the same one. `line` is where it first stands; 0: not known. */
guint fab_scheduler_tree_add (FabSchedulerTree *self, const char *name, guint line);
/* Puts a switch below another one, or nodes below a switch. FALSE: it is below another one already, or there are too
 * many; *why says it. */
gboolean fab_scheduler_tree_put_switch (FabSchedulerTree *self, guint parent, const char *name, guint line,
                                        char **why);
gboolean fab_scheduler_tree_put_node (FabSchedulerTree *self, guint parent, const char *name, char **why);

/* Makes the machine: nodes of the catalogue, and the tree as a fabric. FALSE with *error: no node is below a switch, or
 * a switch is below itself. */
gboolean fab_scheduler_tree_fill (FabSchedulerTree *self, FabImportedMachine *machine,
                                  const FabImportRequest *request, GError **error);
