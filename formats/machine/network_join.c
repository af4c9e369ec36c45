/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/machine/network_join.h"

#include <string.h>

#include "sim/base/order.h"
#include "sim/base/units.h"

/* How a file, or a NIC, was found in the network. */
typedef enum { BY_GUID, BY_NAME, BY_FILE, BY_NUMBER, BY_ORDER, BY_NOTHING, N_KEYS } Key;

/* A file and what belongs to it. */
typedef struct {
  FabImportedMachine *machine;
  const char *file;
  const FabNetworkHost *host; /* NULL: none was found */
  Key key;
  GArray *nics;  /* guint: parts, in the order of the node */
  GArray *ports; /* guint: of each NIC the port of the host; G_MAXUINT: none */
  guint n_by[N_KEYS];
  char *node; /* its node as text, without what has no port: those of one kind have the same */
} File;

typedef struct {
  FabImportedMachine *out;
  const FabImportedNetwork *network;
  GPtrArray *hosts; /* FabNetworkHost */
  GPtrArray *files; /* File */
} Join;

void
fab_imported_host_free (gpointer data)
{
  FabImportedHost *self = data;

  fab_imported_machine_free (self->machine);
  g_free (self->file);
  g_free (self);
}

static void
file_free (gpointer data)
{
  File *self = data;

  g_array_unref (self->nics);
  g_array_unref (self->ports);
  g_free (self->node);
  g_free (self);
}

static const FabImportedMachinePart *
nic_at (const File *file, guint i)
{
  return fab_imported_machine_part (file->machine, g_array_index (file->nics, guint, i));
}

static gint
compare_parts (gconstpointer a, gconstpointer b, gpointer data)
{
  const FabImportedMachine *machine = data;
  guint x = fab_imported_machine_part (machine, *(const guint *) a)->order,
        y = fab_imported_machine_part (machine, *(const guint *) b)->order;

  return x != y ? fab_order_guints (&x, &y) : fab_order_guints (a, b);
}

static File *
file_new (const FabImportedHost *host)
{
  File *self = g_new0 (File, 1);

  self->machine = host->machine;
  self->file = host->file;
  self->key = BY_NOTHING;
  self->nics = g_array_new (FALSE, FALSE, sizeof (guint));
  self->ports = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < self->machine->parts->len; i++)
    if (fab_imported_machine_part (self->machine, i)->kind == FAB_IMPORTED_MACHINE_NIC)
      g_array_append_val (self->nics, i);
  g_array_sort_with_data (self->nics, compare_parts, self->machine);
  return self;
}

/* --- which host a file is of --- */

/* NCCL writes the bytes of a GUID as they lie in memory, the last one first: 0x367a8b0003f6ceb8 is b8cef603008b7a36
 * (ncclIbDevs[].guid is the sys_image_guid of ibv_query_device, unswapped; src/transport/net_ib.cc). */
static gboolean
has_guid (const FabImportedDevice *device, const FabImportedMachinePart *nic)
{
  guint64 swapped = GUINT64_SWAP_LE_BE (nic->guid);

  return nic->guid != 0
      && (device->guid == nic->guid || device->system_guid == nic->guid || device->guid == swapped
          || device->system_guid == swapped);
}

/* Number of NICs of the file whose GUIDs this host has. */
static guint
count_guids (const Join *self, const File *file, const FabNetworkHost *host)
{
  guint n = 0;

  for (guint i = 0; i < file->nics->len; i++)
    for (guint k = 0; k < host->ports->len; k++)
      if (has_guid (fab_network_host_adapter (self->network, host, k), nic_at (file, i))) {
        n++;
        break;
      }
  return n;
}

/* Compares names of hosts, which may have a domain behind the first dot. */
static gboolean
is_same_host (const char *one, const char *other)
{
  gsize n = strcspn (one, ".");

  return g_ascii_strcasecmp (one, other) == 0
      || (n > 0 && n == strcspn (other, ".") && g_ascii_strncasecmp (one, other, n) == 0);
}

