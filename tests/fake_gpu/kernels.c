/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - what the kernels of kernels.cu do, on memory that is the host's, and how the driver starts them. */
#include <string.h>

#include "tests/fake_gpu/machine.h"

#define ILLEGAL_ADDRESS 700
#define INVALID_VALUE 1
#define INVALID_IMAGE 200

typedef struct {
  volatile guint64 *my_flag, *their_flag, *their_payload, *outcome;
  guint64 n_words, base, n_rounds, limit_ns;
  gboolean begins;
} Ping;

static gboolean
wait_for (const Ping *ping, guint64 turn)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64) (ping->limit_ns / 1000);

  while (__atomic_load_n (ping->my_flag, __ATOMIC_ACQUIRE) < turn) {
    if (g_get_monotonic_time () > deadline_us)
      return FALSE;
    g_thread_yield ();
  }
  return TRUE;
}

/* FALSE: the other end did not answer. */
static gboolean
play_turn (const Ping *ping, guint64 turn)
{
  for (guint half = 0; half < 2; half++) {
    if ((half == 0) != ping->begins) {
      if (!wait_for (ping, turn))
        return FALSE;
      continue;
    }
    for (guint64 i = 0; i < ping->n_words; i++)
      ping->their_payload[i] = turn;
    __atomic_store_n (ping->their_flag, turn, __ATOMIC_RELEASE);
  }
  return TRUE;
}

/* The first turn and the last one: flags only rise, so those between are over when the last one is. */
static gpointer
play (gpointer data)
{
  g_autofree Ping *ping = data;
  guint64 first = ping->base + 1, last = first + ping->n_rounds;
  gboolean is_dead = fake_fails ("answer") && ping->n_rounds > 0;
  gboolean is_answered = !is_dead && play_turn (ping, first) && play_turn (ping, last);

  ping->outcome[0] = ping->n_rounds * 2 * (700 + (ping->n_words + 1) * 8 / 50);
  ping->outcome[1] = is_answered ? 1 : 2;
  return NULL;
}

static CuResult
launch_ping (FakeStream *stream, void **arguments)
{
  Ping *ping = g_new0 (Ping, 1);

  ping->my_flag = *(volatile guint64 **) arguments[0];
  ping->their_flag = *(volatile guint64 **) arguments[1];
  ping->their_payload = *(volatile guint64 **) arguments[2];
  ping->n_words = *(guint64 *) arguments[3];
  ping->base = *(guint64 *) arguments[4];
  ping->n_rounds = *(guint64 *) arguments[5];
  ping->limit_ns = *(guint64 *) arguments[6];
  ping->begins = *(guint *) arguments[7] != 0;
  ping->outcome = *(volatile guint64 **) arguments[8];
  if (!fake_block_find ((gpointer) ping->their_payload, ping->n_words * 8)) {
    g_free (ping);
    return ILLEGAL_ADDRESS;
  }
  if (!stream->threads)
    stream->threads = g_ptr_array_new ();
  g_ptr_array_add (stream->threads, g_thread_new ("ping", play, ping));
  return CU_OK;
}

/* A GPU reaches its own memory, the host's, and that of peers which it has enabled. */
static gboolean
reaches (guint gpu, const FakeBlock *block)
{
  return block->gpu < 0 || (guint) block->gpu == gpu || fake_machine ()->is_peer[gpu][block->gpu];
}

static CuResult
launch_copy (FakeStream *stream, void **arguments)
{
  FakeCopy copy = { .stream = stream,
                    .to = *(gpointer *) arguments[0],
                    .from = *(gpointer *) arguments[1],
                    .size = *(guint64 *) arguments[2],
                    .way = FAKE_INSIDE,
                    .link = stream->gpu,
                    .is_kernel = TRUE };
  const FakeBlock *to = fake_block_find (copy.to, copy.size), *from = fake_block_find (copy.from, copy.size);

  if (!to || !from || !reaches (stream->gpu, to) || !reaches (stream->gpu, from))
    return ILLEGAL_ADDRESS;
  if (to->gpu < 0 || from->gpu < 0) {
    copy.way = to->gpu < 0 ? FAKE_TO_HOST : FAKE_TO_GPU;
    copy.link /= 2;
  } else if (to->gpu != from->gpu) {
    copy.way = FAKE_DIRECT;
    copy.link = (guint) from->gpu;
  }
  fake_queue_copy (&copy);
  return CU_OK;
}

