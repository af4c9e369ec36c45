/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - memory, the queue of work, and what the time of each piece is. */
#include "tests/fake_gpu/machine.h"

#include <string.h>

#define LAUNCH_TIMEOUT 702
#define INVALID_VALUE 1

typedef enum { COPY, RECORD, WAIT_EVENT, WAIT_WORD, COLLECTIVE, KERNEL } WorkKind;

typedef struct {
  WorkKind kind;
  FakeStream *stream;
  double queued_ns;
  FakeCopy copy;
  FakeEvent *event;
  const guint32 *word;
  guint32 value;
  FakeStream *streams[FAKE_MAX_GPUS];
  guint n_streams;
  gsize size;
  double ns;
} Work;

static const struct {
  double start_ns, bytes_per_ns;
} ways[FAKE_N_WAYS] = {
  [FAKE_TO_GPU] = { 1000, 25 }, [FAKE_TO_HOST] = { 1000, 20 }, [FAKE_INSIDE] = { 500, 1000 },
  [FAKE_DIRECT] = { 800, 100 }, [FAKE_STAGED] = { 10000, 10 },
};

static FakeMachine machine;

FakeMachine *
fake_machine (void)
{
  return &machine;
}

gboolean
fake_fails (const char *word)
{
  return g_strcmp0 (g_getenv ("FAKE_GPU_FAIL"), word) == 0;
}

static guint64
number (const char *variable, guint64 fallback)
{
  const char *text = g_getenv (variable);

  return text ? g_ascii_strtoull (text, NULL, 10) : fallback;
}

/* The library is closed by who opened it, and then nothing points to these any more. */
__attribute__ ((destructor)) static void
forget (void)
{
  g_clear_pointer (&machine.work, g_array_unref);
  g_clear_pointer (&machine.blocks, g_ptr_array_unref);
}

void
fake_machine_reset (void)
{
  if (!machine.work) {
    machine.work = g_array_new (FALSE, TRUE, sizeof (Work));
    machine.blocks = g_ptr_array_new ();
  }
  machine.n_gpus = (guint) MIN (number ("FAKE_GPUS", 1), FAKE_MAX_GPUS);
  machine.memory_bytes = number ("FAKE_GPU_MEMORY", G_GUINT64_CONSTANT (80) << 30);
  machine.current = FAKE_MAX_GPUS;
  memset (machine.is_peer, 0, sizeof machine.is_peer);
  for (guint i = 0; i < FAKE_MAX_GPUS; i++)
    machine.defaults[i] = (FakeStream){ .gpu = i, .is_default = TRUE };
}

FakeStream *
fake_stream (CuStream stream)
{
  return stream ? (FakeStream *) stream : &machine.defaults[machine.current];
}

/* --- memory --- */

FakeBlock *
fake_block_find (gconstpointer pointer, gsize size)
{
  const guint8 *start = pointer;

  for (guint i = 0; i < machine.blocks->len; i++) {
    FakeBlock *block = machine.blocks->pdata[i];

    if (start >= block->data && start + size <= block->data + block->size)
      return block;
  }
  return NULL;
}

CuResult
fake_block_new (gsize size, int gpu, void **pointer)
{
  FakeBlock *block;

  if (gpu >= 0 && machine.used_bytes[gpu] + size > machine.memory_bytes)
    return CU_OUT_OF_MEMORY;
  block = g_new0 (FakeBlock, 1);
  *block = (FakeBlock){ .data = g_malloc0 (size), .size = size, .gpu = gpu };
  if (gpu >= 0)
    machine.used_bytes[gpu] += size;
  g_ptr_array_add (machine.blocks, block);
  *pointer = block->data;
  return CU_OK;
}

CuResult
fake_block_free (gconstpointer pointer)
{
  FakeBlock *block = fake_block_find (pointer, 1);

  if (!block || block->data != pointer)
    return INVALID_VALUE;
  if (block->gpu >= 0)
    machine.used_bytes[block->gpu] -= block->size;
  g_ptr_array_remove_fast (machine.blocks, block);
  g_free (block->data);
  g_free (block);
  return CU_OK;
}

int
fake_gpu_live (void)
{
  int n = machine.n_live + (machine.blocks ? (int) machine.blocks->len : 0);

  for (guint i = 0; i < FAKE_MAX_GPUS; i++)
    n += (int) machine.n_retained[i];
  return n;
}

/* --- queue --- */

static void
queue (Work work)
{
  machine.host_ns += FAKE_QUEUE_NS;
  work.queued_ns = machine.host_ns;
  g_array_append_val (machine.work, work);
}

