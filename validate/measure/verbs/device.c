/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - finds devices, ports and GIDs with libibverbs. */
#include "validate/measure/verbs/device.h"

#include <errno.h>
#include <string.h>

#include "sim/base/error.h"

typedef struct ibv_device *DeviceList;

static void
free_list (DeviceList *list)
{
  if (list != NULL)
    ibv_free_device_list (list);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DeviceList, free_list)

static gboolean
no_device (GError **error)
{
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "there is no RDMA device on this machine: `ibv_devices` lists none; it needs an InfiniBand or RoCE "
      "adapter and its driver (Debian: rdma-core ibverbs-providers)");
}

static const char *
verbs_link_words (guint32 link_layer)
{
  return link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

static const char *
state_words (const struct ibv_port_attr *attr)
{
  return attr->state == IBV_PORT_DOWN  ? "down: cable, transceiver, or the switch's port"
       : attr->state == IBV_PORT_INIT  ? "initialising: no subnet manager has set it up"
       : attr->state == IBV_PORT_ARMED ? "armed: the subnet manager has not made it active"
                                       : "not active";
}

/* Adds the active ports of an open device to `names`, the state of the others to `others`. */
static void
add_ports (struct ibv_context *context, const char *device, gint64 port, GPtrArray *names, GString *others)
{
  struct ibv_device_attr attr;

  if (ibv_query_device (context, &attr) != 0) {
    g_string_append_printf (others, "%s%s does not answer", others->len > 0 ? "; " : "", device);
    return;
  }
  for (guint i = 1; i <= attr.phys_port_cnt; i++) {
    struct ibv_port_attr port_attr;

    if ((port != 0 && port != (gint64) i) || ibv_query_port (context, (guint8) i, &port_attr) != 0)
      continue;
    if (port_attr.state == IBV_PORT_ACTIVE)
      g_ptr_array_add (names, g_strdup_printf ("%s:%u", device, i));
    else
      g_string_append_printf (others, "%s%s:%u is %s", others->len > 0 ? "; " : "", device, i,
                              state_words (&port_attr));
  }
}

static gboolean
no_port (const char *device, gint64 port, gboolean is_known, const GString *all, const GString *others,
         GError **error)
{
  if (!is_known)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "no RDMA device is called '%s' here; there are %s",
                      device, all->str);
  if (others->len > 0)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "no RDMA port is active: %s", others->str);
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s has no port %" G_GINT64_FORMAT,
                    device != NULL ? device : all->str, port);
}

GPtrArray *
fab_verbs_active_ports (const char *device, gint64 port, GError **error)
{
  int n = 0;
  g_autoptr (DeviceList) list = ibv_get_device_list (&n);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) others = g_string_new (NULL);
  g_autoptr (GString) all = g_string_new (NULL);
  gboolean is_known = device == NULL;

  if (list == NULL || n == 0) {
    no_device (error);
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    const char *name = ibv_get_device_name (list[i]);
    struct ibv_context *context = NULL;

    g_string_append_printf (all, "%s%s", i > 0 ? ", " : "", name);
    if (device != NULL && !g_str_equal (device, name))
      continue;
    is_known = TRUE;
    context = ibv_open_device (list[i]);
    if (context == NULL) {
      g_string_append_printf (others, "%s%s cannot be opened (%s)", others->len > 0 ? "; " : "", name,
                              g_strerror (errno));
      continue;
    }
    add_ports (context, name, port, names, others);
    ibv_close_device (context);
  }
  if (names->len > 0)
    return g_steal_pointer (&names);
  no_port (device, port, is_known, all, others, error);
  return NULL;
}

static gboolean
query_port (FabVerbsPort *port, GError **error)
{
  if (ibv_query_device (port->context, &port->device_attr) != 0
      || ibv_query_port (port->context, port->number, &port->attr) != 0)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s:%u does not say what it is (%s)", port->name,
                      port->number, g_strerror (errno));
  if (port->attr.state != IBV_PORT_ACTIVE)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s:%u is %s", port->name, port->number,
                      state_words (&port->attr));
  if (port->context->device->transport_type == IBV_TRANSPORT_IWARP)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "%s is an iWARP device, which can be connected by rdma_cm only; measure it with `ofi`",
                      port->name);
  return TRUE;
}

gboolean
fab_verbs_port_open (FabVerbsPort *port, const char *name, GError **error)
{
  int n = 0;
  g_autoptr (DeviceList) list = ibv_get_device_list (&n);
  const char *colon = strrchr (name, ':');

  g_assert (colon != NULL);
  port->name = g_strndup (name, (gsize) (colon - name));
  port->number = (guint8) g_ascii_strtoull (colon + 1, NULL, 10);
  for (int i = 0; list != NULL && i < n; i++)
    if (g_str_equal (ibv_get_device_name (list[i]), port->name))
      port->context = ibv_open_device (list[i]);
  if (port->context == NULL)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "%s cannot be opened (%s): are /dev/infiniband/uverbs* readable and writable for you?",
                      port->name, g_strerror (errno));
  return query_port (port, error);
}

