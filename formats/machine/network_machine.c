/* SPDX-License-Identifier: Apache-2.0 */
/* network_machine.c - hosts become nodes, switches and cables the edge list of a custom fabric.
 *
 * Adapters of the same host are one node. Nodes of a scenario are alike, so the number of ports that most hosts have is
 * what a node has; hosts with fewer are left out, further ports of the others too.
 */
#include <string.h>

#include "formats/machine/known.h"
#include "formats/machine/network_join.h"
#include "sim/base/order.h"
#include "sim/base/units.h"

typedef FabNetworkHost Host;

enum { N_NUMBERS = G_MAXUINT16 + 1 }; /* of adapters */

typedef struct {
  FabImportedMachine *machine;
  const FabImportedNetwork *net;
  GPtrArray *hosts; /* Host: those that become nodes */
  guint n_ports;    /* of each of them */
  guint *number;    /* [devices]: a switch's number within its tier */
  gboolean *is_leaf;
} Reader;

static guint
switch_end (const Reader *reader, const FabImportedCable *cable)
{
  return fab_imported_network_switch_of (reader->net, cable);
}

static const Host *
host_at (const Reader *reader, guint i)
{
  return g_ptr_array_index (reader->hosts, i);
}

/* Returns the number of ports that most hosts have; of equally frequent numbers the larger. Adapters without the name
 * of a host count where there are no others. */
static guint
usual_ports (const Reader *reader)
{
  guint best = 0, most = 0;
  gboolean has_names = FALSE;

  for (guint i = 0; i < reader->hosts->len; i++)
    has_names = has_names || host_at (reader, i)->is_named;
  for (guint i = 0; i < reader->hosts->len; i++) {
    guint n_ports = host_at (reader, i)->ports->len, n = 0;

    if (host_at (reader, i)->is_named != has_names)
      continue;
    for (guint j = 0; j < reader->hosts->len; j++)
      n += host_at (reader, j)->is_named == has_names && host_at (reader, j)->ports->len == n_ports;
    if (n > most || (n == most && n_ports > best)) {
      most = n;
      best = n_ports;
    }
  }
  return best;
}

static gint
compare_hosts (gconstpointer a, gconstpointer b)
{
  const Host *x = *(const Host *const *) a, *y = *(const Host *const *) b;

  return x->leaf != y->leaf ? fab_order_guints (&x->leaf, &y->leaf)
                            : fab_order_guints (x->ports->data, y->ports->data);
}

/* Removes ports of a host whose adapters most hosts do not have, until it has as many ports as most hosts. What is left
 * behind those is not looked at. */
static void
drop_ports (const Reader *reader, Host *host, const guint *n_hosts)
{
  for (guint i = host->ports->len; i > 0 && host->ports->len > reader->n_ports; i--) {
    guint number = fab_network_adapter_number (fab_network_host_adapter (reader->net, host, i - 1)->adapter);

    if (number != G_MAXUINT && 2 * n_hosts[number] <= reader->hosts->len)
      g_array_remove_index (host->ports, i - 1);
  }
}

static void
drop_further_ports (Reader *reader)
{
  g_autofree guint *n_hosts = g_new0 (guint, N_NUMBERS); /* [number of an adapter] */
  guint n_more = 0, line = 0;

  for (guint i = 0; i < reader->hosts->len; i++) {
    const Host *host = g_ptr_array_index (reader->hosts, i);

    for (guint k = 0; k < host->ports->len; k++) {
      guint number = fab_network_adapter_number (fab_network_host_adapter (reader->net, host, k)->adapter);

      if (number != G_MAXUINT)
        n_hosts[number]++;
    }
  }
  for (guint i = 0; i < reader->hosts->len; i++) {
    Host *host = g_ptr_array_index (reader->hosts, i);

    if (host->ports->len <= reader->n_ports)
      continue;
    line = fab_imported_network_cable (reader->net, g_array_index (host->ports, guint, 0))->line;
    n_more++;
    drop_ports (reader, host, n_hosts);
    host->leaf = switch_end (reader,
                             fab_imported_network_cable (reader->net, g_array_index (host->ports, guint, 0)));
  }
  if (n_more > 0)
    fab_imported_machine_leave_out (reader->machine, line, "left out: further ports of %u %s more than %u",
                                    n_more, fab_plural (n_more, "host that has", "hosts that have"),
                                    reader->n_ports);
}