void
fake_queue_copy (const FakeCopy *copy)
{
  queue ((Work){ .kind = COPY, .stream = copy->stream, .copy = *copy });
}

void
fake_queue_record (FakeStream *stream, FakeEvent *event)
{
  queue ((Work){ .kind = RECORD, .stream = stream, .event = event });
}

void
fake_queue_wait_event (FakeStream *stream, FakeEvent *event)
{
  queue ((Work){ .kind = WAIT_EVENT, .stream = stream, .event = event });
}

void
fake_queue_wait_word (FakeStream *stream, const guint32 *word, guint32 value)
{
  queue ((Work){ .kind = WAIT_WORD, .stream = stream, .word = word, .value = value });
}

void
fake_queue_kernel (FakeStream *stream, double ns)
{
  queue ((Work){ .kind = KERNEL, .stream = stream, .ns = ns });
}

void
fake_queue_collective (FakeStream *const *streams, guint n_streams, gsize size)
{
  Work work = { .kind = COLLECTIVE, .stream = streams[0], .n_streams = n_streams, .size = size };

  memcpy (work.streams, streams, n_streams * sizeof *streams);
  queue (work);
}

/* --- running --- */

/* How long a copy takes, and when what it needs is free. */
static double
copy_ns (const FakeCopy *copy)
{
  double bytes_per_ns = copy->back_to ? MIN (ways[FAKE_TO_GPU].bytes_per_ns, ways[FAKE_TO_HOST].bytes_per_ns)
                                      : ways[copy->way].bytes_per_ns;

  if (copy->is_pageable)
    return 5000 + (double) copy->size / 5;
  return (copy->is_kernel ? 3000 : ways[copy->way].start_ns) + (double) copy->size / bytes_per_ns;
}

static void
copy (const Work *work)
{
  const FakeCopy *copy = &work->copy;
  double *free_ns = &machine.free_ns[copy->way][copy->link];
  double *multiprocessors_free_ns = &machine.multiprocessors_free_ns[copy->stream->gpu];
  double begin_ns = MAX (work->stream->now_ns, *free_ns);

  if (copy->is_kernel)
    begin_ns = MAX (begin_ns, *multiprocessors_free_ns);
  memcpy (copy->to, copy->from, copy->size);
  if (copy->back_to)
    memcpy (copy->back_to, copy->back_from, copy->size);
  work->stream->now_ns = *free_ns = begin_ns + copy_ns (copy);
  if (copy->is_kernel)
    *multiprocessors_free_ns = *free_ns;
}

/* What the machine waits for must be there: nobody else would bring it. */
static gboolean
wait_word (const Work *work)
{
  if ((gint32) (*work->word - work->value) < 0)
    return FALSE;
  work->stream->now_ns = MAX (work->stream->now_ns, machine.host_ns);
  return TRUE;
}

static void
collect (const Work *work)
{
  double begin_ns = 0;

  for (guint i = 0; i < work->n_streams; i++)
    begin_ns = MAX (begin_ns, work->streams[i]->now_ns);
  for (guint i = 0; i < work->n_streams; i++)
    work->streams[i]->now_ns = begin_ns + 20000 + (double) work->size / 100;
}

static gboolean
run (const Work *work)
{
  FakeStream *stream = work->stream;

  stream->now_ns = MAX (stream->now_ns, work->queued_ns);
  switch (work->kind) {
  case COPY: copy (work); break;
  case RECORD: work->event->ns = stream->now_ns; break;
  case WAIT_EVENT: stream->now_ns = MAX (stream->now_ns, work->event->ns); break;
  case WAIT_WORD: return wait_word (work);
  case COLLECTIVE: collect (work); break;
  case KERNEL: stream->now_ns += work->ns; break;
  default: g_assert_not_reached ();
  }
  return TRUE;
}

CuResult
fake_run (FakeStream *stream)
{
  gboolean is_ok = TRUE;

  for (guint i = 0; i < machine.work->len; i++)
    is_ok = run (&g_array_index (machine.work, Work, i)) && is_ok;
  g_array_set_size (machine.work, 0);
  machine.host_ns = MAX (machine.host_ns, stream->now_ns);
  if (stream->threads) {
    for (guint i = 0; i < stream->threads->len; i++)
      g_thread_join (stream->threads->pdata[i]);
    g_clear_pointer (&stream->threads, g_ptr_array_unref);
  }
  return is_ok ? CU_OK : LAUNCH_TIMEOUT;
}
