/* SPDX-License-Identifier: Apache-2.0 */
/* ofi.c - the backend `ofi`: two ends over any provider of libfabric. */
#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/pair.h"

typedef struct {
  const char *provider; /* NULL: libfabric's choice */
  const char *domain;   /* NULL: the domain with the control channel's address, else libfabric's first */
} FabOfiParams;

/* A completion queue of one direction, and the numbers of messages begun and done. */
typedef struct {
  struct fid_cq *queue;
  guint64 n_begun, n_done;
} FabOfiSide;

typedef struct {
  FabPair base;
  FabControl *control; /* owned by the caller */
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_ep *endpoint;
  struct fid_av *addresses;
  struct fid_mr *memory; /* NULL: the provider needs no registration */
  FabOfiSide out, in;
  fi_addr_t peer;
  char *buffer; /* max_bytes to send from, then max_bytes to receive into */
  gsize max_bytes;
  struct fi_context2 *contexts; /* 2 x (window + 1); a provider may use them while a message is in flight */
  GPtrArray *free_contexts;
  guint window;
  guint timeout_s;
  gboolean is_asking;
  guint n_moves;      /* polls that found a completion */
  gint64 looked_us;   /* when this end last looked whether it must end */
  char *here, *there; /* "tcp;ofi_rxm/eth0@10.9.0.1" */
} FabOfiPair;

/* Chooses the provider and one of its devices. */

/* Sets *error to "what: reason" for a negative result of libfabric. Returns FALSE. */
static gboolean
ofi_fail (int result, const char *what, GError **error)
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

/* Returns the first suitable entry of libfabric's list; the caller frees it with fi_freeinfo(). `here` is the address
 * of the control channel. Fails with FAB_ERROR_UNSUPPORTED and a list of the available ones. */
static struct fi_info *
ofi_choose (const FabOfiParams *params, const char *here, GError **error)
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

/* Moves messages over libfabric and times them. */

enum {
  TAG = 0x0fab,
  POLLS_PER_LOOK = 64, /* polls between looks at the clock; then other threads may use the processor */
  SLOWEST_BYTES_PER_S = 1000000, /* a slower message counts as lost */
};

static gboolean
fail_completion (FabOfiSide *side, GError **error)
{
  struct fi_cq_err_entry entry = { 0 };
  char reason[128] = "";
  gssize n = fi_cq_readerr (side->queue, &entry, 0);
  const char *words = n > 0 ? fi_cq_strerror (side->queue, entry.prov_errno, entry.err_data, reason,
                                              sizeof reason)
                            : "no reason given";

  return fab_throw (error, FAB_ERROR_IO,
                    "libfabric: a message to or from the other end failed: %s (%s); is it still running?",
                    n > 0 ? fi_strerror (entry.err) : "unknown", words);
}

/* Takes the completions from the queue of one direction. */
static gboolean
collect (FabOfiPair *self, FabOfiSide *side, gboolean *is_any, GError **error)
{
  struct fi_cq_entry entries[16];
  gssize n = fi_cq_read (side->queue, entries, G_N_ELEMENTS (entries));

  if (n == -FI_EAGAIN || n == -FI_EINTR)
    return TRUE;
  if (n == -FI_EAVAIL)
    return fail_completion (side, error);
  if (n < 0)
    return ofi_fail ((int) n, "fi_cq_read", error);
  for (gssize i = 0; i < n; i++)
    g_ptr_array_add (self->free_contexts, entries[i].op_context);
  side->n_done += (guint64) n;
  *is_any = n > 0;
  return TRUE;
}

typedef struct {
  gint64 deadline_us; /* 0: not started */
  guint n_polls;
} Patience;

/* Looks, ten times a second, whether the person wants to end or the time of the conversation is over. */
static gboolean
look (FabOfiPair *self, GError **error)
{
  gint64 now_us = g_get_monotonic_time ();

  if (now_us - self->looked_us < G_USEC_PER_SEC / 10)
    return TRUE;
  self->looked_us = now_us;
  return fab_control_check (self->control, error);
}

/* Polls both queues once. What is awaited must come within the time limit since the last completion. */
static gboolean
progress (FabOfiPair *self, Patience *patience, gsize size, GError **error)
{
  gboolean is_out = FALSE, is_in = FALSE;

  if (!collect (self, &self->out, &is_out, error) || !collect (self, &self->in, &is_in, error))
    return FALSE;
  if (is_out || is_in) {
    *patience = (Patience){ 0 };
    return ++self->n_moves % POLLS_PER_LOOK != 0 || look (self, error);
  }
  if (++patience->n_polls % POLLS_PER_LOOK != 0)
    return TRUE;
  sched_yield ();
  if (!look (self, error))
    return FALSE;
  if (patience->deadline_us == 0)
    patience->deadline_us = fab_measure_deadline_us (self->timeout_s)
                          + (gint64) (size * G_USEC_PER_SEC / SLOWEST_BYTES_PER_S);
  if (g_get_monotonic_time () >= patience->deadline_us)
    return fab_throw (
        error, FAB_ERROR_IO,
        "%s has sent and taken no message within the time limit of %u s; is it still running? A larger "
        "--timeout waits longer",
        self->there, self->timeout_s);
  return TRUE;
}

