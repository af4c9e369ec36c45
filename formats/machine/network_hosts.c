/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/machine/network_hosts.h"

#include "sim/base/order.h"

#include <string.h>

static void
host_free (gpointer data)
{
  FabNetworkHost *host = data;

  g_array_unref (host->ports);
  if (host->slow != NULL)
    g_array_unref (host->slow);
  g_free (host);
}

guint
fab_network_adapter_number (const char *adapter)
{
  const char *digits = adapter ? adapter + strlen (adapter) : NULL;
  guint64 number;

  while (digits > adapter && g_ascii_isdigit (digits[-1]))
    digits--;
  /* Addresses and interfaces end with digits, too: "0c:42:a1:88:00:01", "ens1f0np0". */
  if (digits == adapter || (digits[-1] != '_' && digits[-1] != '-'))
    return G_MAXUINT;
  if (!g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT16, &number, NULL))
    return G_MAXUINT;
  return g_str_has_prefix (adapter, "HCA-") && number > 0 ? (guint) number - 1 : (guint) number;
}

const FabImportedDevice *
fab_network_host_adapter (const FabImportedNetwork *network, const FabNetworkHost *host, guint port)
{
  const FabImportedCable *cable = fab_imported_network_cable (network,
                                                              g_array_index (host->ports, guint, port));

  return fab_imported_network_device (network, fab_imported_network_adapter_of (network, cable));
}

guint
fab_network_host_port (const FabImportedNetwork *network, const FabNetworkHost *host, guint port)
{
  const FabImportedCable *cable = fab_imported_network_cable (network,
                                                              g_array_index (host->ports, guint, port));

  return fab_imported_network_is_switch (network, cable->a) ? cable->port_b : cable->port_a;
}

static gint
compare_ports (gconstpointer a, gconstpointer b, gpointer data)
{
  const FabImportedNetwork *network = data;
  const FabImportedCable *x = fab_imported_network_cable (network, *(const guint *) a),
                         *y = fab_imported_network_cable (network, *(const guint *) b);
  guint of_x = fab_imported_network_adapter_of (network, x),
        of_y = fab_imported_network_adapter_of (network, y);
  guint number_x = fab_network_adapter_number (fab_imported_network_device (network, of_x)->adapter),
        number_y = fab_network_adapter_number (fab_imported_network_device (network, of_y)->adapter);
  guint port_x = x->a == of_x ? x->port_a : x->port_b, port_y = y->a == of_y ? y->port_a : y->port_b;

  if (number_x != number_y)
    return fab_order_guints (&number_x, &number_y);
  if (of_x == of_y && port_x != port_y)
    return fab_order_guints (&port_x, &port_y);
  return fab_order_guints (a, b);
}

static FabNetworkHost *
host_new (const FabImportedDevice *adapter)
{
  FabNetworkHost *host = g_new0 (FabNetworkHost, 1);

  host->is_named = adapter->host != NULL;
  host->name = host->is_named ? adapter->host : adapter->id;
  host->ports = g_array_new (FALSE, FALSE, sizeof (guint));
  return host;
}

static guint
switch_of_port (const FabImportedNetwork *network, const FabNetworkHost *host, guint port)
{
  return fab_imported_network_switch_of (
      network, fab_imported_network_cable (network, g_array_index (host->ports, guint, port)));
}

/* Several machines are called "localhost": two adapters of such a host have the same name. Ports are sorted. */
static gboolean
is_several (const FabImportedNetwork *network, const FabNetworkHost *host)
{
  for (guint i = 0; i + 1 < host->ports->len && host->is_named; i++) {
    const FabImportedDevice *one = fab_network_host_adapter (network, host, i),
                            *other = fab_network_host_adapter (network, host, i + 1);

    if (one != other && g_strcmp0 (one->adapter, other->adapter) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Makes a host of each port of hosts that are several, as of adapters whose descriptions name none. */
static void
split_hosts (const FabImportedNetwork *network, GPtrArray *hosts)
{
  for (guint i = hosts->len; i > 0; i--) {
    const FabNetworkHost *several = g_ptr_array_index (hosts, i - 1);

    if (!is_several (network, several))
      continue;
    for (guint k = 0; k < several->ports->len; k++) {
      FabNetworkHost *host = host_new (fab_network_host_adapter (network, several, k));

      host->is_named = FALSE;
      host->name = fab_network_host_adapter (network, several, k)->id;
      g_array_append_val (host->ports, g_array_index (several->ports, guint, k));
      g_ptr_array_add (hosts, host);
    }
    g_ptr_array_remove_index (hosts, i - 1);
  }
}

GPtrArray *
fab_network_hosts_of (const FabImportedNetwork *network)
{
  GPtrArray *hosts = g_ptr_array_new_with_free_func (host_free);
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < network->cables->len; i++) {
    const FabImportedCable *cable = fab_imported_network_cable (network, i);

    if (!fab_imported_network_is_port (network, cable))
      continue;
    const FabImportedDevice *adapter = fab_imported_network_device (
        network, fab_imported_network_adapter_of (network, cable));
    FabNetworkHost *host = g_hash_table_lookup (by_name, adapter->host ? adapter->host : adapter->id);
    if (host == NULL) {
      host = host_new (adapter);
      g_hash_table_insert (by_name, (gpointer) host->name, host);
      g_ptr_array_add (hosts, host);
    }
    g_array_append_val (host->ports, i);
  }
  for (guint i = 0; i < hosts->len; i++) {
    const FabNetworkHost *host = g_ptr_array_index (hosts, i);

    g_array_sort_with_data (host->ports, compare_ports, (gpointer) network);
  }
  split_hosts (network, hosts);
  for (guint i = 0; i < hosts->len; i++) {
    FabNetworkHost *host = g_ptr_array_index (hosts, i);

    host->leaf = switch_of_port (network, host, 0);
  }
  return hosts;
}