/* Says whether the name of a host is a whole word of the file's name. */
static gboolean
is_in_file_name (const char *file, const char *host)
{
  g_autofree char *base = g_path_get_basename (file), *lower = g_ascii_strdown (base, -1);
  g_autofree char *word = g_ascii_strdown (host, -1);
  gsize n = strlen (word);

  for (const char *at = strstr (lower, word); at != NULL && n > 0; at = strstr (at + 1, word))
    if ((at == lower || !g_ascii_isalnum (at[-1])) && !g_ascii_isalnum (at[n]))
      return TRUE;
  return FALSE;
}

static void
find_host (const Join *self, File *file)
{
  guint most = 0;
  gsize longest = 0;

  for (guint i = 0; i < self->hosts->len; i++) {
    const FabNetworkHost *host = g_ptr_array_index (self->hosts, i);
    guint n = count_guids (self, file, host);

    if (n > most) {
      most = n;
      file->host = host;
      file->key = BY_GUID;
    }
  }
  for (guint i = 0; i < self->hosts->len && file->key != BY_GUID; i++) {
    const FabNetworkHost *host = g_ptr_array_index (self->hosts, i);

    if (!host->is_named)
      continue;
    if (file->machine->host_name != NULL && is_same_host (file->machine->host_name, host->name)) {
      file->host = host;
      file->key = BY_NAME;
      return;
    }
    if (is_in_file_name (file->file, host->name) && strlen (host->name) > longest) {
      longest = strlen (host->name);
      file->host = host;
      file->key = BY_FILE;
    }
  }
}

/* --- which port a NIC has --- */

static gboolean
is_taken (const File *file, guint port)
{
  for (guint i = 0; i < file->ports->len; i++)
    if (g_array_index (file->ports, guint, i) == port)
      return TRUE;
  return FALSE;
}

static gboolean
is_match (const Join *self, const FabNetworkHost *host, guint port, const FabImportedMachinePart *nic,
          Key key)
{
  const FabImportedDevice *adapter = fab_network_host_adapter (self->network, host, port);
  guint number = fab_network_adapter_number (adapter->adapter),
        at = fab_network_host_port (self->network, host, port);

  if (nic->port > 1 && at > 0 && at != nic->port)
    return FALSE;
  if (key == BY_GUID)
    return has_guid (adapter, nic);
  if (key == BY_NAME)
    return nic->name != NULL && g_strcmp0 (adapter->adapter, nic->name) == 0;
  return number != G_MAXUINT && number == fab_network_adapter_number (nic->name);
}

/* Gives NICs the ports of the host, by one key after the other. Where none of them is known by any, and there are as
 * many ports, they go by their order. */
static void
find_ports (const Join *self, File *file, const FabNetworkHost *host)
{
  static const Key keys[] = { BY_GUID, BY_NAME, BY_NUMBER };
  guint none = G_MAXUINT, n_found = 0;

  g_array_set_size (file->ports, 0);
  memset (file->n_by, 0, sizeof file->n_by);
  for (guint i = 0; i < file->nics->len; i++)
    g_array_append_val (file->ports, none);
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    for (guint i = 0; i < file->nics->len; i++)
      for (guint port = 0; port < host->ports->len && g_array_index (file->ports, guint, i) == none; port++)
        if (!is_taken (file, port) && is_match (self, host, port, nic_at (file, i), keys[k])) {
          g_array_index (file->ports, guint, i) = port;
          file->n_by[keys[k]]++;
          n_found++;
        }
  for (guint i = 0; n_found == 0 && file->nics->len == host->ports->len && i < file->nics->len; i++) {
    g_array_index (file->ports, guint, i) = i;
    file->n_by[BY_ORDER]++;
  }
}

static guint
count_ports (const File *file)
{
  guint n = 0;

  for (guint i = 0; i < file->ports->len; i++)
    n += g_array_index (file->ports, guint, i) != G_MAXUINT;
  return n;
}