static void
drop_odd_hosts (Reader *reader)
{
  guint n_fewer = 0, n_unnamed = 0, fewer_line = 0, unnamed_line = 0;

  reader->n_ports = usual_ports (reader);
  for (guint i = reader->hosts->len; i > 0; i--) {
    const Host *host = g_ptr_array_index (reader->hosts, i - 1);
    guint line = fab_imported_network_cable (reader->net, g_array_index (host->ports, guint, 0))->line;

    if (host->ports->len >= reader->n_ports)
      continue;
    *(host->is_named ? &n_fewer : &n_unnamed) += 1;
    *(host->is_named ? &fewer_line : &unnamed_line) = line;
    g_ptr_array_remove_index (reader->hosts, i - 1);
  }
  drop_further_ports (reader);
  g_ptr_array_sort (reader->hosts, compare_hosts);
  if (n_fewer > 0)
    fab_imported_machine_leave_out (reader->machine, fewer_line,
                                    "left out: %u %s with fewer ports than the %u that most have", n_fewer,
                                    fab_plural (n_fewer, "host", "hosts"), reader->n_ports);
  if (n_unnamed > 0)
    fab_imported_machine_leave_out (reader->machine, unnamed_line,
                                    "left out: %u %s whose description names no host of its own", n_unnamed,
                                    fab_plural (n_unnamed, "adapter", "adapters"));
}

static void
note_aggregation (Reader *reader)
{
  guint n = 0;

  for (guint i = 0; i < reader->net->devices->len; i++)
    n += fab_imported_network_device (reader->net, i)->is_aggregation;
  if (n > 0)
    fab_imported_machine_leave_out (reader->machine, 0, "left out: %u %s of switches for SHARP", n,
                                    fab_plural (n, "aggregation node", "aggregation nodes"));
}

/* Drops switches that have hosts, of which none is kept, and that no other switch with kept hosts is joined to. */
static void
drop_empty_leaves (Reader *reader)
{
  g_autofree gboolean *has_hosts = g_new0 (gboolean, reader->net->devices->len);
  g_autofree gboolean *is_joined = g_new0 (gboolean, reader->net->devices->len);
  guint n = 0;

  for (guint c = 0; c < reader->net->cables->len; c++) {
    const FabImportedCable *cable = fab_imported_network_cable (reader->net, c);

    if (fab_imported_network_is_port (reader->net, cable))
      has_hosts[switch_end (reader, cable)] = TRUE;
    is_joined[cable->a] = is_joined[cable->a] || reader->is_leaf[cable->b];
    is_joined[cable->b] = is_joined[cable->b] || reader->is_leaf[cable->a];
  }
  for (guint i = 0; i < reader->net->devices->len; i++) {
    FabImportedDevice *device = fab_imported_network_device (reader->net, i);

    if (!device->is_used || !has_hosts[i] || reader->is_leaf[i] || is_joined[i])
      continue;
    device->is_used = FALSE;
    n++;
  }
  if (n > 0)
    fab_imported_machine_leave_out (reader->machine, 0, "left out: %u %s whose hosts are all left out", n,
                                    fab_plural (n, "switch", "switches"));
}

/* Removes switches that lead to no hosts (their hosts are not in the text), until every switch leads to some. */
static void
mark_switches (Reader *reader)
{
  gboolean is_changed = TRUE;

  for (guint i = 0; i < reader->hosts->len; i++) {
    const Host *host = g_ptr_array_index (reader->hosts, i);
    for (guint k = 0; k < reader->n_ports; k++)
      reader->is_leaf[switch_end (
          reader, fab_imported_network_cable (reader->net, g_array_index (host->ports, guint, k)))] = TRUE;
  }
  for (guint i = 0; i < reader->net->devices->len; i++)
    fab_imported_network_device (reader->net, i)->is_used = fab_imported_network_is_switch (reader->net, i);
  drop_empty_leaves (reader);
  while (is_changed) {
    is_changed = FALSE;
    for (guint i = 0; i < reader->net->devices->len; i++) {
      FabImportedDevice *device = fab_imported_network_device (reader->net, i);
      guint first = G_MAXUINT, n_neighbours = 0;

      if (!device->is_used || reader->is_leaf[i])
        continue;
      for (guint c = 0; c < reader->net->cables->len; c++) {
        const FabImportedCable *cable = fab_imported_network_cable (reader->net, c);
        guint other = cable->a == i ? cable->b : cable->b == i ? cable->a : G_MAXUINT;

        if (other == G_MAXUINT || !fab_imported_network_device (reader->net, other)->is_used
            || other == first)
          continue;
        first = other;
        n_neighbours++;
      }
      if (n_neighbours < 2) {
        device->is_used = FALSE;
        is_changed = TRUE;
      }
    }
  }
}

