/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - what collectives that are alike take, and one of them down to the lanes of the link that binds.
 *
 *   time    = startup + flow + beside
 *   flow    = size x factor x share x loss x flags / line_rate       bytes over the binding link at what it does
 *   factor  = what busbw counts: 2 (n - 1)/n of an all-reduce, (n - 1)/n of a gather
 *   loss    = library / (payload_share x achieved)                   line bytes that a byte of payload costs
 */
#include <math.h>
#include <string.h>

#include "answer/explain/parts.h"
#include "sim/base/order.h"
#include "sim/base/units.h"
#include "sim/run/band.h"

static const double rounding = 1e-6;

/* --- those that are alike --- */

static gboolean
is_alike (const FabCollectiveRecord *a, const FabCollectiveRecord *b)
{
  return a->bytes == b->bytes && a->n_ranks == b->n_ranks && strcmp (a->op, b->op) == 0
      && g_strcmp0 (a->algorithm, b->algorithm) == 0 && g_strcmp0 (a->protocol, b->protocol) == 0;
}

static void
add_alike (GArray *groups, const GArray *records, guint index)
{
  const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, index);
  double seconds = fab_ps_to_seconds (record->end_ps - record->start_ps);
  AlikeCollectives added = { index, 1, seconds, fab_ps_to_seconds (record->exposed_ps) };

  for (guint i = 0; i < groups->len; i++) {
    AlikeCollectives *group = &g_array_index (groups, AlikeCollectives, i);

    if (!is_alike (record, &g_array_index (records, FabCollectiveRecord, group->first)))
      continue;
    group->n++;
    group->total_s += seconds;
    group->exposed_s += added.exposed_s;
    return;
  }
  g_array_append_val (groups, added);
}

/* Equal ones stay in the order of the job. */
static gint
most_exposed_first (gconstpointer a, gconstpointer b)
{
  const AlikeCollectives *x = a, *y = b;

  gint order = fab_order_doubles (&y->exposed_s, &x->exposed_s);

  return order ? order : fab_order_doubles (&y->total_s, &x->total_s);
}

GArray *
explain_alike (const Explain *self, const char *dimension)
{
  const GArray *records = explain_probe (self)->collectives;
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (AlikeCollectives));

  for (guint i = 0; i < records->len; i++)
    if (strcmp (g_array_index (records, FabCollectiveRecord, i).dimension, dimension) == 0)
      add_alike (groups, records, i);
  g_array_sort (groups, most_exposed_first);
  return groups;
}

/* --- the link --- */

typedef struct {
  const Explain *explain;
  const FabCollectivePlan *plan;
  const FabLink *link;
  const FabLinkClass *link_class;
  const FabLinkSpec *spec; /* NULL: not of the catalogue */
  FabDrive drive;
  double weight, loss; /* payload bytes per byte of size; line bytes per byte of payload */
} Binding;

/* What moves the bytes: of the drives that lose no more than the link's line weight says the one that loses most. */
static FabDrive
find_drive (const Binding *self)
{
  FabDrive found = FAB_DRIVE_COPY;
  double nearest = 0;

  for (guint d = 0; d < FAB_N_DRIVES; d++) {
    double cost = self->link_class->cost[d];

    if (cost <= self->loss * (1 + rounding) && cost > nearest) {
      nearest = cost;
      found = (FabDrive) d;
    }
  }
  return found;
}

static void
binding_init (Binding *self, const Explain *explain, const FabCollectivePlan *plan)
{
  const FabGraph *graph = fab_simulation_cluster (explain->simulation)->graph;
  FabLinkId id = plan->footprint->binding_link;
  guint place = fab_footprint_find (plan->footprint, id);

  *self = (Binding){ .explain = explain,
                     .plan = plan,
                     .link = fab_graph_link (graph, id),
                     .link_class = fab_graph_link_class (graph, id),
                     .weight = plan->footprint->weights[place],
                     .loss = plan->footprint->line_weights[place] / plan->footprint->weights[place] };
  self->spec = fab_catalog_link (fab_scenario_catalog (explain->scenario), self->link_class->name);
  self->drive = find_drive (self);
}

