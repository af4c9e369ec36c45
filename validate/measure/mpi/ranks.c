/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - commands and control channels between ranks, apart from what is measured. */
#include <string.h>

#include "validate/measure/mpi/ranks.h"

enum { LOOKS_AWAKE = 10000, NAP_US = 200, COMMAND_WORDS = sizeof (FabMpiCommand) / sizeof (guint64) };

guint
fab_mpi_rank (void)
{
  int rank = 0;

  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  return (guint) rank;
}

guint
fab_mpi_n_ranks (void)
{
  int n = 1;

  MPI_Comm_size (MPI_COMM_WORLD, &n);
  return (guint) n;
}

/* Waits for the next message and returns its bytes. */
static int
await (int rank, int tag)
{
  MPI_Status status;
  int is_there = 0, n_bytes = 0;

  for (guint i = 0; !is_there; i++) {
    MPI_Iprobe (rank, tag, MPI_COMM_WORLD, &is_there, &status);
    if (!is_there && i > LOOKS_AWAKE)
      g_usleep (NAP_US);
  }
  MPI_Get_count (&status, MPI_BYTE, &n_bytes);
  return n_bytes;
}

void
fab_mpi_tell (guint rank, const FabMpiCommand *command)
{
  MPI_Send (command, COMMAND_WORDS, MPI_UINT64_T, (int) rank, FAB_MPI_TAG_COMMAND, MPI_COMM_WORLD);
}

void
fab_mpi_tell_all (const FabMpiCommand *command)
{
  for (guint rank = 1; rank < fab_mpi_n_ranks (); rank++)
    fab_mpi_tell (rank, command);
}

void
fab_mpi_hear (FabMpiCommand *command)
{
  await (0, FAB_MPI_TAG_COMMAND);
  MPI_Recv (command, COMMAND_WORDS, MPI_UINT64_T, 0, FAB_MPI_TAG_COMMAND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- control --- */

typedef struct {
  FabControl base;
  int rank;
  GByteArray *waiting; /* arrived, but not yet asked for */
} MpiControl;

static gboolean
control_send (FabControl *control, gconstpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  g_assert (size <= G_MAXINT);
  MPI_Send (data, (int) size, MPI_BYTE, ((MpiControl *) control)->rank, FAB_MPI_TAG_CONTROL, MPI_COMM_WORLD);
  return TRUE;
}

static gboolean
control_receive (FabControl *control, gpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  MpiControl *self = (MpiControl *) control;

  while (self->waiting->len < size) {
    int n_bytes = await (self->rank, FAB_MPI_TAG_CONTROL);
    guint end = self->waiting->len;

    g_byte_array_set_size (self->waiting, end + (guint) n_bytes);
    MPI_Recv (self->waiting->data + end, n_bytes, MPI_BYTE, self->rank, FAB_MPI_TAG_CONTROL, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
  }
  memcpy (data, self->waiting->data, size);
  g_byte_array_remove_range (self->waiting, 0, (guint) size);
  return TRUE;
}

static void
control_close (FabControl *control)
{
  g_byte_array_unref (((MpiControl *) control)->waiting);
  g_free (control->here);
  g_free (control->there);
  g_free (control);
}

FabControl *
fab_mpi_control_new (guint rank, const char *const *names)
{
  MpiControl *self = g_new0 (MpiControl, 1);
  guint here = fab_mpi_rank ();

  self->base = (FabControl){ control_send,
                             control_receive,
                             control_close,
                             g_strdup_printf ("rank%u@%s", here, names[here]),
                             g_strdup_printf ("rank%u@%s", rank, names[rank]),
                             0 };
  self->rank = (int) rank;
  self->waiting = g_byte_array_new ();
  return &self->base;
}

char **
fab_mpi_hosts (void)
{
  guint n = fab_mpi_n_ranks ();
  g_autofree char *all = g_malloc0 (n * MPI_MAX_PROCESSOR_NAME);
  char here[MPI_MAX_PROCESSOR_NAME] = "";
  char **names = g_new0 (char *, n + 1);
  int length = 0;

  MPI_Get_processor_name (here, &length);
  MPI_Allgather (here, sizeof here, MPI_CHAR, all, sizeof here, MPI_CHAR, MPI_COMM_WORLD);
  for (guint rank = 0; rank < n; rank++)
    names[rank] = g_strndup (all + rank * MPI_MAX_PROCESSOR_NAME, MPI_MAX_PROCESSOR_NAME);
  return names;
}