static void
write_switches (Reader *reader)
{
  guint n[2] = { 0, 0 };

  for (guint i = 0; i < reader->net->devices->len; i++)
    if (fab_imported_network_device (reader->net, i)->is_used)
      reader->number[i] = n[reader->is_leaf[i]]++;
  g_string_append_printf (reader->machine->fabric,
                          "    kind: custom\n    switches:\n      - {name: leaf, count: %u}\n", n[1]);
  if (n[0] > 0)
    g_string_append_printf (reader->machine->fabric, "      - {name: spine, count: %u}\n", n[0]);
  fab_imported_machine_read (reader->machine, 0, "%u switches with hosts (leaf), %u without (spine)", n[1],
                             n[0]);
  /* a switch that is alone in its tier has no number in its name */
  for (guint i = 0; i < 2; i++)
    for (guint d = 0; n[i] == 1 && d < reader->net->devices->len; d++)
      if (reader->is_leaf[d] == (gboolean) i)
        reader->number[d] = G_MAXUINT;
}

static char *
switch_name (const Reader *reader, guint index)
{
  const char *tier = reader->is_leaf[index] ? "leaf" : "spine";

  return reader->number[index] == G_MAXUINT ? g_strdup (tier)
                                            : g_strdup_printf ("%s%u", tier, reader->number[index]);
}

/* Ends a line with a comment. */
static void
append_comment (GString *out, const char *text)
{
  g_autofree char *plain = fab_file_comment (text);

  g_string_append_printf (out, " # %s\n", plain);
}

/* Says in comments what the text calls the switches. */
static void
write_switch_names (const Reader *reader)
{
  g_auto (GStrv) labels = fab_imported_network_labels (reader->net);

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < reader->net->devices->len; i++)
      if (fab_imported_network_device (reader->net, i)->is_used && reader->is_leaf[i] == (pass == 0)) {
        g_autofree char *name = switch_name (reader, i), *plain = fab_file_comment (labels[i]);

        g_string_append_printf (reader->machine->fabric, "      # %s: %s\n", name, plain);
      }
}

/* Returns the first of the fastest cables that join the same two switches; NULL: an earlier one than `first` does. */
static const FabImportedCable *
best_beside (const Reader *reader, guint first)
{
  const FabImportedCable *cable = fab_imported_network_cable (reader->net, first), *best = cable;

  for (guint i = 0; i < reader->net->cables->len; i++) {
    const FabImportedCable *other = fab_imported_network_cable (reader->net, i);

    if (other->a != cable->a || other->b != cable->b)
      continue;
    if (i < first)
      return NULL;
    if (fab_imported_network_gbps (other->speed) > fab_imported_network_gbps (best->speed))
      best = other;
  }
  return best;
}

/* Writes the cables between two switches as one link, and leaves out the slower ones among them. */
static void
write_trunk (Reader *reader, guint first)
{
  const FabImportedCable *cable = fab_imported_network_cable (reader->net, first),
                         *best = best_beside (reader, first);
  guint count = 0, n_slower = 0, slower_line = 0;
  g_autofree char *from = switch_name (reader, cable->a), *to = switch_name (reader, cable->b);

  if (best == NULL)
    return; /* the pair is already written */
  for (guint i = first; i < reader->net->cables->len; i++) {
    const FabImportedCable *other = fab_imported_network_cable (reader->net, i);

    if (other->a != cable->a || other->b != cable->b)
      continue;
    if (fab_imported_network_gbps (other->speed) >= fab_imported_network_gbps (best->speed))
      count++;
    else if (n_slower++ == 0)
      slower_line = other->line;
  }
  if (n_slower > 0)
    fab_imported_machine_leave_out (reader->machine, slower_line,
                                    "left out: %u %s from %s to %s that %s slower than the %s beside them",
                                    n_slower, fab_plural (n_slower, "cable", "cables"), from, to,
                                    fab_plural (n_slower, "is", "are"), best->speed);
  g_string_append_printf (reader->machine->fabric, "      - {from: %s, to: %s, link: %s, count: %u}\n", from,
                          to, fab_imported_network_link (reader->machine, best), count);
}

static void
write_trunks (Reader *reader)
{
  gsize before = reader->machine->fabric->len;

  for (guint i = 0; i < reader->net->cables->len; i++) {
    const FabImportedCable *cable = fab_imported_network_cable (reader->net, i);

    if (!fab_imported_network_device (reader->net, cable->a)->is_used
        || !fab_imported_network_device (reader->net, cable->b)->is_used)
      continue;
    if (reader->machine->fabric->len == before)
      g_string_append (reader->machine->fabric, "    links:\n");
    write_trunk (reader, i);
  }
}

