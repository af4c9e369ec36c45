/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - the ranks that communicate with each other, as the trace names them and on the machine.
 *
 *   the trace lists the ranks         those; with equal distances they are a stride, and all groups with that stride
 *                                     divide the ranks of the machine
 *   it has their number alone         a block of ranks that follow one another
 *   it has neither, or all ranks      all ranks
 *
 * On a machine of another size groups keep their size and stride. Only a group that reaches over all ranks of the trace
 * (size x stride = ranks) reaches over all of the machine.
 */
#include <stdlib.h>
#include <string.h>

#include "models/workload/replay/replay.h"
#include "sim/base/error.h"
#include "sim/base/order.h"

/* "pg [0, 8, 16]"; NULL: the list is not there, is cut, or names other than ranks of the trace. */
static GArray *
read_list (const char *text, guint n_world)
{
  const char *at = strchr (text, '[');
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint));

  if (at == NULL)
    return NULL;
  for (at++; *at != ']';) {
    char *end;
    guint64 rank;

    at += strspn (at, " ,");
    if (!g_ascii_isdigit (*at))
      return NULL;
    rank = g_ascii_strtoull (at, &end, 10);
    if (rank >= n_world || list->len >= n_world)
      return NULL;
    guint value = (guint) rank;
    g_array_append_val (list, value);
    at = end + strspn (end, " ");
  }
  g_array_sort (list, fab_order_guints);
  for (guint i = 1; i < list->len; i++)
    if (g_array_index (list, guint, i) == g_array_index (list, guint, i - 1))
      return NULL;
  return list->len > 0 ? g_steal_pointer (&list) : NULL;
}

/* 0: the ranks are not at equal distances. */
static guint
stride_of (const GArray *list)
{
  guint stride = list->len > 1 ? g_array_index (list, guint, 1) - g_array_index (list, guint, 0) : 1;

  for (guint i = 2; i < list->len; i++)
    if (g_array_index (list, guint, i) - g_array_index (list, guint, i - 1) != stride)
      return 0;
  return stride;
}

static gboolean
fit (ReplayShape *shape, guint n_world, guint n_ranks, GError **error)
{
  guint64 reach = (guint64) shape->n_ranks * shape->stride;

  if (reach == n_world && n_world != n_ranks && n_ranks % shape->stride == 0) {
    shape->n_ranks = n_ranks / shape->stride;
    reach = n_ranks;
  }
  if (n_ranks % reach == 0)
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "job: the trace has groups of %u ranks that are %u apart, and the %u ranks of this machine "
      "cannot be divided into such groups",
      shape->n_ranks, shape->stride, n_ranks);
}

gboolean
replay_shape (const FabTraceComm *comm, guint rank, guint n_world, guint n_ranks, ReplayShape *shape,
              GError **error)
{
  g_autoptr (GArray) list = read_list (comm->group, n_world);
  guint stride = 1, first = 0, n = comm->n_ranks;

  *shape = (ReplayShape){ .stride = 1 };
  if (list != NULL && n > 0 && list->len != n)
    g_clear_pointer (&list, g_array_unref);
  if (list != NULL) {
    n = list->len;
    stride = stride_of (list);
    first = g_array_index (list, guint, 0);
  } else if (n > 0 && n < n_world) {
    first = rank / n * n;
  }
  if (n == 0 || n >= n_world)
    n = n_world, stride = 1, first = 0;
  if (stride == 0 || (n_world % (n * stride) != 0 && n_world == n_ranks)) {
    if (list == NULL || n_world != n_ranks)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "job: the trace has a group of %u ranks at unequal distances; it can be played on a "
                        "machine with the %u ranks of the trace only, and this one has %u",
                        n, n_world, n_ranks);
    shape->n_ranks = n;
    shape->list = g_steal_pointer (&list);
    return TRUE;
  }
  shape->n_ranks = n;
  shape->stride = stride;
  shape->phase = first / stride % n;
  return fit (shape, n_world, n_ranks, error);
}

void
replay_shape_group (const ReplayShape *shape, guint n_ranks, guint n, guint *ranks)
{
  guint first = n / shape->stride * shape->n_ranks * shape->stride + n % shape->stride
              + shape->phase * shape->stride;

  for (guint i = 0; i < shape->n_ranks; i++)
    ranks[i] = shape->list != NULL ? g_array_index (shape->list, guint, i)
                                   : (first + i * shape->stride) % n_ranks;
  qsort (ranks, shape->n_ranks, sizeof (guint), fab_order_guints);
}
