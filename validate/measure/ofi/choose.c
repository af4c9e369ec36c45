/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - chooses the provider and one of its devices. */
#include <netdb.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/measure/ofi/ofi.h"

gboolean
fab_ofi_fail (int result, const char *what, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "libfabric: %s: %s", what, fi_strerror (-result));
}

static struct fi_info *
hints_new (const FabOfiParams *params)
{
  struct fi_info *hints = fi_allocinfo ();

  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_TAGGED | FI_SEND | FI_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY
                              | FI_MR_ENDPOINT;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (params->provider)
    hints->fabric_attr->prov_name = strdup (params->provider);
  else
    /* this excludes shared memory, unless it was requested */
    hints->caps |= FI_REMOTE_COMM;
  if (params->domain)
    hints->domain_attr->name = strdup (params->domain);
  return hints;
}

static struct fi_info *
ask (const FabOfiParams *params)
{
  struct fi_info *hints = hints_new (params), *found = NULL;

  if (fi_getinfo (FI_VERSION (1, 11), NULL, NULL, 0, hints, &found) != 0)
    found = NULL;
  fi_freeinfo (hints);
  return found;
}

/* Lists the names that a person can request, each once: "tcp;ofi_rxm eth0, shm". (transfer full) */
static char *
list_all (gboolean is_with_domains)
{
  const FabOfiParams any = { NULL, NULL };
  struct fi_info *all = ask (&any);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);

  for (const struct fi_info *one = all; one; one = one->next) {
    const char *provider = one->fabric_attr->prov_name;
    char *name = is_with_domains ? g_strdup_printf ("%s of %s", one->domain_attr->name, provider)
                                 : g_strdup (provider);

    if (g_hash_table_contains (seen, name)) {
      g_free (name);
      continue;
    }
    g_string_append_printf (text, "%s%s", text->len ? ", " : "", name);
    g_hash_table_add (seen, name);
  }
  if (all)
    fi_freeinfo (all);
  return g_string_free (text, FALSE);
}

static gboolean
is_at (const struct fi_info *info, const char *address)
{
  char name[NI_MAXHOST];

  if (info->src_addr == NULL || (info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6))
    return FALSE;
  return getnameinfo (info->src_addr, (socklen_t) info->src_addrlen, name, sizeof name, NULL, 0,
                      NI_NUMERICHOST)
          == 0
      && strcmp (name, address) == 0;
}

static gboolean
fail_to_find (const FabOfiParams *params, GError **error)
{
  g_autofree char *all = list_all (params->domain != NULL);

  if (params->domain)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "libfabric has no domain '%s'%s%s for tagged messages here; there are: %s",
                      params->domain, params->provider ? " of provider " : "",
                      params->provider ? params->provider : "", *all ? all : "none");
  if (params->provider)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "libfabric has no provider '%s' for tagged messages here; between hosts there are: %s",
                      params->provider, *all ? all : "none");
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "libfabric has no provider for tagged messages between hosts here; `fi_info -l` lists what it knows");
}

/* Checks the domain again: some providers ignore the requested one. */
static gboolean
fits (const struct fi_info *info, const FabOfiParams *params, const struct fi_info *first)
{
  return (params->domain == NULL || strcmp (info->domain_attr->name, params->domain) == 0)
      && (first == NULL || strcmp (info->fabric_attr->prov_name, first->fabric_attr->prov_name) == 0);
}

struct fi_info *
fab_ofi_choose (const FabOfiParams *params, const char *here, GError **error)
{
  struct fi_info *found = ask (params), *chosen = NULL, *result;

  for (struct fi_info *one = found; one; one = one->next)
    if (fits (one, params, chosen) && (chosen == NULL || (!is_at (chosen, here) && is_at (one, here))))
      chosen = one;
  result = chosen ? fi_dupinfo (chosen) : NULL;
  if (found)
    fi_freeinfo (found);
  if (result == NULL)
    fail_to_find (params, error);
  return result;
}