static const FabImportedCable *
cable_of (const Reader *reader, guint host, guint port)
{
  return fab_imported_network_cable (reader->net, g_array_index (host_at (reader, host)->ports, guint, port));
}

static guint
leaf_of (const Reader *reader, guint host, guint port)
{
  return switch_end (reader, cable_of (reader, host, port));
}

static void
write_ports (Reader *reader)
{
  GString *out = reader->machine->fabric;

  g_string_append (out, "    attach:\n");
  for (guint port = 0; port < reader->n_ports; port++)
    for (guint first = 0, end; first < reader->hosts->len; first = end) {
      g_autofree char *leaf = switch_name (reader, leaf_of (reader, first, port));

      for (end = first;
           end < reader->hosts->len && leaf_of (reader, end, port) == leaf_of (reader, first, port);)
        end++;
      g_string_append_printf (out, "      - {to: %s, nodes: %u-%u, nics: %u}", leaf, first, end - 1, port);
      g_autofree char *range = g_strdup_printf ("%s ... %s", host_at (reader, first)->name,
                                                host_at (reader, end - 1)->name);
      append_comment (out, range);
    }
}

/* The part of the port of a host: NICs have numbers where a node has several. */
static char *
nic_name (const Reader *reader, guint host, guint port)
{
  return reader->n_ports == 1 ? g_strdup_printf ("node%u/nic", host)
                              : g_strdup_printf ("node%u/nic%u", host, port);
}

/* Writes wires of a node that are slower than those of the others as faults. */
static void
write_slow_wires (Reader *reader, guint host)
{
  const GArray *slow = host_at (reader, host)->slow;

  for (guint i = 0; slow != NULL && i < slow->len; i++) {
    const FabImportedSlowWire *wire = &g_array_index (slow, FabImportedSlowWire, i);

    g_string_append_printf (reader->machine->faults,
                            "  - {what: link, from: node%u/%s, to: node%u/%s, rate: %.6g%%}", host,
                            wire->from, host, wire->to, 100 * wire->share);
    append_comment (reader->machine->faults, host_at (reader, host)->name);
  }
  if (slow != NULL && slow->len > 0)
    fab_imported_machine_read (reader->machine, 0,
                               "%s has %u PCIe %s slower than those of the others, which the scenario has in "
                               "`faults`",
                               host_at (reader, host)->name, slow->len,
                               fab_plural (slow->len, "link that is", "links that are"));
}

/* Writes ports that are slower than those of most hosts as faults. */
static void
write_slow_ports (Reader *reader, guint n_nodes, double usual_gbps)
{
  GString *out = reader->machine->faults;
  guint n = 0, line = 0;

  for (guint h = 0; h < n_nodes && n_nodes > 1; h++)
    for (guint port = 0; port < reader->n_ports; port++) {
      const FabImportedCable *cable = cable_of (reader, h, port);
      double share = fab_imported_network_gbps (cable->speed) / usual_gbps;

      if (share >= 1)
        continue;
      g_autofree char *leaf = switch_name (reader, switch_end (reader, cable)),
                      *nic = nic_name (reader, h, port);
      g_string_append_printf (out, "  - {what: link, from: %s, to: %s, rate: %.6g%%}", nic, leaf,
                              100 * MAX (share, 0.001));
      g_autofree char *text = g_strdup_printf ("%s: %s", host_at (reader, h)->name, cable->speed);
      append_comment (out, text);
      line = n++ == 0 ? cable->line : line;
    }
  for (guint h = 0; h < n_nodes; h++)
    write_slow_wires (reader, h);
  if (n > 0)
    fab_imported_machine_read (reader->machine, line,
                               "%u %s slower than most, which the scenario has in `faults`", n,
                               fab_plural (n, "port that is", "ports that are"));
}

/* Returns the first cable with the speed of most first ports, which decides the NIC. */
static const FabImportedCable *
usual_cable (const Reader *reader)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  const FabImportedCable *best = NULL;
  guint most = 0;

  for (guint i = 0; i < reader->hosts->len; i++) {
    const char *speed = cable_of (reader, i, 0)->speed;
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, speed));

    g_hash_table_insert (counts, (gpointer) speed, GUINT_TO_POINTER (n + 1));
  }
  for (guint i = 0; i < reader->hosts->len; i++) {
    const FabImportedCable *cable = cable_of (reader, i, 0);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, cable->speed));

    if (n > most) {
      most = n;
      best = cable;
    }
  }
  return best;
}

