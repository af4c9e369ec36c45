/* SPDX-License-Identifier: Apache-2.0 */
/* fault_params.c - the keys of `faults`, `background` and `circuits`, and the rules for combining them. */
#include "sim/scenario/fault_params.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const char *const fault_kinds[] = {
  [FAB_FAULT_LINK] = "link",     [FAB_FAULT_NIC] = "nic",   [FAB_FAULT_RAIL] = "rail",
  [FAB_FAULT_SWITCH] = "switch", [FAB_FAULT_PORT] = "port", NULL
};

const FabParam fab_fault_params[] = {
  { ROW (
        "what", CHOICE, FabFaultSpec, what, NULL,
        "Kind of part that is faulty: a link, a NIC, a rail (one NIC of every node, or of every board of a rack), "
        "a switch, or a port of NICs that have several."),
    .choices = fault_kinds },
  { ROW ("from", TEXT, FabFaultSpec, from, "",
         "link: name of one end, as `fabricast topo` prints it: node3/nic2.") },
  { ROW ("to", TEXT, FabFaultSpec, to, "",
         "link: name of the other end: leaf5. The fault is in both directions.") },
  { ROW (
      "name", TEXT, FabFaultSpec, name, "",
      "nic, switch, port: name of the part: node3/nic2, spine1. A port without a name is that of all NICs.") },
  { ROW ("rail", COUNT, FabFaultSpec, rail, "0", "rail: number of the NIC in every node, or on every board."),
    .max = 4096 },
  { ROW (
        "port", COUNT, FabFaultSpec, port, "0",
        "port: its number on the NIC. Where the planes of the fabric are apart, port 1 of all NICs is plane 1."),
    .max = 7 },
  { ROW ("rate", FRACTION, FabFaultSpec, rate_fraction, "100%", "Share of the line rate that is left."),
    .min = 0.001, .max = 1 },
  { ROW ("dead", BOOL, FabFaultSpec, is_dead, "false", "The part carries nothing.") },
  { ROW ("latency", TIME, FabFaultSpec, latency_ps, "0s",
         "Time added to one traversal of each of its links.") },
  { ROW ("at", TIME, FabFaultSpec, at_ps, "0s",
         "Start of the fault, in time of the run. 0 without `until`: the fault exists from the start and "
         "for good.") },
  { ROW ("until", TIME, FabFaultSpec, until_ps, "0s", "End of the fault; 0: never.") },
  { .key = NULL },
};

static const char *const background_kinds[] = { [FAB_BACKGROUND_CONSTANT] = "constant",
                                                [FAB_BACKGROUND_BURSTS] = "bursts",
                                                [FAB_BACKGROUND_TRANSFER] = "transfer",
                                                NULL };

const FabParam fab_background_params[] = {
  { ROW ("kind", CHOICE, FabBackgroundSpec, kind, "constant",
         "constant, bursts: other traffic takes a share of each link; transfer: a flow between two places."),
    .choices = background_kinds },
  { ROW ("load", FRACTION, FabBackgroundSpec, load_fraction, "0%",
         "constant, bursts: mean share of each link that other traffic takes."),
    .max = 0.99 },
  { ROW ("links", TEXT, FabBackgroundSpec, links, "",
         "constant, bursts: links that carry it. uplinks (between switches; the default), all (of the "
         "fabric), or a pattern with * and ?, either of a link as binding links are printed (leaf* -> "
         "spine1) or of the name at one end.") },
  { ROW ("peak", FRACTION, FabBackgroundSpec, peak_fraction, "90%",
         "bursts: share of the link during a burst."),
    .min = 0.001, .max = 0.99 },
  { ROW ("burst", TIME, FabBackgroundSpec, burst_ps, "1ms", "bursts: mean length of a burst."), .min = 1e3 },
  { ROW ("from", TEXT, FabBackgroundSpec, from, "",
         "transfer: source, which is a node (its first NIC), a NIC or a GPU.") },
  { ROW ("to", TEXT, FabBackgroundSpec, to, "",
         "transfer: destination, which is a node (its first NIC), a NIC or a GPU.") },
  { ROW ("bytes", BYTES, FabBackgroundSpec, bytes, "0B",
         "transfer: size of one transfer; 0: rate x every.") },
  { ROW ("rate", RATE, FabBackgroundSpec, rate_bytes_per_s, "0B/s",
         "transfer: upper limit of the rate; 0: limited by the links only."),
    .max = 1e15 },
  { ROW ("every", TIME, FabBackgroundSpec, every_ps, "10ms",
         "transfer: time from one start to the next. A transfer starts only after the one before it has "
         "ended."),
    .min = 1e6 },
  { .key = NULL },
};

