/* SPDX-License-Identifier: Apache-2.0 */
/* nic_subset.h - which NICs of a node remain when a scenario uses fewer than it has.
 *
 * A builder who leaves slots empty fills the others evenly: over sockets, over PCIe switches, and so that every GPU
 * has a NIC as near as possible. The choice minimises, in this order:
 *
 *   1. links from each GPU to its nearest chosen NIC, plus links from each chosen NIC to its nearest GPU, in total
 *   2. the largest number of GPUs of one NIC; a GPU whose nearest NICs are equally far counts for each of them in part
 *   3. the sum of the squares of these numbers
 *   4. the distance from an even choice of indices: of equal choices, the one found first from there
 *
 * Distances are counted within the node, through switches, bridges and sockets, as a GPU reaches its NIC.
 */
#pragma once

#include "sim/scenario/catalog.h"

/* Chooses `n_chosen` of the node's NICs, which are numbered from 0 in the order of its parts, for its first `n_gpus`
 * accelerators. Returns them in ascending order, so that the k-th of them is rail k. `n_chosen` is at most the number
 * of NICs. The same arguments give the same choice. (transfer full) [n_chosen] */
guint *fab_nic_subset (const FabNodeSpec *node, guint n_gpus, guint n_chosen);
