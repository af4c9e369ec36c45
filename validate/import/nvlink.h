/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.h - what counts of NVLinks tell: the accelerator, and whether a switch joins them. */
#pragma once

#include "validate/import/known.h"

/* By the largest number of links of a GPU. n_links is [n * n], symmetric. Adds a note. */
const char *fab_nvlink_accelerator (FabMachine *machine, guint n, const guint *n_links);

/* Direct links; or one switch, when every pair has what a GPU has in total. parts[i] is GPU i. */
void fab_nvlink_add (FabMachine *machine, guint n, const guint *n_links, const guint *parts);

/* For texts that do not show NVLink: all GPUs at one switch where machines with them have one. */
void fab_nvlink_assume (FabMachine *machine, guint n, const guint *parts);

/* Sets socket_link: `found`, or what usually joins sockets beside the accelerator, with a note. */
void fab_nvlink_sockets (FabMachine *machine, const char *found);