void
fab_verbs_port_clear (FabVerbsPort *port)
{
  if (port->context != NULL)
    ibv_close_device (port->context);
  g_clear_pointer (&port->name, g_free);
  port->context = NULL;
}

/* Compares names as they are written: "mlx5_0:1". */
gboolean
fab_verbs_port_answer (FabVerbsPort *port, const FabVerbsParams *params, const FabVerbsRequest *request,
                       GError **error)
{
  g_autoptr (GPtrArray) names = fab_verbs_active_ports (params->device, params->port, error);
  gboolean has_twin = names != NULL
                   && g_ptr_array_find_with_equal_func (names, request->name, g_str_equal, NULL);

  if (names == NULL)
    return FALSE;
  for (guint i = has_twin ? 0 : 1; i <= names->len; i++) {
    g_autoptr (GError) reason = NULL;

    if (!fab_verbs_port_open (port, i == 0 ? request->name : names->pdata[i - 1], &reason)) {
      if (i == names->len) {
        g_propagate_error (error, g_steal_pointer (&reason));
        return FALSE;
      }
    } else if (port->attr.link_layer == request->link_layer) {
      return TRUE;
    }
    fab_verbs_port_clear (port);
  }
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s of the asking end is %s, and no active port here is",
                    request->name, verbs_link_words (request->link_layer));
}

/* Returns Gb/s of one lane for a code of ibv_port_attr.active_speed. Source: InfiniBand Architecture,
 * PortInfo.LinkSpeedActive. */
static double
lane_gbit (guint8 speed)
{
  static const double known[] = { 2.5, 5, 10, 10.3125, 14.0625, 25.78125, 53.125, 106.25 };

  for (guint bit = 0; bit < G_N_ELEMENTS (known); bit++)
    if (speed == 1u << bit)
      return known[bit];
  return 0;
}

static guint
n_lanes (guint8 width)
{
  return width == 1 ? 1 : width == 2 ? 4 : width == 4 ? 8 : width == 8 ? 12 : width == 16 ? 2 : 0;
}

char *
fab_verbs_port_words (const FabVerbsPort *port)
{
  const struct ibv_port_attr *attr = &port->attr;
  guint lanes = n_lanes (attr->active_width);
  double gbit = lane_gbit (attr->active_speed);
  g_autofree char *speed = lanes > 0 && gbit > 0 ? g_strdup_printf ("%ux %g Gb/s signalling", lanes, gbit)
                                                 : g_strdup ("speed not known");

  return g_strdup_printf ("%s, %s, MTU %u, vendor %#x part %u, firmware %s",
                          verbs_link_words (attr->link_layer), speed, fab_verbs_mtu_bytes (attr->active_mtu),
                          port->device_attr.vendor_id, port->device_attr.vendor_part_id,
                          port->device_attr.fw_ver);
}

static gboolean
is_ipv4 (const union ibv_gid *gid)
{
  static const guint8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

  return memcmp (gid->raw, mapped, sizeof mapped) == 0;
}

/* Ranks a GID for the automatic choice; 0: not usable. */
static guint
gid_rank (const struct ibv_gid_entry *entry)
{
  gboolean is_local = entry->gid.raw[0] == 0xfe && (entry->gid.raw[1] & 0xc0) == 0x80;

  if (entry->gid_type == IBV_GID_TYPE_ROCE_V2)
    return is_ipv4 (&entry->gid) ? 4 : is_local ? 2 : 3;
  return entry->gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 0;
}

static gboolean
choose_gid (const FabVerbsPort *port, struct ibv_gid_entry *chosen)
{
  guint best = 0;

  for (int i = 0; i < port->attr.gid_tbl_len; i++) {
    struct ibv_gid_entry entry;

    if (ibv_query_gid_ex (port->context, port->number, (guint32) i, &entry, 0) != 0
        || gid_rank (&entry) <= best)
      continue;
    best = gid_rank (&entry);
    *chosen = entry;
  }
  return best > 0;
}

gboolean
fab_verbs_port_address (const FabVerbsPort *port, gint64 index, FabVerbsCard *card, gint *chosen,
                        GError **error)
{
  gboolean is_ethernet = port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
  struct ibv_gid_entry entry = { .gid_index = 0 };

  card->link_layer = port->attr.link_layer;
  card->lid = port->attr.lid;
  if (!is_ethernet && port->attr.lid == 0)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s:%u has no LID: no subnet manager runs on this fabric",
                      port->name, port->number);
  if (index < 0 && is_ethernet && !choose_gid (port, &entry))
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "%s:%u has no GID of RoCE: give its network interface an address", port->name,
                      port->number);
  if (index >= 0 && ibv_query_gid_ex (port->context, port->number, (guint32) index, &entry, 0) != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s:%u has no GID %" G_GINT64_FORMAT "; `show_gids` lists them",
                      port->name, port->number, index);
  card->has_gid = is_ethernet || index >= 0;
  card->gid = entry.gid;
  card->gid_type = entry.gid_type;
  *chosen = (gint) entry.gid_index;
  return TRUE;
}