static void
add_node (Reader *reader)
{
  FabImportedMachine *machine = reader->machine;
  const FabImportedCable *cable = usual_cable (reader);
  const char *speed = cable->speed;
  double gbps = fab_imported_network_gbps (speed);

  if (machine->nic == NULL) {
    machine->nic = fab_imported_network_link (machine, cable);
    fab_imported_machine_read (machine, cable->line, "%u %s with %u %s each, most of them %s",
                               reader->hosts->len, fab_plural (reader->hosts->len, "host", "hosts"),
                               reader->n_ports, fab_plural (reader->n_ports, "port", "ports"), speed);
  }
  if (machine->accelerator == NULL) {
    machine->accelerator = gbps > 400 ? "b200-sxm"
                         : gbps > 200 ? "h100-sxm5-80gb"
                         : gbps > 100 ? "a100-sxm4-80gb"
                                      : "v100-sxm2-16gb";
    fab_imported_machine_infer (
        machine, cable->line,
        "accelerator: %s stands in, of the time of %s; --accelerator names the real one",
        machine->accelerator, speed);
  }
  const char *link = fab_known_usual_pcie (machine);
  guint host = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT,
                                         NULL, 0);
  for (guint i = 0; i < reader->n_ports; i++) {
    fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, host, link, i);
    fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, host, link, i);
  }
  fab_imported_machine_infer (
      machine, 0,
      "inside a node: one GPU for each port, both on %s; the network does not see further. Take "
      "the node from an import of one of the hosts",
      link);
}

/* The node is that of files of hosts. */
static gboolean
join_hosts (Reader *reader, const FabImportRequest *request, GError **error)
{
  reader->n_ports = fab_network_join (reader->machine, reader->net, reader->hosts, request->hosts,
                                      request->name ? request->name : "imported", &request->file, error);
  g_ptr_array_sort (reader->hosts, compare_hosts);
  return reader->n_ports > 0;
}

/* The NIC port of such a node is what the network says of its cables. */
static void
take_nic (Reader *reader)
{
  const FabImportedCable *cable = usual_cable (reader);

  if (reader->machine->nic == NULL)
    reader->machine->nic = fab_imported_network_link (reader->machine, cable);
  fab_imported_machine_read (reader->machine, cable->line, "%u %s with %u %s each, most of them %s",
                             reader->hosts->len, fab_plural (reader->hosts->len, "host", "hosts"),
                             reader->n_ports, fab_plural (reader->n_ports, "port", "ports"), cable->speed);
}

static gboolean
fill (Reader *reader, const FabImportRequest *request, GError **error)
{
  const FabFileText *file = &request->file;

  if (reader->hosts->len == 0)
    return fab_file_text_fail (file, 0, error, "no host has a port on a switch");
  note_aggregation (reader);
  if (request->hosts == NULL)
    drop_odd_hosts (reader);
  else if (!join_hosts (reader, request, error))
    return FALSE;
  if (reader->n_ports > FAB_IMPORT_MAX_GPUS)
    return fab_file_text_fail (file, 0, error, "one host has %u ports; at most %d are possible",
                               reader->n_ports, FAB_IMPORT_MAX_GPUS);
  if (request->n_nodes > reader->hosts->len)
    return fab_file_text_fail (file, 0, error, "--nodes %u, but there are %u hosts", request->n_nodes,
                               reader->hosts->len);
  mark_switches (reader);
  write_switches (reader);
  write_switch_names (reader);
  write_trunks (reader);
  write_ports (reader);
  write_slow_ports (reader, request->n_nodes > 0 ? request->n_nodes : reader->hosts->len,
                    fab_imported_network_gbps (usual_cable (reader)->speed));
  if (request->hosts != NULL)
    take_nic (reader);
  else
    add_node (reader);
  if (request->hosts == NULL)
    fab_nvlink_sockets (reader->machine, 0, NULL, NULL);
  reader->machine->n_nodes = reader->hosts->len;
  return TRUE;
}

gboolean
fab_imported_network_fill (FabImportedNetwork *self, FabImportedMachine *machine,
                           const FabImportRequest *request, GError **error)
{
  Reader reader = { .machine = machine,
                    .net = self,
                    .hosts = fab_network_hosts_of (self),
                    .number = g_new0 (guint, self->devices->len),
                    .is_leaf = g_new0 (gboolean, self->devices->len) };
  machine->network = fab_imported_network_ref (self);
  gboolean is_good = fill (&reader, request, error);

  g_ptr_array_unref (reader.hosts);
  g_free (reader.number);
  g_free (reader.is_leaf);
  return is_good;
}