static const FabLinkDriveSpec *
drive_spec (const Binding *self)
{
  switch (self->drive) {
  case FAB_DRIVE_KERNEL: return &self->spec->kernel;
  case FAB_DRIVE_MULTIMEM: return &self->spec->multimem;
  case FAB_DRIVE_COPY:
  case FAB_N_DRIVES:
  default: return &self->spec->copy;
  }
}

static void
explain_line_rate (const Binding *self, guint depth)
{
  double rate = (double) self->link->rate_bytes_per_s;
  const FabLinkSpec *spec = self->spec;
  FabStatement *statement = explain_add (self->explain, depth, "line rate of the link, one direction",
                                         "line_rate", FAB_TERM_RATE, rate);
  double product = spec ? self->link->count * (double) spec->lanes * (double) spec->signalling_bytes_per_s
                              * spec->coding_fraction
                        : 0;

  if (fabs (product - rate) > rounding * rate) {
    fab_statement_note (statement,
                        "The scenario sets it (cluster.nic_rate, a fault, or sharing of the part).");
    return;
  }
  fab_statement_formula (statement, "links * lanes * signalling * coding");
  fab_statement_term (statement, "links", FAB_TERM_NUMBER, self->link->count);
  fab_statement_term (statement, "lanes", FAB_TERM_NUMBER, (double) spec->lanes);
  fab_statement_term (statement, "signalling", FAB_TERM_RATE, (double) spec->signalling_bytes_per_s);
  fab_statement_term (statement, "coding", FAB_TERM_NUMBER, spec->coding_fraction);
  if (self->link_class->technology->sums_directions)
    fab_statement_note (statement, "Datasheets add both directions: %.0f GB/s there is %.0f GB/s each way.",
                        2 * rate / 1e9, rate / 1e9);
  else
    fab_statement_note (statement, "A link of %.0f Gb/s carries %.4g GB/s of line bytes, each way.",
                        rate * 8 / 1e9, rate / 1e9);
  fab_statement_origin (statement, spec->source, spec->date);
}

static void
explain_loss (const Binding *self, guint depth)
{
  const FabLinkDriveSpec *drive;
  double share, library;

  if (self->spec == NULL)
    return;
  drive = drive_spec (self);
  share = drive->payload_bytes > 0
            ? (double) drive->payload_bytes / (double) (drive->payload_bytes + drive->overhead_bytes)
            : 1;
  library = self->loss * share * drive->achievable_fraction;
  FabStatement *statement = explain_add (self->explain, depth, "line bytes per byte of payload", "loss",
                                         FAB_TERM_NUMBER, self->loss);
  fab_statement_formula (statement, drive->payload_bytes > 0
                                        ? "library * (payload + header) / (payload * achieved)"
                                        : "library / achieved");
  fab_statement_term (statement, "library", FAB_TERM_NUMBER, library);
  if (drive->payload_bytes > 0) {
    fab_statement_term (statement, "payload", FAB_TERM_BYTES, (double) drive->payload_bytes);
    fab_statement_term (statement, "header", FAB_TERM_BYTES, (double) drive->overhead_bytes);
  }
  fab_statement_term (statement, "achieved", FAB_TERM_NUMBER, drive->achievable_fraction);
  fab_statement_note (statement, "achieved: the best measured rate, as a fraction of what headers leave.");
  if (fabs (library - 1) > rounding)
    fab_statement_note (statement,
                        "library: losses in the path of the collective library, and on links whose other "
                        "direction is busy too.");
  if (self->drive == FAB_DRIVE_KERNEL && drive->payload_bytes > 0
      && self->spec->copy.payload_bytes != drive->payload_bytes)
    fab_statement_note (statement,
                        "Kernels move packets of %" G_GINT64_FORMAT " bytes and copy engines packets of "
                        "%" G_GINT64_FORMAT ", so a copy test shows more than a collective can reach.",
                        drive->payload_bytes, self->spec->copy.payload_bytes);
  if (drive->source != NULL)
    statement->source = g_strdup (drive->source);
}

