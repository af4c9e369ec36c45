/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - checks every value that sizes or indexes something before using it: what arrives is not trusted. */
#include "validate/measure/verbs/wire.h"

#include "sim/base/error.h"

G_STATIC_ASSERT (sizeof (FabVerbsRequest) == 14 * 4 + FAB_VERBS_NAME_SIZE);
G_STATIC_ASSERT (sizeof (FabVerbsCard)
                 == 10 * 4 + 2 * 8 + 16 + FAB_VERBS_NAME_SIZE + FAB_VERBS_MAX_QUEUES * 8);

/* Accepts "mlx5_0:1"; names are printed and stored. */
static gboolean
is_name (const char *name)
{
  gsize n = 0;

  while (n < FAB_VERBS_NAME_SIZE && g_ascii_isgraph (name[n]))
    n++;
  return n < FAB_VERBS_NAME_SIZE && name[n] == '\0';
}

static gboolean
check (gboolean is_sane, const FabControl *control, GError **error)
{
  return is_sane
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s sent what the verbs backend cannot use: use the same fabricast at both ends",
                    control->there);
}

gboolean
fab_verbs_receive_request (FabControl *control, FabVerbsRequest *request, GError **error)
{
  const FabVerbsRequest *r = request;

  return control->receive (control, request, sizeof *request, error)
      && check (r->magic == FAB_VERBS_REQUEST && r->method < FAB_VERBS_ALL && r->place <= FAB_VERBS_GPU
                    && r->mtu <= IBV_MTU_4096 && r->n_queues >= 1 && r->n_queues <= FAB_VERBS_MAX_QUEUES
                    && r->window >= 1 && r->window <= FAB_VERBS_MAX_WINDOW && r->max_bytes >= 1
                    && r->max_bytes <= G_MAXUINT32 && is_name (r->name),
                control, error);
}

gboolean
fab_verbs_receive_card (FabControl *control, FabVerbsCard *card, GError **error)
{
  return control->receive (control, card, sizeof *card, error)
      && check (card->magic == FAB_VERBS_CARD && card->mtu >= IBV_MTU_256 && card->mtu <= IBV_MTU_4096
                    && is_name (card->name),
                control, error);
}
