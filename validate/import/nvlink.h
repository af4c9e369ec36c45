/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.h - infers from numbers of NVLinks which accelerator it is and whether a switch connects them. */
#pragma once

#include "validate/import/known.h"

/* Returns the accelerator by the largest number of links of a GPU, and adds a note. n_links is [n * n], symmetric. */
const char *fab_nvlink_accelerator (FabMachine *machine, guint n, const guint *n_links);

/* Adds the NVLinks: to one switch when every pair shows a GPU's total number of links, else directly between pairs.
 * parts[i] is GPU i. */
void fab_nvlink_add (FabMachine *machine, guint n, const guint *n_links, const guint *parts);

/* Adds the NVLinks for texts that do not show any: all GPUs at one switch, where machines with them have one. */
void fab_nvlink_assume (FabMachine *machine, guint n, const guint *parts);

/* Sets socket_link to `found`, or to the link that usually connects sockets beside that accelerator, with a note. */
void fab_nvlink_sockets (FabMachine *machine, const char *found);
