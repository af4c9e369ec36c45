/* SPDX-License-Identifier: Apache-2.0 */
/* test_programs.c - the program of a rank, as every framework issues it: its streams, and what each task waits for.
 *
 * Two blocks of 256 numbers for a token, and a vocabulary of 1024. A block has a norm (256), the input of attention (3
 * x 256^2), its output (256^2), a norm, and two matrices of 4 x 256^2: 786 944 parameters. The embedding and the head
 * have 262 144 each, and the last norm 256: 2 098 432 in all. Operators of a block are numbered: norm .0, input .1,
 * output .2, norm .3, matrices .4 and .5. A sequence has 16 tokens, 8192 B between blocks in BF16.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/unit/models/workload/training/program_text.h"

#define HEAD                                                                                               \
  "name: programs\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                         \
  "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"                                               \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, " \
  "hidden: 256, heads: 4, vocabulary: 1024, tied: false, biases: false%s}}]\n"                             \
  "job: {model: m, micro_batch: 1, sequence: 16, clip_gradients: false, %s}\n"

static FabCatalog *catalog;

/* (transfer full) */
static char *
program (guint gpus, const char *shape, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, shape, keys);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return program_text (fab_simulation_dag (play->simulation));
}

static const struct {
  guint gpus;
  const char *shape, *keys, *program;
} rows[] = {
  /* Buckets of 1 MiB of gradients in FP32 close at the tensor that fills them, last layers first. Their sums run beside
   * the rest of the backward pass. */
  { 2, "", "kind: ddp, bucket: 1MiB",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, optimizer < bucket0 < bucket1 < bucket2 < bucket3 < bucket4 < "
    "bucket5 < bucket6 < bucket7\n"
    "0 comm: bucket0 all_reduce 1048576 < B head.1, bucket1 all_reduce 1049600 < B block1.5, bucket2 "
    "all_reduce 1048576 < B block1.4, bucket3 all_reduce 1049600 < B block1.1, bucket4 all_reduce "
    "1049600 < B block0.5, bucket5 all_reduce 1048576 < B block0.4, bucket6 all_reduce 1049600 < B "
    "block0.1, bucket7 all_reduce 1049600 < B embedding.0" },
  /* Without overlap nothing is summed before all is computed; the first micro-batch sums nothing (no_sync). */
  { 2, "", "kind: ddp, accumulation: 2, overlap: false",
    "0 compute: F embedding, F block0, F block1, F head, B head, B block1, B block0, B embedding, F "
    "embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B "
    "block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B "
    "block0.0, B embedding.0, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 1048576 < B embedding.0, bucket1 all_reduce 7345152 < B embedding.0" },
  /* All gradients in one bucket, updated shards, which are gathered for the next step. */
  { 2, "", "kind: zero, stage: 1",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, optimizer < bucket0, updated < parameters0\n"
    "0 comm: bucket0 all_reduce 4196864 < B embedding.0, parameters0 all_gather 4196864 < optimizer" },
  /* A bucket is sent when the next tensor does not fit into 500 000 numbers, with what it has. */
  { 2, "", "kind: zero, stage: 2, overlap_comm: yes, reduce_bucket: 500000",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, optimizer < bucket0 < bucket1 < bucket2 < bucket3 < bucket4 < "
    "bucket5, updated < parameters0\n"
    "0 comm: bucket0 all_reduce 524800 < B block1.5, bucket1 all_reduce 524288 < B block1.4, bucket2 "
    "all_reduce 655872 < B block1.1, bucket3 all_reduce 918016 < B block0.4, bucket4 all_reduce 655872 < "
    "B block0.1, bucket5 all_reduce 918016 < B embedding.0, parameters0 all_gather 4196864 < optimizer" },
  /* A rank's half of the gradients goes to its host, whose processors update them, and comes back. */
  { 2, "", "kind: zero, stage: 2, offload: {optimizer: cpu}",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, gradients < bucket0 < gradients, optimizer < cpu optimizer < "
    "parameters, updated < parameters0\n"
    "0 comm: bucket0 all_reduce 4196864 < B embedding.0, parameters0 all_gather 4196864 < optimizer\n"
    "0 copy out: gradients send_recv 2098432 < bucket0\n"
    "0 cpu: cpu optimizer < gradients\n"
    "0 copy in: parameters send_recv 2098432 < cpu optimizer" },
  /* Two units are whole: the gather for the backward pass of block1 waits for the forward pass of block0. */
  { 2, "", "kind: fsdp",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, optimizer < block1 < "
    "block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888 < F block0, block0 all_gather 1573888 < F block1, block1 reduce_scatter 1573888 "
    "< block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in" },
  /* The next unit is asked for after the backward pass of the one before it, and before its gradients. */
  { 2, "", "kind: fsdp, backward_prefetch: post",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, optimizer < block1 < "
    "block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888 < B head, block0 all_gather 1573888 < B block1, block1 reduce_scatter 1573888 < "
    "block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in" },
  /* Nothing is gathered ahead; each unit is asked for after the gradients of the one before. */
  { 2, "", "kind: fsdp, backward_prefetch: none, in_flight: 1",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, optimizer < block1 < "
    "block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888 < F block0, "
    "block1 all_gather 1573888 < B head, block1 reduce_scatter 1573888 < block1.copy_in, block0 "
    "all_gather 1573888 < block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root "
    "reduce_scatter 1049088 < root.copy_in" },
  /* Three units are whole, and blocks run again before their backward pass. */
  { 2, "", "kind: fsdp, in_flight: 3, recompute: full",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1.recompute, B block1, "
    "block1.copy_in, block0.copy_out < block0, B block0.recompute, B block0, block0.copy_in, B "
    "embedding, root.copy_in, optimizer < block1 < block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888, block0 all_gather 1573888 < F block0, block1 reduce_scatter 1573888 < "
    "block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in" },
  /* Units stay whole until the end of the step, and only the last micro-batch is reduced. */
  { 2, "", "kind: fsdp, sharding: grad_op, accumulation: 2, no_sync: true",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, B block1, B block0, B embedding, F embedding, F block0, F block1, "
    "F head, B head, B block1, block1.copy_in, B block0, block0.copy_in, B embedding, root.copy_in, "
    "optimizer < block1 < block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "reduce_scatter 1573888 < block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root "
    "reduce_scatter 1049088 < root.copy_in" },
  /* Each shard is copied to the GPU before its gather, and its gradients back after their reduction. */
  { 2, "", "kind: fsdp, cpu_offload: true",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, gradients < block1 < "
    "block1 < block0 < block0 < root < root, optimizer < cpu optimizer\n"
    "0 comm: root all_gather 1049088 < root, block0 all_gather 1573888 < block0, block1 all_gather "
    "1573888 < block1, block1 all_gather 1573888 < block1, block0 all_gather 1573888 < block0, block1 "
    "reduce_scatter 1573888 < block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root "
    "reduce_scatter 1049088 < root.copy_in\n"
    "0 copy in: root send_recv 524544, block0 send_recv 786944, block1 send_recv 786944, block1 "
    "send_recv 786944 < F block0, block0 send_recv 786944 < F block1\n"
    "0 copy out: block1 send_recv 786944 < block1, block0 send_recv 786944 < block0, root send_recv "
    "524544 < root\n"
    "0 cpu: cpu optimizer < gradients" },
  /* Two shards: halves of the gradients are summed over the two groups. */
  { 4, "", "kind: fsdp, sharding: hybrid, shard: 2",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, optimizer < block1 < "
    "block1 < block0 < block0 < root < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888 < F block0, block0 all_gather 1573888 < F block1, block1 reduce_scatter 1573888 "
    "< block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in\n"
    "0 replica: block1 all_reduce 786944 < block1, block0 all_reduce 786944 < block0, root all_reduce "
    "524544 < root" },
  /* Buckets of at least a million numbers; parameters of the first bucket to be used are gathered first. */
  { 2, "",
    "kind: megatron, distributed_optimizer: true, overlap_grad_reduce: true, overlap_param_gather: "
    "true, bucket: 1000000",
    "0 compute: begin, F embedding < parameters0, F block0, F block1 < parameters1, F head, B head.1, B "
    "head.0, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B "
    "block0.4, B block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0 < "
    "bucket1\n"
    "0 comm: parameters0 all_gather 2098688 < begin, parameters1 all_gather 2098176 < begin, bucket0 "
    "reduce_scatter 4196352 < B block1.1, bucket1 reduce_scatter 4197376 < B embedding.0" },
  /* Keys and values of the other half of the sequence come beside attention; backward brings gradients of both. */
  { 2, "", "kind: megatron, parallel: {context: 2}",
    "0 compute: F embedding, F block0.attention.start, F block0.attention.round1, F block0.attention < "
    "block0.attention, F block0.mlp, F block1.attention.start, F block1.attention.round1, F "
    "block1.attention < block1.attention, F block1.mlp, F head, B head.1, B head.0, B block1.5, B "
    "block1.4, B block1.3, B block1.2, B block1.1.start, B block1.1.round1, B block1.1.round2 < "
    "block1.attention, B block1.1 < block1.attention, B block1.0, B block0.5, B block0.4, B block0.3, B "
    "block0.2, B block0.1.start, B block0.1.round1, B block0.1.round2 < block0.attention, B block0.1 < "
    "block0.attention, B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8393728 < B embedding.0\n"
    "0 context: block0.attention send_recv 8192 < F block0.attention.start, block1.attention send_recv "
    "8192 < F block1.attention.start, block1.attention send_recv 8192 < B block1.1.start, "
    "block1.attention send_recv 8192 < B block1.1.round1, block0.attention send_recv 8192 < B "
    "block0.1.start, block0.attention send_recv 8192 < B block0.1.round1" },
  /* Four ranks: forward, keys and values come three times, each beside a round; backward, gradients follow them. */
  { 4, "", "kind: megatron, parallel: {context: 4}",
    "0 compute: F embedding, F block0.attention.start, F block0.attention.round1, F "
    "block0.attention.round2 < block0.attention, F block0.attention.round3 < block0.attention, F "
    "block0.attention < block0.attention, F block0.mlp, F block1.attention.start, F "
    "block1.attention.round1, F block1.attention.round2 < block1.attention, F block1.attention.round3 < "
    "block1.attention, F block1.attention < block1.attention, F block1.mlp, F head, B head.1, B head.0, B "
    "block1.5, B block1.4, B block1.3, B block1.2, B block1.1.start, B block1.1.round1, B block1.1.round2 "
    "< block1.attention, B block1.1.round3 < block1.attention, B block1.1.round4 < block1.attention, B "
    "block1.1 < block1.attention, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1.start, B block0.1.round1, B block0.1.round2 < block0.attention, B block0.1.round3 < "
    "block0.attention, B block0.1.round4 < block0.attention, B block0.1 < block0.attention, B block0.0, B "
    "embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8393728 < B embedding.0\n"
    "0 context: block0.attention send_recv 4096 < F block0.attention.start, block0.attention send_recv "
    "4096 < F block0.attention.start, block0.attention send_recv 4096 < F block0.attention.round1, "
    "block1.attention send_recv 4096 < F block1.attention.start, block1.attention send_recv 4096 < F "
    "block1.attention.start, block1.attention send_recv 4096 < F block1.attention.round1, "
    "block1.attention send_recv 4096 < B block1.1.start, block1.attention send_recv 8192 < B "
    "block1.1.round1, block1.attention send_recv 8192 < B block1.1.round2, block1.attention send_recv "
    "4096 < B block1.1.round3, block0.attention send_recv 4096 < B block0.1.start, block0.attention "
    "send_recv 8192 < B block0.1.round1, block0.attention send_recv 8192 < B block0.1.round2, "
    "block0.attention send_recv 4096 < B block0.1.round3" },
  /* Two all-reduces of activations for a block and pass; in the backward pass beside the gradients of weights. */
  { 2, "", "kind: megatron, parallel: {tensor: 2}",
    "0 compute: F embedding, F block0.attention < embedding.embedding, F block0.mlp < block0.attention, F "
    "block1.attention < block0.mlp, F block1.mlp < block1.attention, F head < block1.mlp, B head.1, B "
    "head.0, B head.weights, B block1.5 < head.head, B block1.4, B block1.3, B block1.mlp.weights, B "
    "block1.2 < block1.mlp, B block1.1, B block1.0, B block1.attention.weights, B block0.5 < "
    "block1.attention, B block0.4, B block0.3, B block0.mlp.weights, B block0.2 < block0.mlp, B block0.1, "
    "B block0.0, B block0.attention.weights, B embedding.0 < block0.attention, optimizer\n"
    "0 tensor: embedding.embedding all_reduce 8192 < F embedding, block0.attention all_reduce 8192 < F "
    "block0.attention, block0.mlp all_reduce 8192 < F block0.mlp, block1.attention all_reduce 8192 < F "
    "block1.attention, block1.mlp all_reduce 8192 < F block1.mlp, head.head all_reduce 8192 < B head.0, "
    "block1.mlp all_reduce 8192 < B block1.3, block1.attention all_reduce 8192 < B block1.0, block0.mlp "
    "all_reduce 8192 < B block0.3, block0.attention all_reduce 8192 < B block0.0" },
  /* Each is a reduce-scatter and a gather; the backward pass gathers inputs again for the gradients of weights. */
  { 2, "", "kind: megatron, parallel: {tensor: 2, sequence: true}",
    "0 compute: F embedding, F block0.attention < embedding.embedding < block0.attention, F block0.mlp < "
    "block0.attention < block0.mlp, F block1.attention < block0.mlp < block1.attention, F block1.mlp < "
    "block1.attention < block1.mlp, F head < block1.mlp < head.head, B head.1, B head.0, B head.weights < "
    "head.head, B block1.mlp.before < head.head < block1.mlp, B block1.5, B block1.4, B block1.3, B "
    "block1.mlp.weights < block1.mlp, B block1.attention.before < block1.mlp < block1.attention, B "
    "block1.2, B block1.1, B block1.0, B block1.attention.weights < block1.attention, B block0.mlp.before "
    "< block1.attention < block0.mlp, B block0.5, B block0.4, B block0.3, B block0.mlp.weights < "
    "block0.mlp, B block0.attention.before < block0.mlp < block0.attention, B block0.2, B block0.1, B "
    "block0.0, B block0.attention.weights < block0.attention, B embedding.0 < block0.attention < "
    "embedding.embedding, optimizer\n"
    "0 tensor: embedding.embedding reduce_scatter 8192 < F embedding, block0.attention all_gather 8192 < "
    "F embedding, block0.attention reduce_scatter 8192 < F block0.attention, block0.mlp all_gather 8192 < "
    "F block0.attention, block0.mlp reduce_scatter 8192 < F block0.mlp, block1.attention all_gather 8192 "
    "< F block0.mlp, block1.attention reduce_scatter 8192 < F block1.attention, block1.mlp all_gather "
    "8192 < F block1.attention, block1.mlp reduce_scatter 8192 < F block1.mlp, head.head all_gather 8192 "
    "< F block1.mlp, head.head all_gather 8192 < F head, head.head reduce_scatter 8192 < B head.0, "
    "block1.mlp all_gather 8192 < B head.weights, block1.mlp all_gather 8192 < B block1.mlp.before, "
    "block1.mlp reduce_scatter 8192 < B block1.3, block1.attention all_gather 8192 < B "
    "block1.mlp.weights, block1.attention all_gather 8192 < B block1.attention.before, block1.attention "
    "reduce_scatter 8192 < B block1.0, block0.mlp all_gather 8192 < B block1.attention.weights, "
    "block0.mlp all_gather 8192 < B block0.mlp.before, block0.mlp reduce_scatter 8192 < B block0.3, "
    "block0.attention all_gather 8192 < B block0.mlp.weights, block0.attention all_gather 8192 < B "
    "block0.attention.before, block0.attention reduce_scatter 8192 < B block0.0, embedding.embedding "
    "all_gather 8192 < B block0.attention.weights" },
  /* 1F1B: the first stage has one more micro-batch under way than the last one. */
  { 2, "", "kind: ddp, accumulation: 2, parallel: {pipeline: 2}",
    "0 compute: F embedding, F block0, F embedding < activation0.0, F block0, B block0 < activation0.1 < "
    "gradient0.0, B embedding, B block0.5 < gradient0.1, B block0.4, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding.0, optimizer\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding\n"
    "1 compute: F block1 < activation0.0, F head, B head, B block1, F block1 < gradient0.0 < "
    "activation0.1, F head, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B "
    "block1.1, B block1.0, optimizer < gradient0.1\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < B block1\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1.0" },
  /* All forward passes come first. */
  { 2, "", "kind: ddp, accumulation: 2, parallel: {pipeline: 2, schedule: gpipe}",
    "0 compute: F embedding, F block0, F embedding < activation0.0, F block0, B block0 < activation0.1 < "
    "gradient0.0, B embedding, B block0.5 < gradient0.1, B block0.4, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding.0, optimizer\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding\n"
    "1 compute: F block1 < activation0.0, F head, F block1 < activation0.1, F head, B head, B block1, B "
    "head.1 < gradient0.0, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B "
    "block1.0, optimizer < gradient0.1\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < F head\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1.0" },
  /* Gradients of weights come after those of inputs of all micro-batches. */
  { 2, "", "kind: ddp, accumulation: 2, parallel: {pipeline: 2, schedule: zero_bubble}",
    "0 compute: F embedding, F block0, F embedding, F block0, B block0 < gradient0.0, B embedding, B "
    "block0, B embedding, B block0 < gradient0.1, B embedding, B block0.5, B block0.4, B block0.3, B "
    "block0.2, B block0.1, B block0.0, B embedding.0, optimizer\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding\n"
    "1 compute: F block1 < activation0.0, F head, B head, B block1, F block1 < activation0.1, F head, B "
    "head, B block1, B head, B block1, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B "
    "block1.2, B block1.1, B block1.0, optimizer\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < F head\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1" },
  /* Each stage reduces its own part: with embedding or head and norm. */
  { 4, "", "kind: megatron, distributed_optimizer: true, accumulation: 2, parallel: {pipeline: 2}",
    "0 compute: F embedding, F block0, F embedding < activation0.0, F block0, B block0 < activation0.1 < "
    "gradient0.0, B embedding, B block0.5 < gradient0.1, B block0.4, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding.0, optimizer < bucket0, updated < parameters0\n"
    "0 comm: bucket0 reduce_scatter 4196352 < B embedding.0, parameters0 all_gather 2098176 < optimizer\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding\n"
    "1 compute: F block1 < activation0.0, F head, B head, B block1, F block1 < gradient0.0 < "
    "activation0.1, F head, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B "
    "block1.1, B block1.0, optimizer < gradient0.1 < bucket0, updated < parameters0\n"
    "1 comm: bucket0 reduce_scatter 4197376 < B block1.0 < gradient0.1, parameters0 all_gather 2098688 < "
    "optimizer\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < B block1\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1.0" },
  /* Tokens go to the experts and back, in both passes. The gradients of experts are on one rank each; routers and the
   * shared experts are summed: 2 x 1024 numbers more, and as many shared matrices as a block without experts has. */
  { 2, ", experts: {count: 4, per_token: 1, shared: 1}", "kind: megatron, parallel: {expert: 2}",
    "0 compute: F embedding, F block0.attention, F block0.experts < block0.experts, F block1.attention < "
    "block0.experts, F block1.experts < block1.experts, F head < block1.experts, B head.1, B head.0, B "
    "block1.8 < block1.experts, B block1.7, B block1.6 < block1.experts, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.8 < block0.experts, B block0.7, B block0.6 < "
    "block0.experts, B block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B block0.0, B "
    "embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8401920 < B embedding.0\n"
    "0 expert: block0.experts all_to_all 8192 < F block0.attention, block0.experts all_to_all 8192 < F "
    "block0.experts, block1.experts all_to_all 8192 < F block1.attention, block1.experts all_to_all 8192 "
    "< F block1.experts, block1.experts all_to_all 8192 < B head.0, block1.experts all_to_all 8192 < B "
    "block1.7, block0.experts all_to_all 8192 < B block1.0, block0.experts all_to_all 8192 < B block0.7" },
  /* The shared experts compute during the dispatch, and while gradients come back. */
  { 2, ", experts: {count: 4, per_token: 1, shared: 1}",
    "kind: megatron, parallel: {expert: 2, moe: {overlap: shared}}",
    "0 compute: F embedding, F block0.attention, F block0.shared, F block0.experts < block0.experts, F "
    "block1.attention < block0.experts, F block1.shared, F block1.experts < block1.experts, F head < "
    "block1.experts, B head.1, B head.0, B block1.8 < block1.experts, B block1.7, B block1.6, B "
    "block1.5, B block1.4 < block1.experts, B block1.3, B block1.2, B block1.1, B block1.0, B block0.8 < "
    "block0.experts, B block0.7, B block0.6, B block0.5, B block0.4 < block0.experts, B block0.3, B "
    "block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8401920 < B embedding.0\n"
    "0 expert: block0.experts all_to_all 8192 < F block0.attention, block0.experts all_to_all 8192 < F "
    "block0.experts, block1.experts all_to_all 8192 < F block1.attention, block1.experts all_to_all 8192 "
    "< F block1.experts, block1.experts all_to_all 8192 < B head.0, block1.experts all_to_all 8192 < B "
    "block1.7, block0.experts all_to_all 8192 < B block1.0, block0.experts all_to_all 8192 < B block0.7" },
  /* Tokens of both ranks are gathered, and results scattered. */
  { 2, ", experts: {count: 4, per_token: 1}", "kind: ddp, parallel: {expert: 2, moe: {dispatch: allgather}}",
    "0 compute: F embedding, F block0.attention, F block0.experts < block0.experts, F block1.attention < "
    "block0.experts, F block1.experts < block1.experts, F head < block1.experts, B head.1, B head.0, B "
    "block1.6 < block1.experts, B block1.5, B block1.4 < block1.experts, B block1.3, B block1.2, B "
    "block1.1, B block1.0, B block0.6 < block0.experts, B block0.5, B block0.4 < block0.experts, B "
    "block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 1048576 < B head.1, bucket1 all_reduce 3159040 < B embedding.0\n"
    "0 expert: block0.experts all_gather 16384 < F block0.attention, block0.experts reduce_scatter 16384 "
    "< F block0.experts, block1.experts all_gather 16384 < F block1.attention, block1.experts "
    "reduce_scatter 16384 < F block1.experts, block1.experts all_gather 16384 < B head.0, block1.experts "
    "reduce_scatter 16384 < B block1.5, block0.experts all_gather 16384 < B block1.0, block0.experts "
    "reduce_scatter 16384 < B block0.5" },
  /* Tensor and expert parallel together. */
  { 4, ", experts: {count: 4, per_token: 2}",
    "kind: megatron, parallel: {tensor: 2, expert: 2, sequence: true}",
    "0 compute: F embedding, F block0.attention < embedding.embedding < block0.attention, F block0.router "
    "< block0.attention, F block0.experts < block0.experts < block0.experts, F block1.attention < "
    "block0.experts < block0.experts < block1.attention, F block1.router < block1.attention, F "
    "block1.experts < block1.experts < block1.experts, F head < block1.experts < block1.experts < "
    "head.head, B head.1, B head.0, B head.weights < head.head, B block1.6 < head.head < block1.experts < "
    "block1.experts, B block1.5, B block1.4 < block1.experts < block1.experts, B block1.3, B "
    "block1.attention.before < block1.attention, B block1.2, B block1.1, B block1.0, B "
    "block1.attention.weights < block1.attention, B block0.6 < block1.attention < block0.experts < "
    "block0.experts, B block0.5, B block0.4 < block0.experts < block0.experts, B block0.3, B "
    "block0.attention.before < block0.attention, B block0.2, B block0.1, B block0.0, B "
    "block0.attention.weights < block0.attention, B embedding.0 < block0.attention < embedding.embedding, "
    "optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 2110464 < B embedding.0\n"
    "0 tensor: embedding.embedding reduce_scatter 8192 < F embedding, block0.attention all_gather 8192 < "
    "F embedding, block0.attention reduce_scatter 8192 < F block0.attention, block0.experts all_gather "
    "16384 < F block0.router < block0.experts, block0.experts reduce_scatter 16384 < F block0.experts, "
    "block1.attention all_gather 8192 < F block0.experts < block0.experts, block1.attention "
    "reduce_scatter 8192 < F block1.attention, block1.experts all_gather 16384 < F block1.router < "
    "block1.experts, block1.experts reduce_scatter 16384 < F block1.experts, head.head all_gather 8192 < "
    "F block1.experts < block1.experts, head.head all_gather 8192 < F head, head.head reduce_scatter 8192 "
    "< B head.0, block1.experts all_gather 16384 < B head.weights < block1.experts, block1.experts "
    "reduce_scatter 16384 < B block1.5, block1.attention all_gather 8192 < B block1.3, block1.attention "
    "all_gather 8192 < B block1.attention.before, block1.attention reduce_scatter 8192 < B block1.0, "
    "block0.experts all_gather 16384 < B block1.attention.weights < block0.experts, block0.experts "
    "reduce_scatter 16384 < B block0.5, block0.attention all_gather 8192 < B block0.3, block0.attention "
    "all_gather 8192 < B block0.attention.before, block0.attention reduce_scatter 8192 < B block0.0, "
    "embedding.embedding all_gather 8192 < B block0.attention.weights\n"
    "0 expert: block0.experts all_to_all 8192 < F block0.router, block0.experts all_to_all 8192 < F "
    "block0.experts < block0.experts, block1.experts all_to_all 8192 < F block1.router, block1.experts "
    "all_to_all 8192 < F block1.experts < block1.experts, block1.experts all_to_all 8192 < head.head < B "
    "head.weights, block1.experts all_to_all 8192 < B block1.5 < block1.experts, block0.experts "
    "all_to_all 8192 < block1.attention < B block1.attention.weights, block0.experts all_to_all 8192 < B "
    "block0.5 < block0.experts" },
  /* Updated shards come back in pieces of a million numbers. */
  { 2, "", "kind: zero, stage: 1, allgather_bucket: 1000000",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, optimizer < bucket0, updated < parameters0 < parameters1 < "
    "parameters2\n"
    "0 comm: bucket0 all_reduce 4196864 < B embedding.0, parameters0 all_gather 2000000 < optimizer, "
    "parameters1 all_gather 2000000 < optimizer, parameters2 all_gather 196864 < optimizer" },
  /* Experts have a piece of their own: 2 x 2 matrices of 4 x 256^2 of the two experts of a rank, over two ranks. */
  { 4, ", experts: {count: 4, per_token: 1}",
    "kind: zero, stage: 2, parallel: {expert: 2}, allgather_bucket: 1500000",
    "0 compute: F embedding, F block0.attention, F block0.experts < block0.experts, F block1.attention < "
    "block0.experts, F block1.experts < block1.experts, F head < block1.experts, B head.1, B head.0, B "
    "block1.6 < block1.experts, B block1.5, B block1.4 < block1.experts, B block1.3, B block1.2, B "
    "block1.1, B block1.0, B block0.6 < block0.experts, B block0.5, B block0.4 < block0.experts, B "
    "block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0 < experts0, "
    "updated < parameters0 < experts0 < experts1\n"
    "0 comm: bucket0 all_reduce 2103808 < B embedding.0, parameters0 all_gather 2103808 < optimizer\n"
    "0 expert: block0.experts all_to_all 8192 < F block0.attention, block0.experts all_to_all 8192 < F "
    "block0.experts, block1.experts all_to_all 8192 < F block1.attention, block1.experts all_to_all 8192 "
    "< F block1.experts, block1.experts all_to_all 8192 < B head.0, block1.experts all_to_all 8192 < B "
    "block1.5, block0.experts all_to_all 8192 < B block1.0, block0.experts all_to_all 8192 < B block0.5\n"
    "0 expert data: experts0 all_reduce 4194304 < B embedding.0, experts0 all_gather 3000000 < "
    "optimizer, experts1 all_gather 1194304 < optimizer" },
  /* Norms stay whole. 500 000 numbers and the tensor that exceeds them are gathered ahead. */
  { 2, "",
    "kind: zero, stage: 3, persistence_threshold: 1000, max_reuse_distance: 0, prefetch_overlap: "
    "true, prefetch_bucket: 500000",
    "0 compute: F embedding.0 < parameters0, F block0.1 < parameters1, F block0.2 < parameters1, F "
    "block0.4 < parameters1, F block0.5 < parameters2, F block1.1 < parameters2, F block1.2 < "
    "parameters2, F block1.4 < parameters3, F block1.5 < parameters3, F head.1 < parameters4, B head.1, "
    "B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B "
    "block0.4 < parameters5, B block0.3, B block0.2 < parameters5, B block0.1 < parameters5, B block0.0, "
    "B embedding.0 < parameters6, optimizer < bucket0, updated < persistent\n"
    "0 comm: bucket0 reduce_scatter 4196864 < B embedding.0, persistent all_gather 2560 < optimizer\n"
    "0 gather: parameters0 all_gather 524288, parameters1 all_gather 1048576, parameters2 all_gather "
    "1048576 < F embedding.0, parameters3 all_gather 1048576 < F block0.1, parameters4 all_gather 524288 "
    "< F block0.2, parameters5 all_gather 1048576 < F block0.4, parameters6 all_gather 524288 < F "
    "block0.5" },
  /* A single rank has nothing to gather, and no buffer to copy into. */
  { 1, "", "kind: fsdp",
    "0 compute: F embedding, F block0, F block1, F head, B head, B block1, B block0, B embedding, "
    "optimizer" },
  /* FSDP1 has views of flat parameters: it copies gradients alone. */
  { 2, "", "kind: fsdp, software: {pytorch: '2.5'}",
    "0 compute: F embedding < root, F block0 < block0, F block1 < block1, F head, B head, B block1 < "
    "block1, block1.copy_in, B block0 < block0, block0.copy_in, B embedding, root.copy_in, optimizer < "
    "block1 < block0 < root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888 < F block0, block0 all_gather 1573888 < F block1, block1 reduce_scatter 1573888 "
    "< block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in" },
  /* Each micro-batch reduces, and the next one begins when that has ended. Its first units are gathered while this one
   * ends, two at a time. */
  { 2, "", "kind: fsdp, accumulation: 2",
    "0 compute: root.copy_out < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, block0.copy_in, B embedding, root.copy_in, root.copy_out < "
    "block1 < block0 < root < root, F embedding, block0.copy_out < block0, F block0, block1.copy_out < "
    "block1, F block1, F head, B head, block1.copy_out < block1, B block1, block1.copy_in, "
    "block0.copy_out < block0, B block0, "
    "block0.copy_in, B embedding, root.copy_in, optimizer < block1 < block0 < "
    "root\n"
    "0 comm: root all_gather 1049088, block0 all_gather 1573888, block1 all_gather 1573888, block1 "
    "all_gather 1573888 < F block0, block0 all_gather 1573888 < F block1, block1 reduce_scatter 1573888 "
    "< block1.copy_in, block0 reduce_scatter 1573888 < block0.copy_in, root reduce_scatter 1049088 < "
    "root.copy_in, root all_gather 1049088 < B block1, block0 all_gather 1573888 < B block1, block1 "
    "all_gather 1573888 < B block0, block1 all_gather 1573888 < F block0, block0 all_gather 1573888 < F "
    "block1, block1 reduce_scatter 1573888 < block1.copy_in, block0 reduce_scatter 1573888 < "
    "block0.copy_in, root reduce_scatter 1049088 < root.copy_in" },
  /* Only the first stage has buckets: two matrices are 524 288 numbers. The others sum once. */
  { 4, "",
    "kind: megatron, overlap_grad_reduce: true, bucket: 500000, accumulation: 2, parallel: "
    "{pipeline: 2}",
    "0 compute: F embedding, F block0, F embedding < activation0.0, F block0, B block0 < activation0.1 < "
    "gradient0.0, B embedding, B block0.5 < gradient0.1, B block0.4, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding.0, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 2097152 < B block0.4, bucket1 all_reduce 2099200 < B embedding.0\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding\n"
    "1 compute: F block1 < activation0.0, F head, B head, B block1, F block1 < gradient0.0 < "
    "activation0.1, F head, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B "
    "block1.1, B block1.0, optimizer < bucket0 < gradient0.1\n"
    "1 comm: bucket0 all_reduce 4197376 < B block1.0\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < B block1\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1.0" },
  /* Sends beside compute: the first stage has two forward passes ahead of the first gradients. */
  { 4, "", "kind: megatron, accumulation: 4, parallel: {pipeline: 2, overlap_p2p: true}",
    "0 compute: F embedding, F block0, F embedding, F block0, B block0 < gradient0.0, B embedding, F "
    "embedding, F block0, B block0 < gradient0.1, B embedding, F embedding, F block0, B block0 < "
    "gradient0.2, B embedding, B block0.5 < gradient0.3, B block0.4, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 4196352 < B embedding.0\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0, activation0.1 send_recv 8192 < F block0, "
    "activation0.2 send_recv 8192 < F block0, activation0.3 send_recv 8192 < F block0\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0, gradient0.1 send_recv 8192 < B "
    "embedding, gradient0.2 send_recv 8192 < B embedding, gradient0.3 send_recv 8192 < F block0\n"
    "1 compute: F block1 < activation0.0, F head, B head, B block1, F block1 < activation0.1, F head, B "
    "head, B block1, F block1 < activation0.2, F head, B head, B block1, F block1 < activation0.3, F "
    "head, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, "
    "optimizer < bucket0\n"
    "1 comm: bucket0 all_reduce 4197376 < B block1.0\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < F head, "
    "activation0.2 send_recv 8192 < F head, activation0.3 send_recv 8192 < F head\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1, "
    "gradient0.2 send_recv 8192 < B block1, gradient0.3 send_recv 8192 < B block1.0" },
  /* Rank 8: 8 x (1024 + 512 + 1280 + 1280) numbers of a block, twice, in FP32. */
  { 2, "", "kind: ddp, trains: lora, lora_rank: 8",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.13, B block1.12, B "
    "block1.11, B block1.10, B block1.9, B block1.8, B block1.7, B block1.6, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.13, B block0.12, B block0.11, B block0.10, B "
    "block0.9, B block0.8, B block0.7, B block0.6, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 262144 < B embedding.0" },
  /* Attention runs again before the backward pass of its block. */
  { 2, "", "kind: megatron, recompute: selective",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.recompute, B "
    "block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, B block0.recompute, B "
    "block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < "
    "bucket0\n"
    "0 comm: bucket0 all_reduce 8393728 < B embedding.0" },
  /* Blocks run again, with their all-reduces. */
  { 2, "", "kind: megatron, recompute: full, parallel: {tensor: 2}",
    "0 compute: F embedding, F block0.attention < embedding.embedding, F block0.mlp < block0.attention, F "
    "block1.attention < block0.mlp, F block1.mlp < block1.attention, F head < block1.mlp, B head.1, B "
    "head.0, B head.weights, B block1.attention.recompute < head.head, B block1.mlp.recompute < "
    "block1.attention, B block1.5 < block1.mlp, B block1.4, B block1.3, B block1.mlp.weights, B block1.2 "
    "< block1.mlp, B block1.1, B block1.0, B block1.attention.weights, B block0.attention.recompute < "
    "block1.attention, B block0.mlp.recompute < block0.attention, B block0.5 < block0.mlp, B block0.4, B "
    "block0.3, B block0.mlp.weights, B block0.2 < block0.mlp, B block0.1, B block0.0, B "
    "block0.attention.weights, B embedding.0 < block0.attention, optimizer\n"
    "0 tensor: embedding.embedding all_reduce 8192 < F embedding, block0.attention all_reduce 8192 < F "
    "block0.attention, block0.mlp all_reduce 8192 < F block0.mlp, block1.attention all_reduce 8192 < F "
    "block1.attention, block1.mlp all_reduce 8192 < F block1.mlp, head.head all_reduce 8192 < B head.0, "
    "block1.attention all_reduce 8192 < B block1.attention.recompute, block1.mlp all_reduce 8192 < B "
    "block1.mlp.recompute, block1.mlp all_reduce 8192 < B block1.3, block1.attention all_reduce 8192 < B "
    "block1.0, block0.attention all_reduce 8192 < B block0.attention.recompute, block0.mlp all_reduce "
    "8192 < B block0.mlp.recompute, block0.mlp all_reduce 8192 < B block0.3, block0.attention all_reduce "
    "8192 < B block0.0" },
  /* A block keeps 32 h and 16 bytes of a token in BF16: four times h of norms and inputs, 3 h, h, 4 h and 4 h beside,
   * and the sums of four heads. The last block needs its own at once. */
  { 2, "", "kind: megatron, memory: {offload: cpu}",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5 < activations1.0, B block0.4, B block0.3, "
    "B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8393728 < B embedding.0\n"
    "0 copy out: activations1.0 send_recv 131328 < F block0, activations2.0 send_recv 131328 < F block1\n"
    "0 copy in: activations1.0 send_recv 131328 < activations1.0 < B head.0" },
  /* Half of the tokens, and of the heads. */
  { 4, "", "kind: ddp, parallel: {tensor: 2, context: 2}",
    "0 compute: F embedding, F block0.attention.start < embedding.embedding, F block0.attention.round1, F "
    "block0.attention < block0.attention, F block0.mlp < block0.attention, F block1.attention.start < "
    "block0.mlp, F block1.attention.round1, F block1.attention < block1.attention, F block1.mlp < "
    "block1.attention, F head < block1.mlp, B head.1, B head.0, B head.weights, B block1.5 < head.head, B "
    "block1.4, B block1.3, B block1.mlp.weights, B block1.2.start < block1.mlp, B block1.2, B "
    "block1.1.round1, B block1.1.round2 < block1.attention, B block1.1 < block1.attention, B block1.0, B "
    "block1.attention.weights, B block0.5 < block1.attention, B block0.4, B block0.3, B "
    "block0.mlp.weights, B block0.2.start < block0.mlp, B block0.2, B block0.1.round1, B block0.1.round2 "
    "< block0.attention, B block0.1 < block0.attention, B block0.0, B block0.attention.weights, B "
    "embedding.0 < block0.attention, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 1049600 < B block1.5, bucket1 all_reduce 3149824 < B embedding.0\n"
    "0 tensor: embedding.embedding all_reduce 4096 < F embedding, block0.attention all_reduce 4096 < F "
    "block0.attention, block0.mlp all_reduce 4096 < F block0.mlp, block1.attention all_reduce 4096 < F "
    "block1.attention, block1.mlp all_reduce 4096 < F block1.mlp, head.head all_reduce 4096 < B head.0, "
    "block1.mlp all_reduce 4096 < B block1.3, block1.attention all_reduce 4096 < B block1.0, block0.mlp "
    "all_reduce 4096 < B block0.3, block0.attention all_reduce 4096 < B block0.0\n"
    "0 context: block0.attention send_recv 4096 < F block0.attention.start, block1.attention send_recv "
    "4096 < F block1.attention.start, block1.attention send_recv 4096 < B block1.2.start, "
    "block1.attention send_recv 4096 < B block1.1.round1, block0.attention send_recv 4096 < B "
    "block0.2.start, block0.attention send_recv 4096 < B block0.1.round1" },
  /* While one half of the micro-batch is on its way, the other half computes. */
  { 2, ", experts: {count: 4, per_token: 1, shared: 1}",
    "kind: megatron, parallel: {expert: 2, moe: {overlap: batches}}",
    "0 compute: F embedding, F embedding, F block0.attention, F block0.attention, F block0.experts < "
    "block0.experts, F block0.experts < block0.experts, F block1.attention < block0.experts, F "
    "block1.attention < block0.experts, F block1.experts < block1.experts, F block1.experts < "
    "block1.experts, F head < block1.experts, F head < block1.experts, B head, B head.1, B head.0, B "
    "block1.experts < block1.experts, B block1.8 < block1.experts, B block1.7, B block1.attention < "
    "block1.experts, B block1.6 < block1.experts, B block1.5, B block1.4, B block1.3, B block1.2, B "
    "block1.1, B block1.0, B block0.experts < block0.experts, B block0.8 < block0.experts, B block0.7, B "
    "block0.attention < block0.experts, B block0.6 < block0.experts, B block0.5, B block0.4, B block0.3, "
    "B block0.2, B block0.1, B block0.0, B embedding, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8401920 < B embedding.0\n"
    "0 expert: block0.experts all_to_all 4096 < F block0.attention, block0.experts all_to_all 4096 < F "
    "block0.attention, block0.experts all_to_all 4096 < F block0.experts, block0.experts all_to_all 4096 "
    "< F block0.experts, block1.experts all_to_all 4096 < F block1.attention, block1.experts all_to_all "
    "4096 < F block1.attention, block1.experts all_to_all 4096 < F block1.experts, block1.experts "
    "all_to_all 4096 < F block1.experts, block1.experts all_to_all 4096 < B head, block1.experts "
    "all_to_all 4096 < B head.0, block1.experts all_to_all 4096 < B block1.experts, block1.experts "
    "all_to_all 4096 < B block1.7, block0.experts all_to_all 4096 < B block1.attention, block0.experts "
    "all_to_all 4096 < B block1.0, block0.experts all_to_all 4096 < B block0.experts, block0.experts "
    "all_to_all 4096 < B block0.7" },
  /* A single rank has its gradients by itself, and copies them out all the same. */
  { 1, "", "kind: zero, stage: 2, offload: {optimizer: cpu}",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.5, B block1.4, B "
    "block1.3, B block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0, gradients < gradients, optimizer < cpu optimizer < parameters\n"
    "0 copy out: gradients send_recv 4196864 < B embedding.0\n"
    "0 cpu: cpu optimizer < gradients\n"
    "0 copy in: parameters send_recv 4196864 < cpu optimizer" },
  /* A copy of the states on each rank: nothing is scattered, and gradients are summed over both. */
  { 2, "", "kind: zero, stage: 3, shard: 1, offload: {optimizer: cpu}",
    "0 compute: F embedding.0, F block0.1, F block0.4, F block0.5, F block1.1, F block1.4, F block1.5, F "
    "head.1, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, "
    "B block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, gradients < "
    "gradients, optimizer < cpu optimizer < parameters\n"
    "0 replica: replicas all_reduce 4196864 < B embedding.0\n"
    "0 copy out: gradients send_recv 4196864 < replicas\n"
    "0 cpu: cpu optimizer < gradients\n"
    "0 copy in: parameters send_recv 4196864 < cpu optimizer" },
  /* Two copies of the states on two ranks each: a half of the gradients is summed over the copies. */
  { 4, "", "kind: zero, stage: 3, shard: 2, offload: {optimizer: cpu}",
    "0 compute: F embedding.0 < parameters0, F block0.1 < parameters1, F block0.4 < parameters2, F "
    "block0.5 < parameters3, F block1.1 < parameters4, F block1.4 < parameters5, F block1.5 < "
    "parameters6, F head.1 < parameters7, B head.1, B head.0, B block1.5, B block1.4, B block1.3, B "
    "block1.2, B block1.1, B block1.0, B block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B "
    "block0.0, B embedding.0, gradients < bucket0 < gradients, optimizer < cpu optimizer < parameters, "
    "updated < persistent\n"
    "0 comm: parameters0 all_gather 524288, parameters1 all_gather 393216 < F embedding.0, parameters2 "
    "all_gather 524288 < F block0.1, parameters3 all_gather 524288 < F block0.4, parameters4 all_gather "
    "393216 < F block0.5, parameters5 all_gather 524288 < F block1.1, parameters6 all_gather 524288 < F "
    "block1.4, parameters7 all_gather 524288 < F block1.5, bucket0 reduce_scatter 4196864 < B "
    "embedding.0, persistent all_gather 264704 < optimizer\n"
    "0 replica: replicas all_reduce 2098432 < bucket0\n"
    "0 copy out: gradients send_recv 2098432 < replicas\n"
    "0 cpu: cpu optimizer < gradients\n"
    "0 copy in: parameters send_recv 2098432 < cpu optimizer" },
  /* Beside the shared experts tokens are gathered in forward passes; results and gradients have their own ways. */
  { 2, ", experts: {count: 4, per_token: 1, shared: 1}",
    "kind: megatron, parallel: {expert: 2, moe: {overlap: shared, dispatch: allgather}}",
    "0 compute: F embedding, F block0.attention, F block0.shared, F block0.experts < block0.experts, F "
    "block1.attention < block0.experts, F block1.shared, F block1.experts < block1.experts, F head < "
    "block1.experts, B head.1, B head.0, B block1.8 < block1.experts, B block1.7, B block1.6, B block1.5,"
    " B block1.4 < block1.experts, B block1.3, B block1.2, B block1.1, B block1.0, B block0.8 < "
    "block0.experts, B block0.7, B block0.6, B block0.5, B block0.4 < block0.experts, B block0.3, B "
    "block0.2, B block0.1, B block0.0, B embedding.0, optimizer < bucket0\n"
    "0 comm: bucket0 all_reduce 8401920 < B embedding.0\n"
    "0 expert: block0.experts all_gather 16384 < F block0.attention, block0.experts reduce_scatter 16384 "
    "< F block0.experts, block1.experts all_gather 16384 < F block1.attention, block1.experts "
    "reduce_scatter 16384 < F block1.experts, block1.experts all_gather 16384 < B head.0, block1.experts "
    "reduce_scatter 16384 < B block1.7, block0.experts all_gather 16384 < B block1.0, block0.experts "
    "reduce_scatter 16384 < B block0.7" },
  /* A stage whose block has experts goes on, and sends on, when the tokens of both halves are back. */
  { 4, ", experts: {count: 4, per_token: 1}",
    "kind: ddp, accumulation: 2, parallel: {pipeline: 2, expert: 2, moe: {overlap: batches}}",
    "0 compute: F embedding, F embedding, F block0.attention, F block0.attention, F block0.experts < "
    "block0.experts, F block0.experts < block0.experts, F embedding < block0.experts < block0.experts < "
    "activation0.0, F embedding, F block0.attention, F block0.attention, F block0.experts < "
    "block0.experts, F block0.experts < block0.experts, B block0.experts < block0.experts < "
    "block0.experts < activation0.1 < gradient0.0 < block0.experts, B block0.experts < block0.experts, B "
    "block0.attention < block0.experts, B block0.attention < block0.experts, B embedding, B embedding, B "
    "block0.experts < gradient0.1 < block0.experts, B block0.6 < block0.experts, B block0.5, B "
    "block0.attention < block0.experts, B block0.4 < block0.experts, B block0.3, B block0.2, B block0.1, "
    "B block0.0, B embedding, B embedding.0, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 1053696 < B block0.1, bucket1 all_reduce 1049600 < B embedding.0\n"
    "0 expert: block0.experts all_to_all 4096 < F block0.attention, block0.experts all_to_all 4096 < F "
    "block0.attention, block0.experts all_to_all 4096 < F block0.experts, block0.experts all_to_all 4096 "
    "< F block0.experts, block0.experts all_to_all 4096 < F block0.attention, block0.experts all_to_all "
    "4096 < F block0.attention, block0.experts all_to_all 4096 < F block0.experts, block0.experts "
    "all_to_all 4096 < F block0.experts, block0.experts all_to_all 4096 < F block0.experts < "
    "activation0.1 < gradient0.0, block0.experts all_to_all 4096 < F block0.experts, block0.experts "
    "all_to_all 4096 < B block0.experts, block0.experts all_to_all 4096 < B block0.experts, "
    "block0.experts all_to_all 4096 < B embedding < gradient0.1, block0.experts all_to_all 4096 < B "
    "embedding, block0.experts all_to_all 4096 < B block0.experts, block0.experts all_to_all 4096 < B "
    "block0.5\n"
    "0 send forward: activation0.0 send_recv 8192 < block0.experts < F block0.experts < block0.experts, "
    "activation0.1 send_recv 8192 < block0.experts < F block0.experts < block0.experts\n"
    "0 receive backward: gradient0.0 send_recv 8192 < block0.experts < F block0.experts < block0.experts, "
    "gradient0.1 send_recv 8192 < B embedding\n"
    "1 compute: F block1.attention < activation0.0, F block1.attention, F block1.experts < "
    "block1.experts, F block1.experts < block1.experts, F head < block1.experts, F head < block1.experts, "
    "B head, B head, B block1.experts < block1.experts, B block1.experts < block1.experts, B "
    "block1.attention < block1.experts, B block1.attention < block1.experts, F block1.attention < "
    "gradient0.0 < activation0.1, F block1.attention, F block1.experts < block1.experts, F block1.experts "
    "< block1.experts, F head < block1.experts, F head < block1.experts, B head, B head.1, B head.0, B "
    "block1.experts < block1.experts, B block1.6 < block1.experts, B block1.5, B block1.attention < "
    "block1.experts, B block1.4 < block1.experts, B block1.3, B block1.2, B block1.1, B block1.0, "
    "optimizer < bucket0 < bucket1 < gradient0.1\n"
    "1 comm: bucket0 all_reduce 1048576 < B head.1, bucket1 all_reduce 1055744 < B block1.0\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192 < B block1.attention\n"
    "1 expert: block1.experts all_to_all 4096 < F block1.attention, block1.experts all_to_all 4096 < F "
    "block1.attention, block1.experts all_to_all 4096 < F block1.experts, block1.experts all_to_all 4096 "
    "< F block1.experts, block1.experts all_to_all 4096 < B head, block1.experts all_to_all 4096 < B "
    "head, block1.experts all_to_all 4096 < B block1.experts, block1.experts all_to_all 4096 < B "
    "block1.experts, block1.experts all_to_all 4096 < F block1.attention, block1.experts all_to_all 4096 "
    "< F block1.attention, block1.experts all_to_all 4096 < F block1.experts, block1.experts all_to_all "
    "4096 < F block1.experts, block1.experts all_to_all 4096 < B head, block1.experts all_to_all 4096 < B "
    "head.0, block1.experts all_to_all 4096 < B block1.experts, block1.experts all_to_all 4096 < B "
    "block1.5\n"
    "1 send backward: gradient0.0 send_recv 8192 < B block1.attention, gradient0.1 send_recv 8192 < B "
    "block1.0" },
  /* What goes to the other stage is the sum over the tensor-parallel ranks, in both passes. */
  { 4, "", "kind: ddp, parallel: {pipeline: 2, tensor: 2}",
    "0 compute: F embedding, F block0.attention < embedding.embedding, F block0.mlp < block0.attention, B "
    "block0.5 < block0.mlp < activation0.0 < gradient0.0, B block0.4, B block0.3, B block0.mlp.weights, B "
    "block0.2 < block0.mlp, B block0.1, B block0.0, B block0.attention.weights, B embedding.0 < "
    "block0.attention, optimizer\n"
    "0 tensor: embedding.embedding all_reduce 8192 < F embedding, block0.attention all_reduce 8192 < F "
    "block0.attention, block0.mlp all_reduce 8192 < F block0.mlp, block0.mlp all_reduce 8192 < B "
    "block0.3, block0.attention all_reduce 8192 < B block0.0\n"
    "0 send forward: activation0.0 send_recv 8192 < F block0.mlp < block0.mlp\n"
    "0 receive backward: gradient0.0 send_recv 8192 < F block0.mlp < block0.mlp\n"
    "1 compute: F block1.attention < activation0.0, F block1.mlp < block1.attention, F head < block1.mlp, "
    "B head.1, B head.0, B head.weights, B block1.5 < head.head, B block1.4, B block1.3, B "
    "block1.mlp.weights, B block1.2 < block1.mlp, B block1.1, B block1.0, B block1.attention.weights, "
    "optimizer < block1.attention < gradient0.0\n"
    "1 receive forward: activation0.0 send_recv 8192\n"
    "1 tensor: block1.attention all_reduce 8192 < F block1.attention, block1.mlp all_reduce 8192 < F "
    "block1.mlp, head.head all_reduce 8192 < B head.0, block1.mlp all_reduce 8192 < B block1.3, "
    "block1.attention all_reduce 8192 < B block1.0\n"
    "1 send backward: gradient0.0 send_recv 8192 < block1.attention < B block1.attention.weights" },
  /* Frozen matrices have no gradients that could be computed beside the sums. */
  { 2, "", "kind: ddp, trains: lora, lora_rank: 8, parallel: {tensor: 2}",
    "0 compute: F embedding, F block0.attention < embedding.embedding, F block0.mlp < block0.attention, F "
    "block1.attention < block0.mlp, F block1.mlp < block1.attention, F head < block1.mlp, B head.1, B "
    "head.0, B block1.13 < head.head, B block1.12, B block1.11, B block1.10, B block1.9, B block1.8, B "
    "block1.7, B block1.6 < block1.mlp, B block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B "
    "block1.0, B block0.13 < block1.attention, B block0.12, B block0.11, B block0.10, B block0.9, B "
    "block0.8, B block0.7, B block0.6 < block0.mlp, B block0.5, B block0.4, B block0.3, B block0.2, B "
    "block0.1, B block0.0, B embedding.0 < block0.attention, optimizer\n"
    "0 tensor: embedding.embedding all_reduce 8192 < F embedding, block0.attention all_reduce 8192 < F "
    "block0.attention, block0.mlp all_reduce 8192 < F block0.mlp, block1.attention all_reduce 8192 < F "
    "block1.attention, block1.mlp all_reduce 8192 < F block1.mlp, head.head all_reduce 8192 < B head.0, "
    "block1.mlp all_reduce 8192 < B block1.7, block1.attention all_reduce 8192 < B block1.0, block0.mlp "
    "all_reduce 8192 < B block0.7, block0.attention all_reduce 8192 < B block0.0" },
  /* Norms alone run again. */
  { 2, "", "kind: megatron, recompute: modules, recompute_modules: layernorm",
    "0 compute: F embedding, F block0, F block1, F head, B head.1, B head.0, B block1.recompute, B "
    "block1.5, B block1.4, B block1.3, B block1.2, B block1.1, B block1.0, B block0.recompute, B "
    "block0.5, B block0.4, B block0.3, B block0.2, B block0.1, B block0.0, B embedding.0, optimizer < "
    "bucket0\n"
    "0 comm: bucket0 all_reduce 8393728 < B embedding.0" },
  /* A single rank gathers nothing: it copies its shards, and its gradients back. */
  { 1, "", "kind: fsdp, cpu_offload: true",
    "0 compute: F embedding < root, F block0 < block0, F block1 < block1, F head, B head, B block1 < "
    "block1, B block0 < block0, B embedding, gradients < block1 < block0 < root, optimizer < cpu "
    "optimizer\n"
    "0 copy in: root send_recv 1049088, block0 send_recv 1573888, block1 send_recv 1573888, block1 "
    "send_recv 1573888 < F block0, block0 send_recv 1573888 < F block1\n"
    "0 copy out: block1 send_recv 1573888 < B block1, block0 send_recv 1573888 < B block0, root send_recv"
    " 1049088 < B embedding\n"
    "0 cpu: cpu optimizer < gradients" },
  /* What is left of the gradients is summed behind the part that goes back last, the first one of each stage. */
  { 4, "",
    "kind: ddp, accumulation: 2, parallel: {pipeline: 2, virtual: 2, schedule: interleaved, layers: [0, 1, 1, 0]}",
    "0 compute: F embedding, F embedding, F block1 < activation1.0, F block1 < activation1.1, B block1 "
    "< gradient2.0, B block1.5 < gradient2.1, B block1.4, B block1.3, B block1.2, B block1.1, B "
    "block1.0, B embedding < gradient0.0, B embedding.0 < gradient0.1, optimizer < bucket0 < bucket1\n"
    "0 comm: bucket0 all_reduce 1048576 < B block1.5, bucket1 all_reduce 3147776 < B embedding.0\n"
    "0 send forward: activation0.0 send_recv 8192 < F embedding, activation0.1 send_recv 8192 < F "
    "embedding, activation2.0 send_recv 8192 < F block1, activation2.1 send_recv 8192 < F block1\n"
    "0 receive forward: activation1.0 send_recv 8192 < F embedding, activation1.1 send_recv 8192 < F "
    "embedding\n"
    "0 receive backward: gradient2.0 send_recv 8192 < F block1, gradient2.1 send_recv 8192 < F block1, "
    "gradient0.0 send_recv 8192 < B block1, gradient0.1 send_recv 8192 < B block1.0\n"
    "0 send backward: gradient1.0 send_recv 8192 < B block1, gradient1.1 send_recv 8192 < B block1.0\n"
    "1 compute: F block0 < activation0.0, F block0 < activation0.1, F head < activation2.0, B head, F "
    "head < activation2.1, B head.1, B head.0, B block0 < gradient1.0, B block0.5 < gradient1.1, B "
    "block0.4, B block0.3, B block0.2, B block0.1, B block0.0, optimizer < bucket0 < bucket1\n"
    "1 comm: bucket0 all_reduce 1048576 < B head.1, bucket1 all_reduce 3148800 < B block0.0\n"
    "1 receive forward: activation0.0 send_recv 8192, activation0.1 send_recv 8192, activation2.0 "
    "send_recv 8192 < F block0, activation2.1 send_recv 8192 < F head\n"
    "1 send forward: activation1.0 send_recv 8192 < F block0, activation1.1 send_recv 8192 < F block0\n"
    "1 send backward: gradient2.0 send_recv 8192 < B head, gradient2.1 send_recv 8192 < B head.0, "
    "gradient0.0 send_recv 8192 < B block0, gradient0.1 send_recv 8192 < B block0.0\n"
    "1 receive backward: gradient1.0 send_recv 8192 < F head, gradient1.1 send_recv 8192 < B head.0" },
  /* Shards of one rank are whole; gradients are summed over both. */
  { 2, "", "kind: fsdp, sharding: hybrid, shard: 1",
    "0 compute: F embedding, F block0, F block1, F head, B head, B block1, B block0, B embedding, "
    "optimizer < block1 < block0 < root\n"
    "0 replica: block1 all_reduce 1573888 < B block1, block0 all_reduce 1573888 < B block0, root "
    "all_reduce 1049088 < B embedding" },
};

