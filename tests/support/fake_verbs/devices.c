/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - the calls about devices, ports and GIDs. Names and types are those of <infiniband/verbs.h>. */
#include "tests/support/fake_verbs/fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port /* a macro in front of the function */

static guint64
setting (const FakeDevice *device, const char *key, guint64 fallback)
{
  g_auto (GStrv) words = g_strsplit (device->settings, " ", 0);

  for (char **word = words; *word != NULL; word++)
    if (g_str_has_prefix (*word, key) && (*word)[strlen (key)] == '=')
      return g_str_has_suffix (*word, "=roce") ? 1 : g_ascii_strtoull (*word + strlen (key) + 1, NULL, 10);
  return fallback;
}

guint64
fake_setting (const struct ibv_context *context, const char *key, guint64 fallback)
{
  return setting ((const FakeDevice *) context->device, key, fallback);
}

struct ibv_device **
ibv_get_device_list (int *n)
{
  const char *text = g_getenv ("FAB_FAKE_DEVICES");
  g_auto (GStrv) parts = g_strsplit (text != NULL ? text : "", ";", 0);
  guint n_parts = text != NULL && *text != '\0' ? g_strv_length (parts) : 0;
  struct ibv_device **list = g_new0 (struct ibv_device *, n_parts + 1);

  for (guint i = 0; i < n_parts; i++) {
    FakeDevice *device = g_new0 (FakeDevice, 1);
    g_auto (GStrv) words = g_strsplit (g_strstrip (parts[i]), " ", 2);

    g_strlcpy (device->base.name, words[0], sizeof device->base.name);
    device->settings = g_strdup (words[1] != NULL ? words[1] : "");
    device->base.transport_type = (enum ibv_transport_type) setting (device, "transport", IBV_TRANSPORT_IB);
    list[i] = &device->base;
  }
  *n = (int) n_parts;
  return list;
}

void
ibv_free_device_list (struct ibv_device **list)
{
  for (struct ibv_device **device = list; *device != NULL; device++) {
    g_free (((FakeDevice *) *device)->settings);
    g_free (*device);
  }
  g_free (list);
}

const char *
ibv_get_device_name (struct ibv_device *device)
{
  return device->name;
}

struct ibv_context *
ibv_open_device (struct ibv_device *device)
{
  guint64 code = setting ((FakeDevice *) device, "open_errno", 0);
  FakeContext *self;

  if (code != 0) {
    errno = (int) code;
    return NULL;
  }
  self = g_new0 (FakeContext, 1);
  self->device = (FakeDevice){ *device, g_strdup (((FakeDevice *) device)->settings) };
  self->base.device = &self->device.base;
  self->base.ops.post_send = fake_post_send;
  self->base.ops.post_recv = fake_post_recv;
  self->base.ops.poll_cq = fake_poll_cq;
  self->world = fake_world_open ();
  return &self->base;
}

int
ibv_close_device (struct ibv_context *context)
{
  FakeContext *self = (FakeContext *) context;

  fake_world_close (self->world);
  g_free (self->device.settings);
  g_free (self);
  return 0;
}

int
ibv_query_device (struct ibv_context *context, struct ibv_device_attr *attr)
{
  *attr = (struct ibv_device_attr){
    .fw_ver = "20.31.1014",
    .vendor_id = 0x2c9,
    .vendor_part_id = 4123,
    .phys_port_cnt = (guint8) fake_setting (context, "ports", 1),
    .max_qp_wr = (int) fake_setting (context, "max_wr", 8192),
    .max_cqe = 1 << 22,
    .max_qp_rd_atom = 16,
    .max_qp_init_rd_atom = 16,
  };
  return 0;
}

guint16
fake_lid (struct ibv_context *context, guint port)
{
  guint own = 1 + (g_str_hash (context->device->name) + port) % 0xbffe;

  return fake_setting (context, "link", 0) == 1 ? 0 : (guint16) fake_setting (context, "lid", own);
}

int
ibv_query_port (struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *out)
{
  guint mtu = (guint) fake_setting (context, "mtu", 4096);
  struct ibv_port_attr attr = {
    .state = fake_setting (context, "down", 0) == number ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
    .max_mtu = IBV_MTU_4096,
    .active_mtu = (enum ibv_mtu) (g_bit_storage (mtu) - 8),
    .gid_tbl_len = (int) fake_setting (context, "gids", 4),
    .max_msg_sz = 1u << 31,
    .lid = fake_lid (context, number),
    .active_width = 2,
    .active_speed = 64,
    .link_layer = fake_setting (context, "link", 0) == 1 ? IBV_LINK_LAYER_ETHERNET
                                                         : IBV_LINK_LAYER_INFINIBAND,
  };

  if (number < 1 || number > fake_setting (context, "ports", 1))
    return EINVAL;
  memcpy (out, &attr, offsetof (struct ibv_port_attr, flags)); /* what the older structure has */
  return 0;
}

/* RoCE: v1 and v2 of the link, then v1 and v2 of an IPv4 address, as Linux lists them. */
int
_ibv_query_gid_ex (struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                   G_GNUC_UNUSED uint32_t flags, size_t size)
{
  guint8 *raw = entry->gid.raw;
  gboolean is_roce = fake_setting (context, "link", 0) == 1;

  if (index >= fake_setting (context, "gids", 4))
    return ENODATA;
  memset (entry, 0, size);
  entry->gid_index = index;
  entry->port_num = port;
  entry->gid_type = !is_roce ? IBV_GID_TYPE_IB : index % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
  raw[0] = is_roce && index >= 2 ? 0 : 0xfe;
  raw[1] = is_roce && index >= 2 ? 0 : 0x80;
  raw[10] = raw[11] = is_roce && index >= 2 ? 0xff : 0;
  raw[14] = (guint8) g_str_hash (context->device->name);
  raw[15] = (guint8) port;
  return 0;
}

const char *
ibv_wc_status_str (enum ibv_wc_status status)
{
  return status == IBV_WC_GENERAL_ERR ? "general error" : "other";
}