const FabParam fab_circuit_params[] = {
  { ROW ("links", TEXT, FabCircuitSpec, links, NULL,
         "Pattern with * and ? of the links, as binding links are printed (router0 -> router4). Both "
         "directions are set.") },
  { ROW ("at", TIME, FabCircuitSpec, at_ps, "0s",
         "Time of the run at which the switch begins to connect their ends; 0: before the run.") },
  { ROW ("until", TIME, FabCircuitSpec, until_ps, "0s",
         "Time of the run at which the switch disconnects them; 0: never.") },
  { ROW ("switching", TIME, FabCircuitSpec, switching_ps, "10ms",
         "Time after `at` in which nothing passes; does not count when `at` is 0.") },
  { .key = NULL },
};

gboolean
fab_fault_spec_is_timed (const FabFaultSpec *spec)
{
  return spec->at_ps > 0 || spec->until_ps > 0;
}

/* Checks that the keys which name the broken part are there. */
static void
check_names (FabSchemaReader *reader, const FabFaultSpec *fault)
{
  gboolean needs_name = fault->what == FAB_FAULT_NIC || fault->what == FAB_FAULT_SWITCH;

  if (fault->what == FAB_FAULT_LINK && (fault->from == NULL || fault->to == NULL))
    fab_schema_report (reader, &fault->what, "a link needs `from` and `to`: from: node0/nic0, to: leaf0");
  if (needs_name && fault->name == NULL)
    fab_schema_report (reader, &fault->what, "a %s needs a `name`, as `fabricast topo` prints it",
                       fault_kinds[fault->what]);
  if (fault->what == FAB_FAULT_RAIL && fab_schema_mark (reader, &fault->rail) == NULL)
    fab_schema_report (reader, &fault->what, "a rail needs its number: rail: 2");
  if (fault->what == FAB_FAULT_PORT && fab_schema_mark (reader, &fault->port) == NULL)
    fab_schema_report (reader, &fault->what, "a port needs its number: port: 1");
}

static void
check_fault (FabSchemaReader *reader, const FabFaultSpec *fault)
{
  gboolean is_slow = fault->rate_fraction < 1;

  check_names (reader, fault);
  if (!is_slow && !fault->is_dead && fault->latency_ps == 0)
    fab_schema_report (reader, &fault->what, "the fault has no effect; give rate, dead or latency");
  if (fault->is_dead && (is_slow || fault->latency_ps > 0))
    fab_schema_report (reader, &fault->is_dead,
                       "a dead part has neither a rate nor a latency; leave them out");
  if (fault->until_ps > 0 && fault->until_ps <= fault->at_ps)
    fab_schema_report (reader, &fault->until_ps, "`until` must be later than `at`");
  if (fault->latency_ps > 0 && fab_fault_spec_is_timed (fault))
    fab_schema_report (reader, &fault->latency_ps,
                       "latencies cannot change while the job runs; leave out `at` and `until`");
}

static void
check_background (FabSchemaReader *reader, const FabBackgroundSpec *one)
{
  if (one->kind == FAB_BACKGROUND_TRANSFER && (one->from == NULL || one->to == NULL))
    fab_schema_report (reader, &one->kind, "a transfer needs `from` and `to`: from: node0, to: node1");
  if (one->kind == FAB_BACKGROUND_TRANSFER && one->bytes == 0 && one->rate_bytes_per_s == 0)
    fab_schema_report (reader, &one->kind, "a transfer needs `bytes` or `rate`");
  if (one->kind == FAB_BACKGROUND_BURSTS && one->load_fraction >= one->peak_fraction)
    fab_schema_report (reader, &one->load_fraction, "the mean load of bursts must be below their peak");
}

void
fab_fault_check_all (FabSchemaReader *reader, const FabParamList *faults, const FabParamList *background,
                     gboolean knows_time, const char *fidelity)
{
  for (guint i = 0; i < faults->n; i++) {
    const FabFaultSpec *fault = (const FabFaultSpec *) faults->data + i;

    check_fault (reader, fault);
    if (fab_fault_spec_is_timed (fault) && !knows_time)
      fab_schema_report (reader, fault->at_ps > 0 ? &fault->at_ps : &fault->until_ps,
                         "fidelity '%s' has no time, so a fault cannot begin while the job runs", fidelity);
  }
  for (guint i = 0; i < background->n; i++) {
    const FabBackgroundSpec *one = (const FabBackgroundSpec *) background->data + i;

    check_background (reader, one);
    if (one->kind != FAB_BACKGROUND_CONSTANT && !knows_time)
      fab_schema_report (reader, &one->kind,
                         "fidelity '%s' does not simulate other traffic; use kind: constant", fidelity);
  }
}

void
fab_circuit_check_all (FabSchemaReader *reader, const FabParamList *circuits, gboolean knows_time,
                       const char *fidelity)
{
  for (guint i = 0; i < circuits->n; i++) {
    const FabCircuitSpec *one = (const FabCircuitSpec *) circuits->data + i;

    if (one->until_ps > 0 && one->until_ps <= one->at_ps + (one->at_ps > 0 ? one->switching_ps : 0))
      fab_schema_report (reader, &one->until_ps, "this circuit is disconnected before it carries anything");
    if (!knows_time)
      fab_schema_report (reader, &one->links,
                         "fidelity '%s' has no time, so a circuit cannot be set while the job runs",
                         fidelity);
  }
}