/* --- bytes --- */

static const char *
factor_of (FabOp op)
{
  switch (op) {
  case FAB_OP_ALL_REDUCE: return "size * 2 * (n - 1) / n * share * loss * flags / line_rate";
  case FAB_OP_ALL_GATHER:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_ALL_TO_ALL:
  case FAB_OP_GATHER:
  case FAB_OP_SCATTER: return "size * (n - 1) / n * share * loss * flags / line_rate";
  case FAB_OP_BROADCAST:
  case FAB_OP_REDUCE:
  case FAB_OP_SEND_RECV:
  case FAB_N_OPS:
  default: return "size * share * loss * flags / line_rate";
  }
}

static void
note_size (FabStatement *statement, FabOp op)
{
  if (op == FAB_OP_ALL_GATHER)
    fab_statement_note (
        statement,
        "size of an all_gather is the whole result, as nccl-tests counts, not the part of a rank.");
  else if (op == FAB_OP_REDUCE_SCATTER)
    fab_statement_note (statement, "size of a reduce_scatter is the whole input, as nccl-tests counts.");
}

static void
note_share (const Binding *self, FabStatement *statement, double share)
{
  const FabAlgorithmOps *algorithm = self->plan->algorithm == NULL
                                       ? NULL
                                       : (const FabAlgorithmOps *) fab_registry_find (
                                           self->explain->study->registry, FAB_MODEL_ALGORITHM,
                                           self->plan->algorithm);

  if (algorithm != NULL && algorithm->reduces_in == FAB_REDUCES_IN_NODE_SWITCH)
    fab_statement_note (
        statement, "share: the switch adds and copies, so a GPU sends less than the factor of busbw counts; "
                   "that is why busbw can be above the link.");
  else if (share > 1 + rounding)
    fab_statement_note (
        statement, "share: bytes on this link as a multiple of what one rank sends; ranks, groups or both "
                   "ways of a ring share the link.");
  else if (share < 1 - rounding)
    fab_statement_note (statement,
                        "share: only this part goes over this link; other links (rails, channels, ranks of "
                        "the same node) carry the rest.");
}

static void
explain_flow (const Binding *self, guint depth, double flow_s)
{
  const FabCollectivePlan *plan = self->plan;
  double rate = plan->footprint->rate_bytes_per_s / plan->wire_factor;
  gboolean is_limited = plan->most_bytes_per_s > 0 && plan->most_bytes_per_s < rate;
  FabStatement *statement = explain_add (self->explain, depth, "time of the bytes, alone on an idle network",
                                         "flow", FAB_TERM_TIME, flow_s);
  double share = self->weight / fab_op_bus_factor (plan->op, plan->n_ranks);

  fab_statement_term (statement, "size", FAB_TERM_BYTES, (double) plan->bytes);
  if (is_limited) {
    g_autofree char *link_rate = fab_term_show (FAB_TERM_RATE, rate);

    fab_statement_formula (statement, "size / limit");
    fab_statement_term (statement, "limit", FAB_TERM_RATE, plan->most_bytes_per_s);
    if (fab_collective_plan_waits_for_ends (plan) && plan->n_channels == 0)
      fab_statement_note (statement,
                          "limit: the rate at which the sender issues the bytes, message after message "
                          "(job.message_time); the links would allow %s.",
                          link_rate);
    else if (fab_collective_plan_waits_for_ends (plan))
      fab_statement_note (
          statement,
          "limit: the rate in size per second that the GPUs send with protocol %s and %u %s; the links "
          "would allow %s.",
          plan->protocol ? plan->protocol : "-", plan->n_channels,
          fab_plural (plan->n_channels, "channel", "channels"), link_rate);
    else
      fab_statement_note (
          statement,
          "limit: the rate in size per second of the links where a part of them waits while others carry "
          "bytes: steps follow one another, or no channel uses a link; all at once would allow %s.",
          link_rate);
    return;
  }
  fab_statement_formula (statement, factor_of (plan->op));
  fab_statement_term (statement, "n", FAB_TERM_NUMBER, plan->n_ranks);
  fab_statement_term (statement, "share", FAB_TERM_NUMBER, share);
  fab_statement_term (statement, "loss", FAB_TERM_NUMBER, self->loss);
  fab_statement_term (statement, "flags", FAB_TERM_NUMBER, plan->wire_factor);
  fab_statement_term (statement, "line_rate", FAB_TERM_RATE, (double) self->link->rate_bytes_per_s);
  note_size (statement, plan->op);
  note_share (self, statement, share);
  if (plan->wire_factor > 1 + rounding)
    fab_statement_note (statement, "flags: protocol %s sends flags with the data.", plan->protocol);
  explain_line_rate (self, depth + 1);
  explain_loss (self, depth + 1);
}

