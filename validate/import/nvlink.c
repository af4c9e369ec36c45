/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.c - holds all rules for numbers of links; docs/import.md explains them. */
#include "validate/import/nvlink.h"

/* the most links that any GPU has (H100, B200) */
enum { MOST_LINKS = 18 };

/* Returns the number of links that all pairs have; 0: pairs differ, or there are no links. */
static guint
common_count (guint n, const guint *n_links)
{
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      if (i != j && n_links[i * n + j] != n_links[1])
        return 0;
  return n > 1 ? n_links[1] : 0;
}

/* Says whether a switch connects the GPUs: then every pair shows a GPU's total, while direct links add up to it. */
static gboolean
is_switched (guint n, const guint *n_links, guint n_of_accelerator)
{
  guint count = common_count (n, n_links);

  return n > 2 && count > 0 && (count * (n - 1) > MOST_LINKS || count == n_of_accelerator);
}

static guint
links_of_gpu (guint n, const guint *n_links)
{
  guint most = 0;

  if (is_switched (n, n_links, 0))
    return common_count (n, n_links);
  for (guint i = 0; i < n; i++) {
    guint sum = 0;

    for (guint j = 0; j < n; j++)
      sum += n_links[i * n + j];
    most = MAX (most, sum);
  }
  return most;
}

const char *
fab_nvlink_accelerator (FabMachine *machine, guint n, const guint *n_links)
{
  guint total = links_of_gpu (n, n_links);
  const char *name = total == 0  ? "l40s"
                   : total <= 2  ? "rtx2080ti"
                   : total == 4  ? (n == 2 ? "rtx3090" : "p100-sxm2")
                   : total <= 6  ? "v100-sxm2-16gb"
                   : total <= 12 ? "a100-sxm4-80gb"
                                 : "h100-sxm5-80gb";

  if (total == 0)
    fab_machine_infer (machine,
                       "accelerator: %s stands in, as there is no NVLink; --accelerator names the real one",
                       name);
  else
    fab_machine_infer (
        machine,
        "accelerator: %s, and so the NVLink generation, from %u NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, "
        "6 V100, 12 A100, 18 H100 or B200); --accelerator names another",
        name, total);
  return name;
}

static void
add_switch (FabMachine *machine, guint n, const guint *parts, const char *link, guint count)
{
  guint centre = fab_machine_add (machine, FAB_MACHINE_SCALE_UP, FAB_MACHINE_NO_PARENT, NULL, 0);

  for (guint i = 0; i < n; i++)
    fab_machine_join (machine, parts[i], centre, link, count);
}

void
fab_nvlink_add (FabMachine *machine, guint n, const guint *n_links, const guint *parts)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);
  const char *link = known->link && g_str_has_prefix (known->link, "nvlink") ? known->link : "nvlink3";
  guint count = common_count (n, n_links);

  if (is_switched (n, n_links, known->n_links)) {
    fab_machine_read (machine, "all %u GPUs are NV%u to each other", n, count);
    fab_machine_infer (
        machine, "one NVSwitch with %u %s to each GPU: more than %u direct links for %u peers cannot be",
        count, link, known->n_links ? known->n_links : MOST_LINKS, n - 1);
    add_switch (machine, n, parts, link, count);
    return;
  }
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++)
      if (n_links[i * n + j] > 0)
        fab_machine_join (machine, parts[i], parts[j], link, n_links[i * n + j]);
  if (machine->links->len > 0)
    fab_machine_read (machine, "%u of the pairs of %u GPUs are joined by NVLink, directly",
                      machine->links->len, n);
}

void
fab_nvlink_assume (FabMachine *machine, guint n, const guint *parts)
{
  const FabKnownAccelerator *known = fab_known_accelerator (machine->accelerator);

  if (n > 1 && known->has_switch) {
    fab_machine_infer (machine,
                       "one NVSwitch with %u %s to each GPU: the text shows PCIe only, and machines with %s "
                       "have it",
                       known->n_links, known->link, machine->accelerator);
    add_switch (machine, n, parts, known->link, known->n_links);
  } else if (n > 1 && known->link)
    fab_machine_infer (machine, "PCIe only: the text shows no %s, and how it would be wired is not known",
                       known->link);
}

void
fab_nvlink_sockets (FabMachine *machine, const char *found)
{
  machine->socket_link = found ? found : fab_known_accelerator (machine->accelerator)->socket;
  if (found == NULL && fab_machine_count (machine, FAB_MACHINE_HOST) > 1)
    fab_machine_infer (machine, "between hosts: %s, often seen beside %s; the text names no CPU",
                       machine->socket_link, machine->accelerator);
}
