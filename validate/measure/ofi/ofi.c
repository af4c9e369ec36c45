/* SPDX-License-Identifier: Apache-2.0 */
/* ofi.c - the backend `ofi`: two ends over any provider of libfabric. */
#include "validate/measure/ofi/ofi.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "sim/base/error.h"

enum { USUAL_WINDOW = 64, MAX_ADDRESS_BYTES = 512, MAX_NAME_BYTES = 256, MAX_PROVIDER_BYTES = 128 };

/* The characters that are kept of the other end's texts, which are printed and stored. */
#define SEEN G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS " ._:;,/@[]%+-"

/* What an end tells the other. Addresses are opaque. */
typedef struct {
  guint32 address_bytes; /* big endian */
  char provider[MAX_PROVIDER_BYTES];
  char name[MAX_NAME_BYTES];
  char address[MAX_ADDRESS_BYTES];
} Card;

static const FabParam ofi_params[] = {
  { .key = "provider",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabOfiParams, provider),
    .fallback = "",
    .help =
        "Provider of libfabric: tcp, verbs, efa, cxi, opx, psm3, shm, ...; libfabric's choice if not given." },
  { .key = "domain",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabOfiParams, domain),
    .fallback = "",
    .help =
        "Device of the provider, as `fi_info` calls it: eth0, mlx5_0, ...; the one with the address of the "
        "control connection, else the provider's first, if not given." },
  { NULL },
};

static void
close_one (struct fid *fid)
{
  if (fid)
    fi_close (fid);
}

static void
ofi_close (FabPair *pair)
{
  FabOfiPair *self = (FabOfiPair *) pair;

  close_one (self->endpoint ? &self->endpoint->fid : NULL);
  close_one (self->memory ? &self->memory->fid : NULL);
  close_one (self->out.queue ? &self->out.queue->fid : NULL);
  close_one (self->in.queue ? &self->in.queue->fid : NULL);
  close_one (self->addresses ? &self->addresses->fid : NULL);
  close_one (self->domain ? &self->domain->fid : NULL);
  close_one (self->fabric ? &self->fabric->fid : NULL);
  if (self->info)
    fi_freeinfo (self->info);
  if (self->free_contexts)
    g_ptr_array_free (self->free_contexts, TRUE);
  g_free (self->contexts);
  g_free (self->buffer);
  g_free (self->here);
  g_free (self->there);
  g_free (self);
}

static gboolean
make_buffers (FabOfiPair *self, FabBytes max_bytes, GError **error)
{
  guint n_contexts = 2 * (self->window + 1);

  if ((guint64) max_bytes > self->info->ep_attr->max_msg_size)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "provider %s takes messages of up to %" G_GSIZE_FORMAT " bytes; measure smaller sizes",
                      self->info->fabric_attr->prov_name, self->info->ep_attr->max_msg_size);
  self->max_bytes = (gsize) MAX (max_bytes, 1);
  self->buffer = g_try_malloc0 (2 * self->max_bytes);
  if (self->buffer == NULL)
    return fab_throw (error, FAB_ERROR_IO,
                      "no memory for two messages of %" G_GSIZE_FORMAT " bytes; measure smaller sizes",
                      self->max_bytes);
  self->contexts = g_new0 (struct fi_context2, n_contexts);
  self->free_contexts = g_ptr_array_new ();
  for (guint i = 0; i < n_contexts; i++)
    g_ptr_array_add (self->free_contexts, &self->contexts[i]);
  return TRUE;
}

