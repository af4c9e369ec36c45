/* SPDX-License-Identifier: Apache-2.0 */
/* launch_line.c - a line that starts nccl-tests, as people paste it, as options of `fabricast collective`.
 *
 *   mpirun -np 16 -N 8 -x NCCL_DEBUG=INFO --mca btl tcp,self ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1
 *
 * Ranks, ranks of a node and variables are taken from the launcher's part. Its other options place processes or choose
 * MPI's own network, which says nothing of NCCL's. What follows the program are options of nccl-tests.
 */
#include "cli/run/launch_line.h"

#include <string.h>

typedef struct {
  guint64 ranks, ranks_per_node, nodes; /* 0: not said */
  guint64 threads, gpus_per_thread;     /* of a rank */
  const char *op;
  GPtrArray *options; /* char: of `fabricast collective` */
} Line;

static gboolean
is_launcher (const char *token)
{
  static const char *const names[] = {
    "mpirun", "mpiexec", "mpirun.mpich", "mpiexec.hydra", "orterun", "srun"
  };
  g_autofree char *base = g_path_get_basename (token);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (base, names[i]) == 0)
      return TRUE;
  return FALSE;
}

/* The operation of a program of nccl-tests: "all_reduce" of ./build/all_reduce_perf_mpi; NULL: it is none. (transfer
 * full) */
static char *
operation_of (const char *token)
{
  g_autofree char *base = g_path_get_basename (token);
  char *end = g_strrstr (base, "_perf");

  if (strchr (token, '=') != NULL || end == NULL
      || (strcmp (end, "_perf") != 0 && strcmp (end, "_perf_mpi") != 0))
    return NULL;
  return g_strndup (base, (gsize) (end - base));
}

static void
add_option (Line *self, const char *name, const char *value)
{
  g_ptr_array_add (self->options, g_strdup_printf ("%s=%s", name, value));
}

/* --- the launcher's part --- */