/* Begins a message; tries again while the provider has no room. */
static gboolean
begin (FabOfiPair *self, gboolean is_out, gsize size, GError **error)
{
  FabOfiSide *side = is_out ? &self->out : &self->in;
  void *described = self->memory ? fi_mr_desc (self->memory) : NULL;
  Patience patience = { 0 };
  gpointer context;

  while (self->free_contexts->len == 0)
    if (!progress (self, &patience, size, error))
      return FALSE;
  context = g_ptr_array_remove_index_fast (self->free_contexts, self->free_contexts->len - 1);
  for (;;) {
    gssize result = is_out
                      ? fi_tsend (self->endpoint, self->buffer, size, described, self->peer, TAG, context)
                      : fi_trecv (self->endpoint, self->buffer + self->max_bytes, size, described, self->peer,
                                  TAG, 0, context);

    if (result == 0) {
      side->n_begun++;
      return TRUE;
    }
    if (result != -FI_EAGAIN) {
      g_ptr_array_add (self->free_contexts, context);
      return ofi_fail ((int) result, is_out ? "fi_tsend" : "fi_trecv", error);
    }
    if (!progress (self, &patience, size, error))
      return FALSE;
  }
}

/* Waits until at most `n_left` of the messages begun are in flight. */
static gboolean
await (FabOfiPair *self, const FabOfiSide *side, guint64 n_left, gsize size, GError **error)
{
  Patience patience = { 0 };

  while (side->n_begun - side->n_done > n_left)
    if (!progress (self, &patience, size, error))
      return FALSE;
  return TRUE;
}

static gboolean
await_all (FabOfiPair *self, gsize size, GError **error)
{
  return await (self, &self->out, 0, size, error) && await (self, &self->in, 0, size, error);
}

/* The receive of the next message is posted before the answer to this one is sent. */
static gboolean
ping_pong (FabOfiPair *self, gsize size, guint n, GError **error)
{
  if (!begin (self, FALSE, size, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    if (self->is_asking && !begin (self, TRUE, size, error))
      return FALSE;
    if (!await (self, &self->in, 0, size, error))
      return FALSE;
    if (i + 1 < n && !begin (self, FALSE, size, error))
      return FALSE;
    if (!self->is_asking && !begin (self, TRUE, size, error))
      return FALSE;
  }
  return await_all (self, size, error);
}

static gboolean
exchange (FabOfiPair *self, gsize size, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!begin (self, FALSE, size, error) || !begin (self, TRUE, size, error)
        || !await_all (self, size, error))
      return FALSE;
  return TRUE;
}

/* Moves `n` messages out, in or both, with at most `window` of each in flight. */
static gboolean
stream (FabOfiPair *self, gboolean is_sending, gboolean is_receiving, gsize size, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (is_receiving
        && (!await (self, &self->in, self->window - 1, size, error) || !begin (self, FALSE, size, error)))
      return FALSE;
    if (is_sending
        && (!await (self, &self->out, self->window - 1, size, error) || !begin (self, TRUE, size, error)))
      return FALSE;
  }
  return await_all (self, size, error);
}

/* Sends one word from the end that received last. */
static gboolean
finish (FabOfiPair *self, gboolean is_answering, GError **error)
{
  return begin (self, is_answering, 1, error) && await_all (self, 1, error);
}

static gboolean
ofi_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
          GError **error)
{
  FabOfiPair *self = (FabOfiPair *) pair;
  gsize size = (gsize) size_bytes;
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL;
  FabTimePs start_ps = fab_clock_ps ();
  gboolean is_done;

  if (kind == FAB_MEASURE_LATENCY)
    is_done = ping_pong (self, size, n_messages, error);
  else if (kind == FAB_MEASURE_EXCHANGE)
    is_done = exchange (self, size, n_messages, error);
  else
    is_done = stream (self, is_both || self->is_asking, is_both || !self->is_asking, size, n_messages, error)
           && finish (self, !self->is_asking, error);
  *elapsed_ps = fab_clock_ps () - start_ps;
  return is_done;
}

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
      || ofi_fail (result, "the messages' memory cannot be registered (is `ulimit -l` large enough?)", error);
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
  return result == 0 || ofi_fail (result, what, error);
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
    return ofi_fail (result, "the endpoint does not know its address", error);
  self->here = g_strdup_printf ("%s/%s@%s", provider, self->info->domain_attr->name, control->here);
  here->address_bytes = GUINT32_TO_BE ((guint32) size);
  g_strlcpy (here->provider, provider, MAX_PROVIDER_BYTES);
  g_strlcpy (here->name, self->here, MAX_NAME_BYTES);
  if (!control->send (control, here, sizeof *here, error)
      || !control->receive (control, there, sizeof *there, error) || !check_peer (self, there, error))
    return FALSE;
  self->there = g_strdup (there->name);
  result = fi_av_insert (self->addresses, there->address, 1, &self->peer, 0, NULL);
  return result == 1 || ofi_fail (result < 0 ? result : -FI_EADDRNOTAVAIL, "the other end's address", error);
}

static const FabPairOps ofi_ops;

static FabPair *
ofi_open (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
          gboolean is_asking, GError **error)
{
  FabOfiPair *self = g_new0 (FabOfiPair, 1);

  self->base.ops = &ofi_ops;
  self->control = control;
  self->is_asking = is_asking;
  self->timeout_s = plan->timeout_s > 0 ? plan->timeout_s : 30;
  self->info = ofi_choose (params, control->here, error);
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
  .move = ofi_move,
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
  struct fi_info *info = ofi_choose (params, "", error);

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
            .doc = "docs/how-to/measure-ofi.md",
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