/* Takes NICs without a port out of the machine. */
static void
drop_nics (Join *self, File *file)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = 0;

  for (guint i = file->nics->len; i > 0; i--) {
    guint part = g_array_index (file->nics, guint, i - 1);
    const char *name = fab_imported_machine_part (file->machine, part)->name;

    if (g_array_index (file->ports, guint, i - 1) != G_MAXUINT)
      continue;
    g_autofree char *one = name ? g_strdup (name) : g_strdup_printf ("NIC %u", i - 1);
    g_string_prepend (names, n++ > 0 ? ", " : "");
    g_string_prepend (names, one);
    fab_imported_machine_drop (file->machine, part);
    g_array_remove_index (file->nics, i - 1);
    g_array_remove_index (file->ports, i - 1);
    for (guint k = 0; k < file->nics->len; k++)
      g_array_index (file->nics, guint, k) -= g_array_index (file->nics, guint, k) > part;
  }
  if (n > 0)
    fab_imported_machine_leave_out (self->out, 0, "left out: %s of %s, for which the network lists no port",
                                    names->str, file->file);
}

/* --- notes --- */

static char *
ports_text (const File *file)
{
  static const char *const words[N_KEYS] = { [BY_GUID] = "by their GUIDs",
                                             [BY_NAME] = "by the names of their adapters",
                                             [BY_NUMBER] = "by the numbers of their adapters",
                                             [BY_ORDER] = "by their order, which is a guess" };
  GString *text = g_string_new (NULL);

  for (guint key = 0; key < N_KEYS; key++)
    if (file->n_by[key] > 0)
      g_string_append_printf (text, "%s%u %s", text->len > 0 ? ", " : "", file->n_by[key], words[key]);
  return g_string_free (text, FALSE);
}

static void
note_file (Join *self, const File *file)
{
  static const char *const words[N_KEYS] = { [BY_GUID] = "by the GUIDs of its NICs",
                                             [BY_NAME] = "by the name that it says",
                                             [BY_FILE] = "by its own name" };
  g_autofree char *ports = ports_text (file);

  if (file->host == NULL)
    fab_imported_machine_infer (
        self->out, 0,
        "%s: no host of the network has its GUIDs or its name, so it stands for hosts like it; "
        "NICs: %s",
        file->file, ports);
  else
    fab_imported_machine_read (self->out, 0, "%s is %s, %s; NICs: %s", file->file, file->host->name,
                               words[file->key], ports);
}

/* --- kinds of nodes --- */

/* The file whose kind most files have; the first of equally frequent ones. */
static const File *
usual_file (const Join *self)
{
  const File *best = NULL;
  guint most = 0;

  for (guint i = 0; i < self->files->len; i++) {
    const File *file = g_ptr_array_index (self->files, i);
    guint n = 0;

    for (guint k = 0; k < self->files->len; k++)
      n += strcmp (((const File *) g_ptr_array_index (self->files, k))->node, file->node) == 0;
    if (n > most) {
      most = n;
      best = file;
    }
  }
  return best;
}

static const File *
file_of (const Join *self, const FabNetworkHost *host)
{
  for (guint i = 0; i < self->files->len; i++)
    if (((const File *) g_ptr_array_index (self->files, i))->host == host)
      return g_ptr_array_index (self->files, i);
  return NULL;
}

/* Sets the ports of a host in the order of the NICs. FALSE: one of them is missing. */
static gboolean
order_ports (const Join *self, FabNetworkHost *host, const guint *ports, guint n)
{
  g_autoptr (GArray) ordered = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < n; i++) {
    if (ports[i] >= host->ports->len)
      return FALSE;
    g_array_append_val (ordered, g_array_index (host->ports, guint, ports[i]));
  }
  g_array_set_size (host->ports, 0);
  g_array_append_vals (host->ports, ordered->data, ordered->len);
  host->leaf = fab_imported_network_switch_of (
      self->network, fab_imported_network_cable (self->network, g_array_index (host->ports, guint, 0)));
  return TRUE;
}

/* What tells the ports of the usual kind in hosts without a file: numbers of adapters and of their ports. */
typedef struct {
  guint n;
  guint *numbers, *at; /* [n] */
  gboolean has_numbers;
} Pattern;