static gboolean
is_one_of (const char *token, const char *const *names)
{
  gsize length = strcspn (token, "=");

  for (guint i = 0; names[i] != NULL; i++)
    if (strlen (names[i]) == length && strncmp (token, names[i], length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_number (const char *text, guint64 *number)
{
  return g_ascii_string_to_unsigned (text, 10, 1, G_MAXUINT32, number, NULL);
}

/* "node1:8,node2:8", or names alone. */
static void
read_hosts (Line *self, const char *text)
{
  g_auto (GStrv) hosts = g_strsplit (text, ",", -1);

  self->nodes = g_strv_length (hosts);
  for (guint i = 0; hosts[i] != NULL; i++) {
    const char *slots = strrchr (hosts[i], ':');
    guint64 n;

    if (slots != NULL && read_number (slots + 1, &n) && self->ranks_per_node == 0)
      self->ranks_per_node = n;
  }
}

/* "ppr:8:node" */
static void
read_mapping (Line *self, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 3);

  if (g_strv_length (parts) == 3 && strcmp (parts[0], "ppr") == 0 && g_str_has_prefix (parts[2], "node"))
    read_number (parts[1], &self->ranks_per_node);
}

/* "ALL,NCCL_DEBUG=INFO" of srun */
static void
read_exports (Line *self, const char *text)
{
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  for (guint i = 0; names[i] != NULL; i++)
    if (strchr (names[i], '=') != NULL)
      add_option (self, "--env", names[i]);
}

/* A variable of NCCL that the shell sets, or one that another launcher takes by name. */
static gboolean
is_assignment (const char *token)
{
  return g_str_has_prefix (token, "NCCL_") && strchr (token, '=') != NULL;
}

typedef void (*Read) (Line *self, const char *value);

static void
read_ranks (Line *self, const char *value)
{
  read_number (value, &self->ranks);
}

static void
read_ranks_per_node (Line *self, const char *value)
{
  read_number (value, &self->ranks_per_node);
}

static void
read_nodes (Line *self, const char *value)
{
  read_number (value, &self->nodes);
}

static void
read_variable (Line *self, const char *value)
{
  add_option (self, "--env", value);
}

typedef struct {
  const char *names[7];
  Read read;
} Word;

static const Word mpi_words[] = {
  { { "-np", "--np", "-n", "--n", "-c", NULL }, read_ranks },
  { { "-N", "-npernode", "--npernode", "-ppn", "--ppn", "-perhost", NULL }, read_ranks_per_node },
  { { "-H", "--host", "-host", "-hosts", "--hosts", NULL }, read_hosts },
  { { "--map-by", "-map-by", NULL }, read_mapping },
  { { "-x", "-genv", NULL }, read_variable },
  { { NULL }, NULL },
};

static const Word slurm_words[] = {
  { { "-n", "--ntasks", NULL }, read_ranks },
  { { "-N", "--nodes", NULL }, read_nodes },
  { { "--ntasks-per-node", "--tasks-per-node", NULL }, read_ranks_per_node },
  { { "--export", NULL }, read_exports },
  { { NULL }, NULL },
};

/* The number that stands right behind an option of one letter, as srun and mpirun take it: "16" of -n16; NULL: there
 * is none. */
static const char *
attached_number (const char *token, const char *const *names)
{
  const char name[] = { token[0], token[0] != '\0' ? token[1] : '\0', '\0' };

  return strlen (name) == 2 && g_ascii_isdigit (token[2]) && is_one_of (name, names) ? token + 2 : NULL;
}

/* Takes the word at `i`, with its value behind it, behind = or in the next token. Returns where the next word is. */
static guint
take_word (Line *self, const Word *words, char **tokens, guint i)
{
  const char *equals = strchr (tokens[i], '=');

  if (is_assignment (tokens[i])) {
    read_variable (self, tokens[i]);
    return i + 1;
  }
  for (guint k = 0; words[k].read != NULL; k++) {
    const char *attached = attached_number (tokens[i], words[k].names);

    if (attached != NULL) {
      words[k].read (self, attached);
      return i + 1;
    }
    if (!is_one_of (tokens[i], words[k].names))
      continue;
    const char *value = equals != NULL ? equals + 1 : tokens[i + 1];

    if (value != NULL)
      words[k].read (self, value);
    return equals != NULL || value == NULL ? i + 1 : i + 2;
  }
  return i + 1;
}

/* --- the part of nccl-tests --- */

/* Options that both programs have; the others are about buffers, checks and files of nccl-tests. */
static void
take_tests_option (Line *self, const char *name, const char *value)
{
  static const char *const same[] = { "-b", "--minbytes",  "-e", "--maxbytes", "-f", "--stepfactor",
                                      "-i", "--stepbytes", "-n", "--iters",    "-w", "--warmup_iters",
                                      "-c", "--check",     "-d", "--datatype", NULL };
  static const char *const options[] = { "minbytes", "maxbytes",     "stepfactor", "stepbytes",
                                         "iters",    "warmup_iters", "check-data", "datatype" };
  static const char *const gpus[] = { "-g", "--ngpus", NULL }, *const threads[] = { "-t", "--nthreads",
                                                                                    NULL };

  if (is_one_of (name, gpus))
    read_number (value, &self->gpus_per_thread);
  if (is_one_of (name, threads))
    read_number (value, &self->threads);
  for (guint i = 0; same[i] != NULL; i++) {
    g_autofree char *option = g_strdup_printf ("--%s", options[i / 2]);

    if (is_one_of (name, (const char *const[]){ same[i], NULL }))
      add_option (self, option, value);
  }
}

static void
take_tests_options (Line *self, char **tokens)
{
  for (guint i = 0; tokens[i] != NULL; i++) {
    const char *equals = g_str_has_prefix (tokens[i], "--") ? strchr (tokens[i], '=') : NULL;

    if (equals != NULL)
      take_tests_option (self, tokens[i], equals + 1);
    else if (tokens[i][0] == '-' && tokens[i][1] != '-' && strlen (tokens[i]) > 2) { /* -g8 */
      const char name[] = { '-', tokens[i][1], '\0' };

      take_tests_option (self, name, tokens[i] + 2);
    } else if (tokens[i][0] == '-' && tokens[i + 1] != NULL) {
      take_tests_option (self, tokens[i], tokens[i + 1]);
      i++;
    }
  }
}

/* --- the line --- */

/* The place of the program of nccl-tests, with its operation. */
static guint
find_program (char **tokens, char **operation)
{
  guint i = 0;

  while (tokens[i] != NULL && (*operation = operation_of (tokens[i])) == NULL)
    i++;
  return i;
}

static void
add_number (Line *self, const char *name, guint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, number);

  if (number > 0)
    add_option (self, name, text);
}

static gboolean
add_machine (Line *self, GError **error)
{
  guint64 gpus = self->gpus_per_thread * self->threads;

  if (self->ranks_per_node == 0 && self->ranks > 0 && self->nodes > 0)
    self->ranks_per_node = MAX (self->ranks / self->nodes, 1);
  if (self->nodes == 0 && self->ranks > 0 && self->ranks_per_node > 0)
    self->nodes = MAX (self->ranks / self->ranks_per_node, 1);
  if (self->ranks > 0 && self->nodes * self->ranks_per_node > 0
      && self->ranks != self->nodes * self->ranks_per_node)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the line starts %" G_GUINT64_FORMAT " ranks, which are not %" G_GUINT64_FORMAT
                      " nodes with %" G_GUINT64_FORMAT " each; make -np their product",
                      self->ranks, self->nodes, self->ranks_per_node);
  if (self->ranks > 1 && self->ranks_per_node == 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "the line starts %" G_GUINT64_FORMAT
        " ranks and does not say how many each node has; add -N RANKS or -H NODE:RANKS,... to it",
        self->ranks);
  add_number (self, "--nodes", self->nodes);
  add_number (self, "--gpus-per-node", self->ranks_per_node * gpus);
  add_number (self, "--ngpus", self->gpus_per_thread);
  if (self->threads > 1 || self->ranks_per_node > 1)
    add_number (self, "--nthreads", self->threads * MAX (self->ranks_per_node, 1));
  return TRUE;
}