static void
explain_startup (const Binding *self, guint depth)
{
  const FabCollectivePlan *plan = self->plan;
  double startup_s = fab_ps_to_seconds (plan->startup_ps), steps_s = fab_ps_to_seconds (plan->steps.steps_ps);
  g_autofree char *wires = fab_term_show (FAB_TERM_TIME, fab_ps_to_seconds (plan->latency_ps));
  FabStatement *statement = explain_add (self->explain, depth, "time before bytes flow at full rate",
                                         "startup", FAB_TERM_TIME, startup_s);

  if (steps_s > 0 && steps_s <= startup_s) {
    fab_statement_formula (statement, "steps + software");
    fab_statement_term (statement, "steps", FAB_TERM_TIME, steps_s);
    fab_statement_term (statement, "software", FAB_TERM_TIME, startup_s - steps_s);
    fab_statement_note (
        statement, "steps: the successive steps around the ring, or up and down the tree; software: kernel "
                   "start and pipeline fill.");
  }
  fab_statement_note (statement, "The latency of the links themselves is %s of it.", wires);
}

/* --- all --- */

static void
note_binding (const Binding *self, FabStatement *statement)
{
  const FabGraph *graph = fab_simulation_cluster (self->explain->simulation)->graph;
  g_autofree char *from = fab_graph_vertex_name (graph, self->link->src),
                  *to = fab_graph_vertex_name (graph, self->link->dst),
                  *label = fab_link_class_label (self->link_class);

  guint n_channels = self->plan->n_channels;

  if (fab_collective_plan_waits_for_ends (self->plan)) {
    g_autofree char *pace = n_channels > 0
                              ? g_strdup_printf ("%u %s", n_channels,
                                                 fab_plural (n_channels, "channel sets", "channels set"))
                              : g_strdup (
                                  "The time that a message takes of its sender (job.message_time) sets");

    fab_statement_note (
        statement, "%s its pace; a faster link would not change it. The slowest link: %s -> %s, %u x %s.",
        pace, from, to, self->link->count, label);
  } else
    fab_statement_note (statement, "The link that binds it: %s -> %s, %u x %s.", from, to, self->link->count,
                        label);
}

/* As nccl-tests would print it. */
static void
note_busbw (FabStatement *statement, const FabCollectivePlan *plan, double seconds)
{
  double algbw = (double) plan->bytes / seconds;
  g_autofree char *alg = fab_term_show (FAB_TERM_RATE, algbw);
  g_autofree char *bus = fab_term_show (FAB_TERM_RATE, algbw * fab_op_bus_factor (plan->op, plan->n_ranks));

  fab_statement_note (statement,
                      "algbw = size / time = %s; busbw, what nccl-tests compares with the link: %s.", alg,
                      bus);
}