static void
pattern_init (Pattern *self, const Join *join, const File *usual)
{
  self->n = usual->nics->len;
  self->numbers = g_new (guint, self->n);
  self->at = g_new0 (guint, self->n);
  self->has_numbers = TRUE;
  for (guint i = 0; i < self->n; i++) {
    const FabImportedMachinePart *nic = nic_at (usual, i);

    self->numbers[i] = fab_network_adapter_number (nic->name);
    self->at[i] = nic->port;
    if (usual->host != NULL) {
      guint port = g_array_index (usual->ports, guint, i);
      const FabImportedDevice *adapter = fab_network_host_adapter (join->network, usual->host, port);

      self->numbers[i] = fab_network_adapter_number (adapter->adapter);
      self->at[i] = fab_network_host_port (join->network, usual->host, port);
    }
    self->has_numbers = self->has_numbers && self->numbers[i] != G_MAXUINT;
  }
}

static gboolean
follow_pattern (const Join *self, const Pattern *pattern, FabNetworkHost *host)
{
  g_autofree guint *ports = g_new (guint, pattern->n);

  for (guint i = 0; i < pattern->n; i++) {
    ports[i] = pattern->has_numbers ? G_MAXUINT : i;
    for (guint k = 0; ports[i] == G_MAXUINT && k < host->ports->len; k++) {
      guint at = fab_network_host_port (self->network, host, k);

      if (fab_network_adapter_number (fab_network_host_adapter (self->network, host, k)->adapter)
              == pattern->numbers[i]
          && (at == 0 || pattern->at[i] == 0 || at == pattern->at[i]))
        ports[i] = k;
    }
  }
  return (pattern->has_numbers || host->ports->len == pattern->n)
      && order_ports (self, host, ports, pattern->n);
}

enum { MOST_LISTED = 4 };

/* Adds the name of a host to "a, b, c, d and 4 more". */
static void
list_name (GString *list, guint *n, const char *name)
{
  if ((*n)++ < MOST_LISTED)
    g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", name);
}

static void
end_list (GString *list, guint n)
{
  if (n > MOST_LISTED)
    g_string_append_printf (list, " and %u more", n - MOST_LISTED);
}

typedef struct {
  GString *unlike, *fewer; /* names of hosts that are left out */
  guint n_unlike, n_fewer, n_unnamed, n_taken;
} Left;

static gboolean
keep_host (const Join *self, FabNetworkHost *host, const File *usual, const Pattern *pattern, Left *left)
{
  const File *file = file_of (self, host);

  if (file != NULL && file != usual) {
    host->slow = fab_imported_machine_slow_wires (file->machine, usual->machine);
    if (host->slow == NULL) {
      list_name (left->unlike, &left->n_unlike, host->name);
      return FALSE;
    }
  }
  if (file != NULL)
    return order_ports (self, host, (const guint *) (gpointer) file->ports->data, file->ports->len);
  if (follow_pattern (self, pattern, host)) {
    left->n_taken++;
    return TRUE;
  }
  if (host->is_named)
    list_name (left->fewer, &left->n_fewer, host->name);
  else
    left->n_unnamed++;
  return FALSE;
}

static void
keep_hosts (Join *self, const File *usual)
{
  Pattern pattern;
  Left left = { g_string_new (NULL), g_string_new (NULL), 0, 0, 0, 0 };

  g_autofree gboolean *is_kept = g_new (gboolean, self->hosts->len);

  pattern_init (&pattern, self, usual);
  for (guint i = 0; i < self->hosts->len; i++)
    is_kept[i] = keep_host (self, g_ptr_array_index (self->hosts, i), usual, &pattern, &left);
  for (guint i = self->hosts->len; i > 0; i--)
    if (!is_kept[i - 1])
      g_ptr_array_remove_index (self->hosts, i - 1);
  end_list (left.unlike, left.n_unlike);
  end_list (left.fewer, left.n_fewer);
  if (left.n_taken > 0)
    fab_imported_machine_infer (self->out, 0, "%u %s taken to be like that of %s", left.n_taken,
                                fab_plural (left.n_taken, "host has no file here; its node is",
                                            "hosts have no file here; their nodes are"),
                                usual->file);
  if (left.n_unlike > 0)
    fab_imported_machine_leave_out (self->out, 0,
                                    "left out: %u %s whose nodes are of another kind, which `nodes` has: %s",
                                    left.n_unlike, fab_plural (left.n_unlike, "host", "hosts"),
                                    left.unlike->str);
  if (left.n_fewer > 0)
    fab_imported_machine_leave_out (self->out, 0, "left out: %u %s without a port for each NIC of %s: %s",
                                    left.n_fewer, fab_plural (left.n_fewer, "host", "hosts"), usual->file,
                                    left.fewer->str);
  if (left.n_unnamed > 0)
    fab_imported_machine_leave_out (self->out, 0,
                                    "left out: %u %s whose description names no host of its own",
                                    left.n_unnamed, fab_plural (left.n_unnamed, "adapter", "adapters"));
  g_string_free (left.unlike, TRUE);
  g_string_free (left.fewer, TRUE);
  g_free (pattern.numbers);
  g_free (pattern.at);
}