static gboolean
read_line (Line *self, char **tokens, GError **error)
{
  guint first = 0;

  while (is_assignment (tokens[first]))
    first++;
  g_autofree char *operation = NULL, *launcher = g_path_get_basename (tokens[first]);
  const Word *words = strcmp (launcher, "srun") == 0 ? slurm_words : mpi_words;
  guint program = find_program (tokens, &operation);

  if (operation == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: the line starts no program of nccl-tests, such as ./build/all_reduce_perf",
                      launcher);
  for (guint i = 0; i < program;)
    i = take_word (self, words, tokens, i);
  add_option (self, "--op", operation);
  take_tests_options (self, tokens + program + 1);
  return add_machine (self, error);
}

/* The value of an option that takes a name or a path, which may look like a program. */
static gboolean
is_value (const char *before)
{
  static const char *const options[] = { "-J", "--json", "--check", "--with", "-o", "--op", "--node", NULL };

  return is_one_of (before, options);
}

/* The first token of the line: a launcher, a program, or variables before it; argc: there is no line. */
static int
find_line (int argc, char **argv)
{
  int i = 1;

  for (; i < argc; i++) {
    g_autofree char *operation = operation_of (argv[i]);

    if ((is_launcher (argv[i]) || operation != NULL) && !is_value (argv[i - 1]))
      break;
  }
  while (i < argc && i > 1 && is_assignment (argv[i - 1]) && strcmp (argv[i - 2], "-x") != 0
         && strcmp (argv[i - 2], "--env") != 0)
    i--;
  return i;
}

gboolean
launch_line_expand (int *argc, char ***argv, char ***expanded, GError **error)
{
  int first = find_line (*argc, *argv);
  g_autoptr (GPtrArray) options = g_ptr_array_new_null_terminated (16, g_free, TRUE);
  Line line = { .threads = 1, .gpus_per_thread = 1, .options = options };

  if (first == *argc)
    return TRUE;
  g_ptr_array_add (options, g_strdup ((*argv)[0]));
  if (!read_line (&line, *argv + first, error))
    return FALSE;
  for (int i = 1; i < first; i++)
    if (strcmp ((*argv)[i], "--") != 0)
      g_ptr_array_add (options, g_strdup ((*argv)[i]));
  *argc = (int) options->len;
  *expanded = (char **) g_ptr_array_free (g_steal_pointer (&options), FALSE);
  *argv = g_memdup2 (*expanded, (gsize) (*argc + 1) * sizeof (char *));
  return TRUE;
}