static gboolean
register_memory (FabOfiPair *self, GError **error)
{
  int result;

  if ((self->info->domain_attr->mr_mode & FI_MR_LOCAL) == 0)
    return TRUE;
  result = fi_mr_reg (self->domain, self->buffer, 2 * self->max_bytes, FI_SEND | FI_RECV, 0, 0, 0,
                      &self->memory, NULL);
  if (result == 0 && (self->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) {
    result = fi_mr_bind (self->memory, &self->endpoint->fid, 0);
    if (result == 0)
      result = fi_mr_enable (self->memory);
  }
  return result == 0
      || fab_ofi_fail (result, "the messages' memory cannot be registered (is `ulimit -l` large enough?)",
                       error);
}

static gboolean
make_endpoint (FabOfiPair *self, GError **error)
{
  struct fi_cq_attr queue = { .format = FI_CQ_FORMAT_CONTEXT, .size = self->window + 2 };
  struct fi_av_attr addresses = { .type = FI_AV_UNSPEC, .count = 1 };
  const char *what = "the fabric cannot be opened";
  int result = fi_fabric (self->info->fabric_attr, &self->fabric, NULL);

  if (result == 0)
    what = "the device cannot be opened", result = fi_domain (self->fabric, self->info, &self->domain, NULL);
  if (result == 0)
    what = "no completion queue", result = fi_cq_open (self->domain, &queue, &self->out.queue, NULL);
  if (result == 0)
    result = fi_cq_open (self->domain, &queue, &self->in.queue, NULL);
  if (result == 0)
    what = "no table of addresses", result = fi_av_open (self->domain, &addresses, &self->addresses, NULL);
  if (result == 0)
    what = "no endpoint", result = fi_endpoint (self->domain, self->info, &self->endpoint, NULL);
  if (result == 0)
    what = "the endpoint cannot be bound", result = fi_ep_bind (self->endpoint, &self->addresses->fid, 0);
  if (result == 0)
    result = fi_ep_bind (self->endpoint, &self->out.queue->fid, FI_TRANSMIT);
  if (result == 0)
    result = fi_ep_bind (self->endpoint, &self->in.queue->fid, FI_RECV);
  if (result == 0)
    what = "the endpoint cannot be enabled", result = fi_enable (self->endpoint);
  return result == 0 || fab_ofi_fail (result, what, error);
}

static gboolean
check_peer (const FabOfiPair *self, Card *there, GError **error)
{
  const char *provider = self->info->fabric_attr->prov_name;

  there->provider[MAX_PROVIDER_BYTES - 1] = there->name[MAX_NAME_BYTES - 1] = '\0';
  g_strcanon (there->name, SEEN, '?');
  g_strcanon (there->provider, SEEN, '?');
  if (GUINT32_FROM_BE (there->address_bytes) > MAX_ADDRESS_BYTES)
    return fab_throw (error, FAB_ERROR_IO,
                      "the other end sent an address of %u bytes; it is no `measure ofi`",
                      GUINT32_FROM_BE (there->address_bytes));
  if (strcmp (there->provider, provider) != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "this end uses provider %s and the other %s; name one at both: --set provider=%s",
                      provider, there->provider, provider);
  return TRUE;
}

/* Exchanges the ends' addresses. */
static gboolean
meet (FabOfiPair *self, FabControl *control, GError **error)
{
  const char *provider = self->info->fabric_attr->prov_name;
  g_autofree Card *here = g_new0 (Card, 1), *there = g_new0 (Card, 1);
  size_t size = MAX_ADDRESS_BYTES;
  int result = fi_getname (&self->endpoint->fid, here->address, &size);

  if (result != 0)
    return fab_ofi_fail (result, "the endpoint does not know its address", error);
  self->here = g_strdup_printf ("%s/%s@%s", provider, self->info->domain_attr->name, control->here);
  here->address_bytes = GUINT32_TO_BE ((guint32) size);
  g_strlcpy (here->provider, provider, MAX_PROVIDER_BYTES);
  g_strlcpy (here->name, self->here, MAX_NAME_BYTES);
  if (!control->send (control, here, sizeof *here, error)
      || !control->receive (control, there, sizeof *there, error) || !check_peer (self, there, error))
    return FALSE;
  self->there = g_strdup (there->name);
  result = fi_av_insert (self->addresses, there->address, 1, &self->peer, 0, NULL);
  return result == 1
      || fab_ofi_fail (result < 0 ? result : -FI_EADDRNOTAVAIL, "the other end's address", error);
}

static const FabPairOps ofi_ops;

static FabPair *
ofi_open (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
          gboolean is_asking, GError **error)
{
  FabOfiPair *self = g_new0 (FabOfiPair, 1);

  self->base.ops = &ofi_ops;
  self->is_asking = is_asking;
  self->timeout_s = plan->timeout_s > 0 ? plan->timeout_s : 30;
  self->info = fab_ofi_choose (params, control->here, error);
  if (self->info) {
    gsize most = MIN (self->info->tx_attr->size, self->info->rx_attr->size);

    self->window = (guint) MIN (plan->window > 0 ? plan->window : USUAL_WINDOW, MAX (most, 1));
    if (make_buffers (self, max_bytes, error) && make_endpoint (self, error) && register_memory (self, error)
        && meet (self, control, error))
      return &self->base;
  }
  ofi_close (&self->base);
  return NULL;
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

static void
ofi_describe (const FabPair *pair, FabSeries *series)
{
  const FabOfiPair *self = (const FabOfiPair *) pair;
  gboolean is_stream = series->kind == FAB_MEASURE_BANDWIDTH || series->kind == FAB_MEASURE_BIDIRECTIONAL;

  set_text (&series->method, "tagged");
  set_text (&series->from, self->here);
  set_text (&series->to, self->there);
  set_text (&series->from_memory, "host");
  set_text (&series->to_memory, "host");
  series->window = is_stream ? self->window : 1;
}

static const FabPairOps ofi_ops = {
  .open = ofi_open,
  .move = fab_ofi_move,
  .describe = ofi_describe,
  .close = ofi_close,
  .can = {
    [FAB_MEASURE_LATENCY] = TRUE,
    [FAB_MEASURE_BANDWIDTH] = TRUE,
    [FAB_MEASURE_EXCHANGE] = TRUE,
    [FAB_MEASURE_BIDIRECTIONAL] = TRUE,
  },
  .name = "ofi",
};

static void
say_version (FabMeasureHost *host)
{
  guint32 version = fi_version ();
  g_autofree char *text = g_strdup_printf ("%u.%u", FI_MAJOR (version), FI_MINOR (version));

  host->machine (host, "libfabric", text);
}

/* Checks the provider before the other end is contacted. */
static gboolean
check_provider (gconstpointer params, GError **error)
{
  struct fi_info *info = fab_ofi_choose (params, "", error);

  if (info == NULL)
    return FALSE;
  fi_freeinfo (info);
  return TRUE;
}

static gboolean
ofi_measure (FabMeasureHost *host, gconstpointer params, GError **error)
{
  say_version (host);
  return check_provider (params, error) && fab_pair_measure_peer (host, &ofi_ops, params, error);
}

static gboolean
ofi_serve (FabMeasureHost *host, gconstpointer params, GError **error)
{
  return check_provider (params, error) && fab_pair_serve_peers (host, &ofi_ops, params, error);
}

static const FabMeasureBackend ofi_backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "ofi",
            .summary =
                "Tagged messages between two hosts over libfabric: EFA, verbs, Slingshot, Omni-Path, TCP.",
            .doc = "docs/measure-ofi.md",
            .params = ofi_params,
            .params_size = sizeof (FabOfiParams) },
  .needs = "libfabric (Debian: libfabric1) on both hosts",
  .measure = ofi_measure,
  .serve = ofi_serve,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &ofi_backend;
}