/* Writes the nodes of other kinds, each once. */
static void
add_other_kinds (Join *self, const File *usual, const char *name)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 1;

  for (guint i = 0; i < self->files->len; i++) {
    const File *file = g_ptr_array_index (self->files, i);

    g_autoptr (GArray) slow = fab_imported_machine_slow_wires (file->machine, usual->machine);
    if (slow != NULL || !g_hash_table_add (known, file->node))
      continue;
    g_autofree char *other = g_strdup_printf ("%s-node-%u", name, ++n);
    g_autofree char *node = fab_imported_machine_node (file->machine, other);
    g_autofree char *plain = fab_file_comment (file->host ? file->host->name : file->file);
    g_string_append_printf (self->out->other_nodes, "  # of %s\n%s", plain, node);
  }
}

/* --- the join --- */

static void
add_files (Join *self, const GPtrArray *machines)
{
  for (guint i = 0; i < machines->len; i++) {
    File *file = file_new (g_ptr_array_index (machines, i));

    g_ptr_array_add (self->files, file);
    find_host (self, file);
  }
}

/* A host of the network like which a file without a host may be: the first that has a name and enough ports. */
static const FabNetworkHost *
any_host (const Join *self, const File *file)
{
  const FabNetworkHost *best = NULL;

  for (guint i = 0; i < self->hosts->len; i++) {
    const FabNetworkHost *host = g_ptr_array_index (self->hosts, i);

    if (file_of (self, host) == NULL && host->ports->len <= file->nics->len
        && (best == NULL || host->ports->len > best->ports->len))
      best = host;
  }
  return best;
}

static gboolean
join_file (Join *self, File *file, const FabFileText *text, GError **error)
{
  const FabNetworkHost *host = file->host ? file->host : any_host (self, file);

  for (guint i = 0; i < self->files->len && file->host != NULL; i++) {
    const File *other = g_ptr_array_index (self->files, i);

    if (other != file && other->host == file->host)
      return fab_file_text_fail (text, 0, error, "%s and %s are both of host %s", file->file, other->file,
                                 file->host->name);
  }
  if (host != NULL)
    find_ports (self, file, host);
  if (host == NULL || count_ports (file) == 0)
    return fab_file_text_fail (
        text, 0, error,
        "none of the %u NICs of %s is in this network: no port has their GUIDs, names or numbers, "
        "and no host has as many",
        file->nics->len, file->file);
  note_file (self, file);
  drop_nics (self, file);
  file->node = fab_imported_machine_node (file->machine, "node");
  return TRUE;
}

static guint
join (Join *self, const char *name, const FabFileText *text, GError **error)
{
  for (guint i = 0; i < self->files->len; i++)
    if (!join_file (self, g_ptr_array_index (self->files, i), text, error))
      return 0;
  const File *usual = usual_file (self);
  guint n = usual->nics->len;

  add_other_kinds (self, usual, name);
  keep_hosts (self, usual); /* frees the others */
  if (self->hosts->len == 0) {
    fab_file_text_fail (text, 0, error, "no host of the network has a port for each NIC of %s", usual->file);
    return 0;
  }
  fab_imported_machine_take_node (self->out, usual->machine, usual->file);
  return n;
}

guint
fab_network_join (FabImportedMachine *out, const FabImportedNetwork *network, GPtrArray *hosts,
                  const GPtrArray *machines, const char *name, const FabFileText *file, GError **error)
{
  Join self = { out, network, hosts, g_ptr_array_new_with_free_func (file_free) };

  add_files (&self, machines);
  guint n = join (&self, name, file, error);
  g_ptr_array_unref (self.files);
  return n;
}