/* From the host to the GPU, and at the same time from the GPU to the host. */
static CuResult
launch_both (FakeStream *stream, void **arguments)
{
  FakeCopy copy = { .stream = stream,
                    .to = *(gpointer *) arguments[0],
                    .from = *(gpointer *) arguments[1],
                    .back_to = *(gpointer *) arguments[2],
                    .back_from = *(gpointer *) arguments[3],
                    .size = *(guint64 *) arguments[4],
                    .way = FAKE_TO_GPU,
                    .link = stream->gpu / 2,
                    .is_kernel = TRUE };
  gconstpointer ends[] = { copy.to, copy.from, copy.back_to, copy.back_from };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    const FakeBlock *block = fake_block_find (ends[i], copy.size);

    if (!block || !reaches (stream->gpu, block))
      return ILLEGAL_ADDRESS;
  }
  fake_queue_copy (&copy);
  return CU_OK;
}

/* Kernels of `measure compute`: n words of 16 bytes each, `per_word` times read or written. */
static CuResult
launch_words (FakeStream *stream, guint64 n_words, guint per_word, gpointer to, gpointer from)
{
  if (!fake_block_find (to, n_words * 16) || !fake_block_find (from, n_words * 16 * (per_word - 1)))
    return ILLEGAL_ADDRESS;
  fake_queue_kernel (stream, 3000 + (double) n_words * 16 * per_word / 2000);
  return CU_OK;
}

static CuResult
launch_compute (const char *kernel, FakeStream *stream, guint n_blocks, void **arguments)
{
  if (strcmp (kernel, "fab_empty") == 0) {
    fake_queue_kernel (stream, 1500);
    return arguments ? INVALID_VALUE : CU_OK;
  }
  if (strcmp (kernel, "fab_copy_words") == 0)
    return launch_words (stream, *(guint64 *) arguments[2], 2, *(gpointer *) arguments[0],
                         *(gpointer *) arguments[1]);
  if (strcmp (kernel, "fab_add_words") == 0)
    return launch_words (stream, *(guint64 *) arguments[3], 3, *(gpointer *) arguments[0],
                         *(gpointer *) arguments[1]);
  if (strcmp (kernel, "fab_norm_rows") == 0)
    return launch_words (stream, (guint64) n_blocks * *(guint32 *) arguments[2], 2,
                         *(gpointer *) arguments[0], *(gpointer *) arguments[1]);
  return INVALID_VALUE;
}

static CuResult
launch_named (const char *kernel, FakeStream *stream, guint n_blocks, void **arguments)
{
  if (strcmp (kernel, "fab_copy") == 0)
    return launch_copy (stream, arguments);
  if (strcmp (kernel, "fab_copy_both") == 0)
    return launch_both (stream, arguments);
  if (strcmp (kernel, "fab_ping") == 0)
    return launch_ping (stream, arguments);
  if (strcmp (kernel, "fab_hold") == 0) {
    fake_queue_wait_word (stream, *(const guint32 **) arguments[0], *(guint *) arguments[1]);
    return CU_OK;
  }
  return launch_compute (kernel, stream, n_blocks, arguments);
}

/* --- the driver's functions --- */

CuResult
cuModuleLoadData (CuModule *module, const void *image)
{
  if (fake_fails ("binary") || !image)
    return fake_fails ("binary") ? CU_NO_BINARY : INVALID_IMAGE;
  *module = (CuModule) fake_machine ();
  fake_machine ()->n_live++;
  return CU_OK;
}

CuResult
cuModuleUnload (G_GNUC_UNUSED CuModule module)
{
  fake_machine ()->n_live--;
  return CU_OK;
}

CuResult
cuModuleGetFunction (CuFunction *function, G_GNUC_UNUSED CuModule module, const char *name)
{
  *function = (CuFunction) (gpointer) name;
  return g_str_has_prefix (name, "fab_") ? CU_OK : 500;
}

CuResult
cuLaunchKernel (CuFunction function, guint grid_x, guint grid_y, guint grid_z, guint block_x, guint block_y,
                guint block_z, guint shared_bytes, CuStream stream, void **params, void **extra)
{
  if (grid_x == 0 || grid_y * grid_z * block_y * block_z != 1 || block_x == 0 || block_x > 1024
      || shared_bytes || extra)
    return INVALID_VALUE;
  return launch_named ((const char *) function, fake_stream (stream), grid_x, params);
}