/* How far measured collectives of its kind were from their predictions. */
static void
note_band (const Explain *self, FabStatement *statement, const FabCollectivePlan *plan, double seconds)
{
  FabPlanKind kind = fab_plan_kind (self->scenario, fab_simulation_cluster (self->simulation), plan);
  FabPlanBand band = fab_plan_band (self->scenario, plan, &kind);
  g_autofree char *low = fab_term_show (FAB_TERM_TIME, seconds * band.low_factor),
                  *high = fab_term_show (FAB_TERM_TIME, seconds * band.high_factor),
                  *basis = fab_plan_band_basis (&band), *spread = fab_publications_words (&band);

  if (kind.is_calibrated || band.coverage_fraction <= 0)
    return;
  fab_statement_note (
      statement,
      "Measured collectives of this kind took %.3g to %.3g times what is predicted, in %.0f %% of "
      "cases (%s): here %s to %s.",
      band.low_factor, band.high_factor, 100 * band.coverage_fraction, basis, low, high);
  if (spread != NULL)
    fab_statement_note (statement, "The band contains what is the health of real systems: %s.", spread);
}

/* A network that plays messages takes another time than the formula also where nothing else is under way. */
static void
note_beside (const Explain *self, FabStatement *statement, double beside_s)
{
  gboolean has_messages = fab_simulation_lanes (self->simulation).n_lanes != 0;

  if (beside_s < 0)
    fab_statement_note (statement,
                        "beside: message by message, the network is a little faster than the formula for an "
                        "idle one.");
  else if (has_messages)
    fab_statement_note (statement,
                        "beside: messages, of this collective or of other traffic, waited for one another on "
                        "the same links.");
  else
    fab_statement_note (
        statement, "beside: other traffic used the same links at the same time, and each got its share.");
}

void
explain_collective (const Explain *self, guint depth, const AlikeCollectives *alike)
{
  const FabCollectiveRecord *record = &g_array_index (explain_probe (self)->collectives, FabCollectiveRecord,
                                                      alike->first);
  const FabCollectivePlan *plan = &fab_simulation_dag (self->simulation)->collectives[alike->first].plan;
  double mean_s = alike->total_s / alike->n, idle_s = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan));
  g_autofree char *bytes = fab_term_show (FAB_TERM_BYTES, (double) record->bytes);
  g_autofree char *over = g_strdup_printf ("of %s over %u %s", bytes, record->n_ranks,
                                           fab_plural (record->n_ranks, "rank", "ranks"));
  g_autofree char *title = alike->n > 1
                             ? g_strdup_printf ("one %s %s, mean of %u", record->op, over, alike->n)
                             : g_strdup_printf ("%s %s %s", record->op, record->name, over);
  FabStatement *statement = explain_add (self, depth, title, "time", FAB_TERM_TIME, mean_s);
  double startup_s = fab_ps_to_seconds (plan->startup_ps), beside_s = mean_s - idle_s;
  gboolean is_beside = fabs (beside_s) > rounding * mean_s;
  Binding binding;

  if (plan->footprint == NULL) {
    fab_statement_note (statement, "One rank has nothing to send.");
    return;
  }
  binding_init (&binding, self, plan);
  fab_statement_formula (statement, is_beside ? "startup + flow + beside" : "startup + flow");
  fab_statement_term (statement, "startup", FAB_TERM_TIME, startup_s);
  fab_statement_term (statement, "flow", FAB_TERM_TIME, idle_s - startup_s);
  if (is_beside) {
    fab_statement_term (statement, "beside", FAB_TERM_TIME, beside_s);
    note_beside (self, statement, beside_s);
  }
  note_binding (&binding, statement);
  note_busbw (statement, plan, mean_s);
  note_band (self, statement, plan, mean_s);
  explain_choice (self, statement, alike->first);
  explain_startup (&binding, depth + 1);
  explain_flow (&binding, depth + 1, idle_s - startup_s);
}