static void
every_rank_runs_the_program_of_its_framework (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = program (rows[i].gpus, rows[i].shape, rows[i].keys);

    if (strcmp (text, rows[i].program) != 0)
      fail_msg ("%s:\n%s\nexpected:\n%s", rows[i].keys, text, rows[i].program);
  }
}

/* With a fixed share of the peak a pass takes its FLOPs over the rate, however it is cut into pieces, and nothing else
 * takes time on the GPU. A GPU of an H100 node: 989 TFLOP/s in BF16. */
static void
compute_adds_up (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strconcat (rows[i].keys, ", compute: {kind: mfu, mfu: 40%}", NULL);
    g_autofree char *yaml = g_strdup_printf (HEAD, rows[i].gpus, rows[i].shape, keys);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);
    double all_ps = 0, expected_ps = totals->executed_flops_per_rank / (0.4 * 989e12) * 1e12;

    if (strstr (keys, "lora") != NULL && strstr (keys, "tensor: 2") != NULL)
      continue; /* both ranks compute all of the adapters, which count once */
    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      const FabDagStream *stream = &dag->streams[dag->tasks[t].stream];

      if (dag->tasks[t].collective < 0 && strcmp (stream->name, "compute") == 0)
        all_ps += (double) fab_task_ps (&dag->tasks[t]) * dag->classes[stream->rank_class].n_ranks
                / rows[i].gpus;
    }
    if (fabs (all_ps - expected_ps) > dag->n_tasks)
      fail_msg ("%s: %g ps of compute, expected %g", rows[i].keys, all_ps, expected_ps);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_rank_runs_the_program_of_its_framework),
    cmocka_unit_test (compute_adds_up),
  };

  return play_run_tests ("programs", tests, &catalog);
}
