/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_job.c - configurations of training programs become the section `job`, key by key: values,
 * blocks of stages, and what is told beside it. */
#include "tests/unit/formats/job/imported_job.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

/* --- DeepSpeed --- */

typedef struct {
  const char *old, *keys; /* of DeepSpeed; what the job then has beside `before` and `behind` */
  const char *told;       /* among the comments; NULL: nothing */
} Key;

/* `keys` in braces; the job has `before`, what the key says, and `behind`. */
static void
assert_keys (const char *wrap, const char *before, const char *behind, const Key *keys, guint n)
{
  for (guint i = 0; i < n; i++) {
    GString *text = g_string_new (wrap);

    g_string_replace (text, "KEY", keys[i].old, 1);
    g_autofree char *made = import_job (NULL, "ds.json", text->str, 0, 0), *found = flat_job (made),
                    *notes = flat_notes (made);
    g_autofree char *wanted = g_strconcat (before, keys[i].keys, behind, NULL);
    if (strcmp (found, wanted) != 0)
      fail_msg ("%s: '%s', and not '%s'", text->str, found, wanted);
    if (keys[i].told != NULL && strstr (notes, keys[i].told) == NULL)
      fail_msg ("%s: '%s' is not in\n%s", text->str, keys[i].told, notes);
    if (keys[i].told == NULL)
      assert_null (strstr (made, "Changes communication"));
    g_string_free (text, TRUE);
  }
}

static void
keys_of_deepspeed (G_GNUC_UNUSED void **state)
{
  static const Key batch[] = {
    { "\"train_micro_batch_size_per_gpu\": 4", " micro_batch=4", NULL },
    { "\"gradient_accumulation_steps\": 8", " accumulation=8", NULL },
    { "\"bf16\": {\"enabled\": false}", "", NULL },
    { "\"communication_data_type\": \"bfp16\"", " gradient=bf16", NULL },
    { "\"communication_data_type\": \"FP32\"", " gradient=fp32", NULL },
    { "\"tensor_parallel\": {\"autotp_size\": 4}", " parallel.tensor=4", NULL },
    { "\"tensor_parallel\": {\"autotp_size\": 0}", "", NULL },
    { "\"tensor_parallel\": {\"tp_size\": 2}", " parallel.tensor=2", NULL },
    { "\"pipeline\": {\"stages\": 2}", " parallel.pipeline=2", NULL },
    { "\"activation_checkpointing\": {\"cpu_checkpointing\": true}", " memory.offload=cpu", NULL },
    { "\"sequence_parallel_size\": 2", "",
      "ds.json:1: sequence_parallel_size 2: Ulysses divides each sequence by all-to-alls" },
    { "\"sequence_parallel_size\": -1", "", NULL },
    { "\"sparse_gradients\": true", "",
      "ds.json:1: sparse_gradients true: gradients of embeddings are gathered as rows" },
    { "\"sparse_gradients\": false", "", NULL },
    { "\"sparse_gradients\": \"auto\"", "", NULL },
    { "\"sparse_gradients\": null", "", NULL },
    { "\"wall_clock_breakdown\": true", "", "the host waits for the GPU at each timer" },
    { "\"steps_per_print\": 10", "", NULL },
  };
  static const Key zero[] = {
    { "\"overlap_comm\": true", " overlap_comm=yes", NULL },
    { "\"overlap_comm\": false", " overlap_comm=no", NULL },
    { "\"overlap_comm\": \"auto\"", "", NULL },
    { "\"reduce_bucket_size\": 5e8", " reduce_bucket=500000000", NULL },
    { "\"reduce_bucket_size\": 500_000", " reduce_bucket=500000", NULL },
    { "\"reduce_bucket_size\": 1e15", " reduce_bucket=1000000000000000", NULL },
    { "\"allgather_bucket_size\": 0", " allgather_bucket=0", NULL },
    { "\"allgather_bucket_size\": -1", "", NULL },
    { "\"use_multi_rank_bucket_allreduce\": false", " multi_rank_all_reduce=false", NULL },
    { "\"reduce_scatter\": false", "",
      "ds.json:1: zero_optimization.reduce_scatter false: gradients are summed by all-reduce" },
    { "\"reduce_scatter\": true", "", NULL },
    { "\"reduce_scatter\": null", "", NULL },
    { "\"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}", " offload.optimizer=cpu", NULL },
    { "\"offload_param\": {\"device\": \"nvme\"}", " offload.parameters=nvme", NULL },
    { "\"cpu_offload\": true", " offload.optimizer=cpu", NULL },
    { "\"cpu_offload\": false", "", NULL },
    { "\"stage3_prefetch_bucket_size\": 7", "", NULL }, /* of stage 3 alone */
    { "\"zero_quantized_nontrainable_weights\": true", "", "frozen weights travel in 8 bits" },
  };
  static const Key stage3[] = {
    { "\"stage3_prefetch_bucket_size\": 7", " prefetch_bucket=7", NULL },
    { "\"stage3_param_persistence_threshold\": 8", " persistence_threshold=8", NULL },
    { "\"stage3_max_live_parameters\": 1e9", " max_live=1000000000", NULL },
    { "\"stage3_max_reuse_distance\": 9", " max_reuse_distance=9", NULL },
    { "\"zero_hpz_partition_size\": 8", " secondary=8", NULL },
    { "\"zero_hpz_partition_size\": 1", " secondary=1", NULL },
    { "\"mics_shard_size\": 4", " shard=4", NULL },
    { "\"mics_shard_size\": -1", "", NULL },
    { "\"zero_quantized_weights\": true", " quantized_weights=true", NULL },
    { "\"zero_quantized_gradients\": true", " quantized_gradients=true", NULL },
    { "\"mics_hierarchical_params_gather\": true", "",
      "weights are gathered between nodes, then within them" },
    { "\"stage3_module_granularity_threshold\": 5", "", "small modules are gathered together" },
    { "\"stage3_module_granularity_threshold\": 0", "", NULL },
    { "\"stage3_gather_16bit_weights_on_model_save\": true", "", NULL },
  };

  assert_keys ("{\"zero_optimization\": {\"stage\": 0}, KEY}", "kind=ddp",
               " precision=fp32 clip_gradients=false", batch, G_N_ELEMENTS (batch));
  assert_keys ("{\"zero_optimization\": {\"stage\": 1, KEY}}", "kind=zero stage=1",
               " precision=fp32 clip_gradients=false", zero, G_N_ELEMENTS (zero));
  assert_keys (
      "{\"zero_optimization\": {\"stage\": 3, KEY}, \"fp16\": {\"enabled\": true}, \"gradient_clipping\": 0.5}",
      "kind=zero clip_gradients=true precision=fp16 stage=3", "", stage3, G_N_ELEMENTS (stage3));
}

/* Words for yes and no, whatever their case; what is neither is refused, at its line. */
static void
truth_has_several_words (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *value, *said; /* NULL: nothing is set */
  } cases[] = {
    { "true", "true" },   { "\"Yes\"", "true" }, { "\"ON\"", "true" },   { "1", "true" },
    { "false", "false" }, { "\"no\"", "false" }, { "\"Off\"", "false" }, { "0", "false" },
    { "\"auto\"", NULL }, { "null", NULL },      { "\"none\"", NULL },   { "\"disabled\"", "false" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "{\"zero_optimization\": {\"stage\": 1,\n\"use_multi_rank_bucket_allreduce\": %s}}", cases[i].value);
    g_autofree char *made = import_job (NULL, "ds.json", text, 0, 0), *found = flat_job (made);
    g_autofree char *wanted = g_strconcat ("kind=zero stage=1",
                                           cases[i].said ? " multi_rank_all_reduce=" : "",
                                           cases[i].said ? cases[i].said : "",
                                           " precision=fp32 clip_gradients=false", NULL);

    if (strcmp (found, wanted) != 0)
      fail_msg ("%s: %s", text, found);
  }
}

static void
wrong_values_are_refused_at_their_line (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *key, *said;
  } cases[] = {
    { "\"use_multi_rank_bucket_allreduce\": 2",
      "zero_optimization.use_multi_rank_bucket_allreduce: '2' is neither true nor false" },
    { "\"reduce_bucket_size\": \"big\"", "zero_optimization.reduce_bucket_size: 'big' is no whole number" },
    { "\"reduce_bucket_size\": 1.5", "zero_optimization.reduce_bucket_size: '1.5' is no whole number" },
    { "\"reduce_bucket_size\": 1.1e15", "zero_optimization.reduce_bucket_size: '1.1e15' is no whole number" },
    { "\"reduce_bucket_size\": \"5 MB\"", "zero_optimization.reduce_bucket_size: '5 MB' is no whole number" },
    { "\"overlap_comm\": \"maybe\"",
      "zero_optimization.overlap_comm: 'maybe' is not known here; known are true, false" },
    { "\"offload_param\": {\"device\": \"disk\"}",
      "zero_optimization.offload_param.device: 'disk' is not known here; known are none, cpu, nvme" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("{\"zero_optimization\": {\"stage\": 1,\n%s}}", cases[i].key),
                    *made = import_job (NULL, "ds.json", text, 0, 0),
                    *wanted = g_strconcat ("ds.json:2: ", cases[i].said, NULL);

    assert_string_equal (made, wanted);
  }
  for (gint stage = -1; stage <= 4; stage++) {
    g_autofree char *text = g_strdup_printf ("{\n\"zero_optimization\": {\"stage\": %d}}", stage),
                    *made = import_job (NULL, "ds.json", text, 0, 0);

    if (stage < 0 || stage > 3)
      assert_string_equal (made, "ds.json:2: zero_optimization.stage: from 0 to 3");
    else
      assert_int_equal (made[0], '#');
  }
}

/* A variable of the environment has its default; a key of the file has the value of that key; what is known nowhere is
 * left out, and told. */
static void
values_stand_for_others (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *value, *sequence; /* NULL: it is not set */
    const char *told;             /* NULL: it is not looked at */
  } cases[] = {
    { "${N:5}", "5", "a.yaml:3: model.seq_length is ${N:5}: 5, the default of that variable" },
    { "${N:-5}", "5", NULL },
    { "${N_1:56}", "56", NULL },
    { "${oc.env:N,5}", "5", NULL },
    { "${oc.env:N,56}", "56", NULL },
    { "${oc.decode:${oc.env:N,5}}", "5", NULL },
    { "${oc.decode:${N:5}}", "5", NULL },
    { "${N:5}6", "56", NULL },
    { "${model.other}", "7", NULL },
    { "${model.absent}", NULL, "a.yaml:3: model.seq_length is ${model.absent}, which stands elsewhere" },
    { "${model.seq_length}", NULL, "which stands elsewhere, so it is left out" },
    { "${model.nothing}", NULL, "which stands elsewhere, so it is left out" },
    { "${model.other}0", NULL, "which stands elsewhere, so it is left out" },
    { "${oc.env:N}", NULL, "which stands elsewhere, so it is left out" },
    { "${N:}", NULL, "which stands elsewhere, so it is left out" },
    { "${N:$M}", NULL, "which stands elsewhere, so it is left out" },
    { "${n:5}", NULL, "which stands elsewhere, so it is left out" },
    { "${N:5", NULL, "which stands elsewhere, so it is left out" },
    { "?"
      "??",
      NULL, NULL }, /* it is to be replaced */
    { "?", "refused", NULL },
    { "none", NULL, NULL },
    { "NULL", NULL, NULL },
    { "auto", NULL, "a.yaml:3: model.seq_length is auto, so that job.sequence is Fabricast's default" },
    { "1_000", "1000", NULL },
    { "_1_", "1", NULL },
    { "1.5", "refused", NULL },
    { "_", "refused", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("model:\n  tensor_model_parallel_size: 1\n  seq_length: '%s'\n"
                                             "  other: 7\n  nothing: null\n",
                                             cases[i].value);
    g_autofree char *made = import_job (NULL, "a.yaml", text, 0, 0), *found = flat_job (made),
                    *notes = flat_notes (made);
    g_autofree char *wanted = g_strconcat ("kind=megatron ", cases[i].sequence ? "sequence=" : "",
                                           cases[i].sequence ? cases[i].sequence : "",
                                           cases[i].sequence ? " " : "", "parallel.tensor=1 precision=fp32",
                                           NULL);

    if (g_strcmp0 (cases[i].sequence, "refused") == 0)
      assert_true (g_str_has_suffix (found, "is no whole number"));
    else if (strcmp (found, wanted) != 0)
      fail_msg ("%s: '%s', and not '%s'", cases[i].value, found, wanted);
    if (cases[i].told != NULL && strstr (notes, cases[i].told) == NULL)
      fail_msg ("%s: '%s' is not in\n%s", cases[i].value, cases[i].told, notes);
  }
}

/* The batch of all ranks, which DeepSpeed divides; and what the Trainer of Hugging Face puts in the place of "auto". */
static void
batches_and_buckets_are_concluded (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    guint hidden, n_ranks;
    const char *stage, *job;
  } cases[] = {
    { "\"train_batch_size\": 64", 0, 0, "0", "kind=ddp global_batch=64 " },
    { "\"train_batch_size\": 64", 0, 8, "0", "kind=ddp global_batch=64 micro_batch=8 " },
    { "\"train_batch_size\": 64, \"gradient_accumulation_steps\": 2", 0, 8, "0",
      "kind=ddp global_batch=64 micro_batch=4 " },
    { "\"train_batch_size\": 4", 0, 8, "0", "kind=ddp global_batch=4 micro_batch=1 " },
    { "\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2", 0, 8, "0",
      "kind=ddp micro_batch=2 global_batch=64 " },
    { "\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 4",
      0, 8, "0", "kind=ddp micro_batch=2 accumulation=4 " },
    { "\"train_batch_size\": \"auto\"", 0, 8, "0", "kind=ddp " },
    { "\"train_batch_size\": 0", 0, 8, "0", "kind=ddp " },
    { "\"steps_per_print\": 1", 10, 0, "1, \"reduce_bucket_size\": \"auto\"",
      "kind=zero stage=1 reduce_bucket=100 " },
    { "\"steps_per_print\": 1", 0, 0, "1, \"reduce_bucket_size\": \"auto\"", "kind=zero stage=1 " },
    { "\"steps_per_print\": 1", 10, 0,
      "3, \"reduce_bucket_size\": \"auto\", \"stage3_prefetch_bucket_size\": \"auto\", "
      "\"stage3_param_persistence_threshold\": \"auto\"",
      "kind=zero stage=3 reduce_bucket=100 prefetch_bucket=90 persistence_threshold=100 " },
    { "\"steps_per_print\": 1", 10, 0, "3, \"stage3_prefetch_bucket_size\": 5",
      "kind=zero stage=3 prefetch_bucket=5 " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("{\"zero_optimization\": {\"stage\": %s}, %s}", cases[i].stage,
                                             cases[i].keys),
                    *made = import_job (NULL, "ds.json", text, cases[i].hidden, cases[i].n_ranks),
                    *found = flat_job (made),
                    *wanted = g_strconcat (cases[i].job, "precision=fp32 clip_gradients=false", NULL);

    if (strcmp (found, wanted) != 0)
      fail_msg ("%s: '%s', and not '%s'", text, found, wanted);
  }
}

/* --- stages of Megatron-LM --- */

/* Whether one of the words of a text is this one. */
static gboolean
has_word (const char *text, const char *word)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  return g_strv_contains ((const char *const *) words, word);
}

/* How many blocks each part of a pipeline has, by hand. */
static void
stages_have_their_blocks (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint stages, layers;
    const char *arguments, *virtual, *blocks; /* NULL: it is not set */
  } cases[] = {
    { 4, 16, "", NULL, NULL },
    { 4, 16, "--num-layers-per-virtual-pipeline-stage 2", "2", NULL },
    { 4, 16, "--num-layers-per-virtual-pipeline-stage 1", "4", NULL },
    { 4, 16, "--num-layers-per-virtual-pipeline-stage 4", NULL, NULL }, /* one part is no virtual stage */
    { 4, 16, "--num-virtual-stages-per-pipeline-rank 4", "4", NULL },
    { 1, 16, "--num-virtual-stages-per-pipeline-rank 4", NULL, NULL },
    { 4, 14, "--decoder-first-pipeline-num-layers 2", NULL, "2,4,4,4" },
    { 4, 14, "--decoder-last-pipeline-num-layers 5", NULL, "3,3,3,5" },
    { 4, 14, "--decoder-first-pipeline-num-layers 3 --decoder-last-pipeline-num-layers 1", NULL, "3,5,5,1" },
    { 2, 14, "--decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 8", NULL, "6,8" },
    { 4, 15, "--account-for-embedding-in-pipeline-split", NULL, "3,4,4,4" },
    { 4, 15, "--account-for-loss-in-pipeline-split", NULL, "4,4,4,3" },
    { 4, 14, "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split", NULL,
      "3,4,4,3" },
    { 2, 14,
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split "
      "--num-virtual-stages-per-pipeline-rank 2",
      "2", "3,4,4,3" },
    { 2, 6, "--pipeline-model-parallel-layout 'Ettt|tttL'", NULL, "3,3" },
    { 2, 6, "--pipeline-model-parallel-layout 'Et|tt|t*2|tL'", "2", "1,2,2,1" },
    { 2, 6, "--pipeline-model-parallel-layout 'E,t*3 | t*3,L'", NULL, "3,3" },
    { 2, 6, "--pipeline-model-parallel-layout 'Et*2|(tt|)*2L'", "2", "2,2,2,0" },
    { 2, 6, "--pipeline-model-parallel-layout 'Et*2|(tt|)*2m|L'", NULL, NULL },
    { 2, 6, "--pipeline-model-parallel-layout t", NULL, NULL }, /* one part on two stages */
    { 2, 7, "--pipeline-model-parallel-layout 'Edt|(t|)*2tttL'", "2", "2,1,1,3" },
    { 2, 6, "--pipeline-model-parallel-layout 'Et*3|x*3L'", NULL, NULL },
    { 2, 6, "--pipeline-model-parallel-layout 'Et*3|t*L'", NULL, NULL },
    { 2, 6, "--pipeline-model-parallel-layout 'Et*3|(t*3L'", NULL, NULL },
    { 2, 6, "--pipeline-model-parallel-layout 't*3|t*2|tL'", NULL, NULL }, /* three parts on two stages */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "--tensor-model-parallel-size 1 --pipeline-model-parallel-size %u --num-layers %u --hidden-size 64 "
        "--num-attention-heads 2 %s\n",
        cases[i].stages, cases[i].layers, cases[i].arguments);
    g_autofree char *made = import_job (NULL, "a.args", text, 0, 0), *found = flat_job (made);
    g_autofree char *parts = g_strdup_printf ("parallel.virtual=%s", cases[i].virtual),
                    *blocks = g_strdup_printf ("parallel.layers=%s", cases[i].blocks);

    if (cases[i].virtual != NULL
            ? !has_word (found, parts) || strstr (found, "parallel.schedule=interleaved") == NULL
            : strstr (found, "parallel.virtual") != NULL || strstr (found, "schedule") != NULL)
      fail_msg ("%s: %s", text, found);
    if (cases[i].blocks != NULL ? !has_word (found, blocks) : strstr (found, "parallel.layers") != NULL)
      fail_msg ("%s: %s", text, found);
    if (strstr (cases[i].arguments, "layout") != NULL)
      assert_true ((strstr (made, "stages have their own layers") != NULL) == (cases[i].blocks == NULL));
  }
}

/* The same as lists of names, as Megatron-Bridge writes them. */
static void
stages_are_lists_of_layers (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *layout, *virtual, *blocks; /* NULL: it is not set */
  } cases[] = {
    { "[[embedding, decoder, decoder], [decoder, loss]]", NULL, "2,1" },
    { "[[embedding, decoder], [decoder], [decoder, decoder], [loss]]", "2", "1,1,2,0" },
    { "[[embedding, decoder], [decoder], [loss]]", NULL, NULL }, /* three parts on two stages */
    { "null", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "model:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 2\n"
        "  num_layers: 3\n  pipeline_model_parallel_layout: %s\n",
        cases[i].layout);
    g_autofree char *made = import_job (NULL, "a.yaml", text, 0, 0), *found = flat_job (made);
    g_autofree char *parts = g_strdup_printf ("parallel.virtual=%s", cases[i].virtual),
                    *blocks = g_strdup_printf ("parallel.layers=%s", cases[i].blocks);

    assert_true (cases[i].virtual != NULL ? has_word (found, parts) : strstr (found, "virtual") == NULL);
    if (cases[i].blocks != NULL ? !has_word (found, blocks) : strstr (found, "layers") != NULL)
      fail_msg ("%s: %s", text, found);
    assert_true ((strstr (made, "stages have their own layers") != NULL) == (i == 2));
  }
}

/* What no pipeline has gives no blocks. */
static void
uneven_stages_have_limits (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint stages, layers;
    gboolean is_divided;
  } cases[] = {
    { 1, 8, FALSE }, { 2, 8, TRUE }, { 10000, 8, TRUE },  { 10001, 8, FALSE },
    { 2, 0, FALSE }, { 2, 1, TRUE }, { 2, 100000, TRUE }, { 2, 100001, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "--tensor-model-parallel-size 1 --pipeline-model-parallel-size %u --num-layers %u "
        "--account-for-loss-in-pipeline-split\n",
        cases[i].stages, cases[i].layers);
    g_autofree char *made = import_job (NULL, "a.args", text, 0, 0), *found = flat_job (made);

    if ((strstr (found, "parallel.layers") != NULL) != cases[i].is_divided)
      fail_msg ("%s: %.200s", text, found);
  }
}

/* --- what files start --- */

static void
ranks_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *arguments;
    guint n_ranks; /* of the machine; 0: there is none */
    const char *told, *other;
  } cases[] = {
    { "--nnodes 4 --nproc-per-node 8", 0,
      "the files start 4 nodes of 8 GPUs: cluster: {nodes: 4, gpus_per_node: 8}", NULL },
    { "--nnodes 1 --nproc-per-node 8", 0,
      "the files start 1 node of 8 GPUs: cluster: {nodes: 1, gpus_per_node: 8}", NULL },
    { "--nnodes 4 --nproc-per-node 8", 32, "the files start 4 nodes of 8 GPUs", NULL },
    { "--nnodes 4 --nproc-per-node 8", 16, "the files start 4 nodes of 8 GPUs",
      "the machine has 16 GPUs; the batch of each GPU stays as it is, unless the job has a global_batch" },
    { "--world-size 64", 0, NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
                        "torchrun %s x.py --tensor-model-parallel-size 2 --num-layers 2\n",
                        cases[i].arguments),
                    *made = import_job (NULL, "a.args", text, 0, cases[i].n_ranks),
                    *notes = flat_notes (made);

    if (cases[i].told != NULL && strstr (notes, cases[i].told) == NULL)
      fail_msg ("%s:\n%s", text, notes);
    assert_true ((strstr (notes, "the machine has") != NULL) == (cases[i].other != NULL));
    if (cases[i].other != NULL)
      assert_non_null (strstr (notes, cases[i].other));
  }
}

/* What means nothing, or contradicts itself, is left out. */
static void
contradictions_are_settled (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *arguments;
    gboolean has_sequence;
  } cases[] = {
    { "--tensor-model-parallel-size 2 --sequence-parallel", TRUE },
    { "--tensor-model-parallel-size 1 --sequence-parallel", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("%s --tp-comm-overlap --num-layers 2\n", cases[i].arguments),
                    *made = import_job (NULL, "a.args", text, 0, 0), *found = flat_job (made),
                    *notes = flat_notes (made);

    assert_true ((strstr (found, "parallel.sequence=true") != NULL) == cases[i].has_sequence);
    assert_true ((strstr (notes, "left out, as it means nothing with one tensor-parallel rank") != NULL)
                 == !cases[i].has_sequence);
    assert_true ((strstr (found, "overlap_tensor") != NULL) == cases[i].has_sequence);
  }
}

static void
what_is_no_job_is_refused (G_GNUC_UNUSED void **state)
{
  static const char zero[] = "{\"train_batch_size\": 8}\0 ";
  FabFileText file = { "c", zero, sizeof zero - 1 };
  FabImportJobRequest request = { .files = &file, .n_files = 1 };
  g_autoptr (GError) error = NULL, none = NULL;
  g_autofree char *made = import_job (NULL, "c", "hello: world\n", 0, 0);

  assert_true (g_str_has_prefix (
      made, "c: this is no configuration of a training program that is known here; known are torchtitan, "));
  assert_true (g_str_has_suffix (made, ", and --from names one"));
  assert_null (fab_import_job (&request, &error));
  assert_string_equal (error->message, "c: the file is no text, or larger than 8 MiB");
  file.size = strlen (zero);
  request.has_machine = TRUE;
  assert_null (fab_import_job (&request, &none));
  assert_string_equal (none->message,
                       "c: no file names a model of the catalogue; --model config.json, or a name of "
                       "`fabricast describe models`, gives it");
}

/* --- what is written --- */

/* Everything that is told of two files, which describe one job together. */
static void
files_are_told_whole (G_GNUC_UNUSED void **state)
{
  static const char arguments[] =
      "per_device_train_batch_size: 4\nmy_key: 1\nper_device_train_batch_size: 2\n"
      "lora_r: 8\nother: 2\nuse_galore: true\nload_in_4bit: true\n"
      "model_name_or_path: my/own\n",
                    sharding[] = "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2\n"
                                 "more: 1\nfsdp_config: {fsdp_sharding_strategy: 1}\n";
  const FabFileText files[] = { { "a.yaml", arguments, sizeof arguments - 1 },
                                { "b.yaml", sharding, sizeof sharding - 1 } };
  const FabImportJobRequest request = { .files = files, .n_files = 2, .n_ranks = 8, .catalog = catalog };
  g_autoptr (GError) error = NULL;
  g_autofree char *made = fab_import_job (&request, &error);

  assert_string_equal (
      made,
      "# A job, from a.yaml, b.yaml\n"
      "#\n"
      "# Read:\n"
      "# - a.yaml:3: per_device_train_batch_size: 2 is job.micro_batch: 2\n"
      "# - a.yaml:4: lora_r: 8 is job.lora_rank: 8\n"
      "# - b.yaml:5: fsdp_config.fsdp_sharding_strategy: 1 is job.sharding: full\n"
      "#\n"
      "# Inferred; change it where you know better:\n"
      "# - a.yaml:3: per_device_train_batch_size is written twice, and the last one counts\n"
      "# - job.precision: fp32, as neither bf16, fp16 nor tf32 is set\n"
      "# - job.model: the catalogue has none for my/own; --model config.json gives it\n"
      "# - the files start 2 nodes of 8 GPUs: cluster: {nodes: 2, gpus_per_node: 8}\n"
      "# - the machine has 8 GPUs; the batch of each GPU stays as it is, unless the job has a global_batch\n"
      "#\n"
      "# Changes communication, and no key of Fabricast says it:\n"
      "# - a.yaml:7: load_in_4bit true: frozen weights have 4 bits, and travel so under FSDP\n"
      "# - a.yaml:6: use_galore true: gradients are projected before the optimizer\n"
      "#\n"
      "# Not looked at, because nothing here depends on them or they are not known here:\n"
      "# - my_key, other, more\n"
      "\n"
      "job:\n"
      "  kind: fsdp\n"
      "  micro_batch: 2\n"
      "  lora_rank: 8\n"
      "  precision: fp32\n"
      "  sharding: full\n"
      "  # model: NAME  # no file names it: --model config.json, or a name of `describe models`\n");
}

/* A model that the files describe, one that is given, and one of the catalogue. */
static void
models_are_written (G_GNUC_UNUSED void **state)
{
  static const char text[] = "device_train_microbatch_size: 4\nmodel: {d_model: 64, n_layers: 2}\n",
                    given[] = "models:\n  - name: own\n";
  const FabFileText file = { "a.yaml", text, sizeof text - 1 };
  FabImportJobRequest request = { .files = &file, .n_files = 1, .has_machine = TRUE, .catalog = catalog };
  g_autofree char *described = fab_import_job (&request, NULL), *named = NULL, *own = NULL;

  assert_true (g_str_has_suffix (described,
                                 "\njob:\n  kind: fsdp\n  model: imported\n  micro_batch: 4\n"
                                 "  clip_gradients: false\n"
                                 "\nmodels:\n  - name: imported\n    shape:\n      kind: transformer\n"
                                 "      hidden: 64\n      layers: 2\n      gated: false\n"
                                 "      feed_forward: 256\n      biases: true\n"
                                 "    source: the configuration of the job\n"));
  request.model_name = "gpt2";
  named = fab_import_job (&request, NULL);
  assert_non_null (strstr (named, "# - job.model: gpt2, as --model says\n"));
  assert_true (g_str_has_suffix (named, "\njob:\n  kind: fsdp\n  model: gpt2\n  micro_batch: 4\n"
                                        "  clip_gradients: false\n"));
  request.model_name = "own";
  request.model = given;
  own = fab_import_job (&request, NULL);
  assert_true (g_str_has_suffix (own, "  clip_gradients: false\n\nmodels:\n  - name: own\n"));
}

/* A name of a size that the catalogue lacks is not taken for another one; what follows a size does not matter. */
static void
models_are_known_by_name (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = {
    { "meta-llama/Llama-3.1-70B-Instruct", "llama3-70b" },
    { "meta-llama/Llama-2-13b-hf", "llama2-13b" },
    { "llama3.1_8B.yaml", "llama3-8b" },
    { "gpt2-medium", "gpt2-medium" },
    { "gpt3-13b", "gpt3-13b" },
    { "gpt3_1.3B.yaml", "gpt3-1.3b" },
    { "Qwen2.5-7B", "qwen2.5-7b" },
    { "qwen25_7b", "qwen2.5-7b" },
    { "deepseek-v3.5", NULL },
    { "gpt2", "gpt2" },
    { "path/to/gpt2/", "gpt2" },
    { "gpt2-7b", NULL },
    { "gpt2-x-13b", NULL },
    { "gpt2-13", NULL },
    { "deepseek-v3", "deepseek-v3" },
    { "deepseek_v3-671B", "deepseek-v3" },
    { "deepseek-v3-16b", NULL },
    { "DeepSeek-V3-Base", "deepseek-v3" },
    { "Qwen/Qwen2.5-72B", NULL },
    { "my/own", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("per_device_train_batch_size: 1\nmodel_name_or_path: %s\n",
                                             cases[i][0]),
                    *made = import_job (catalog, "a.yaml", text, 0, 0), *job = flat_job (made),
                    *wanted = g_strconcat ("kind=ddp ", cases[i][1] ? "model=" : "",
                                           cases[i][1] ? cases[i][1] : "", cases[i][1] ? " " : "",
                                           "micro_batch=1 precision=fp32", NULL);

    if (strcmp (job, wanted) != 0)
      fail_msg ("%s: '%s', and not '%s'", cases[i][0], job, wanted);
  }
}

/* GPUs that are started: of each node, or all together. */
static void
gpus_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    guint n_ranks; /* of the machine */
    const char *told;
    gboolean is_other;
  } cases[] = {
    { "num_machines: 3\nnum_processes: 24", 0,
      "the files start 3 nodes of 8 GPUs: cluster: {nodes: 3, gpus_per_node: 8}", FALSE },
    { "num_machines: 1\nnum_processes: 1", 0,
      "the files start 1 node of 1 GPUs: cluster: {nodes: 1, gpus_per_node: 1}", FALSE },
    { "num_machines: 4\nnum_processes: 3", 0, "the files start 3 GPUs", FALSE },
    { "num_machines: 4", 0, NULL, FALSE },
    { "num_machines: 4", 8, NULL, FALSE },
    { "num_processes: 24", 24, "the files start 24 GPUs", FALSE },
    { "num_processes: 1", 8, "the files start 1 GPUs", TRUE },
    { "num_processes: 24", 1, "the files start 24 GPUs", TRUE },
    { "num_processes: 24", 16, "the files start 24 GPUs", TRUE },
    { "num_processes: 1000000", 0, "the files start 1000000 GPUs", FALSE },
    { "num_processes: 1000001", 0, NULL, FALSE },
    { "num_processes: 0", 0, NULL, FALSE },
    { "num_processes: null", 0, NULL, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("distributed_type: FSDP\n%s\n", cases[i].keys),
                    *made = import_job (catalog, "a.yaml", text, 0, cases[i].n_ranks),
                    *notes = flat_notes (made);

    if (cases[i].told != NULL ? strstr (notes, cases[i].told) == NULL
                              : strstr (notes, "the files start") != NULL)
      fail_msg ("%s:\n%s", text, notes);
    assert_int_equal (strstr (notes, "the machine has") != NULL, cases[i].is_other);
  }
}

/* The batch of the whole job goes before an accumulation, and the format that is named before what a text looks
 * like. */
static void
requests_are_kept (G_GNUC_UNUSED void **state)
{
  static const char both[] = "global_train_batch_size: 64\ndevice_train_microbatch_size: 4\n"
                             "gradient_accumulation_steps: 2\n";
  const FabFileText file = { "a.yaml", both, sizeof both - 1 };
  FabImportJobRequest request = { .files = &file, .n_files = 1, .format = "accelerate" };
  g_autofree char *named = fab_import_job (&request, NULL), *found = flat_job (named);
  static const ImportedJob settled[] = {
    { "global_batch_size = 16\ngradient_accumulation_steps = 2", "kind=fsdp global_batch=16 gradient=fp32",
      NULL, "job.accumulation: left out, as job.global_batch says it" },
    { "gradient_accumulation_steps = 2", "kind=fsdp accumulation=2 gradient=fp32", NULL, NULL },
  };
  g_autoptr (GError) error = NULL;

  assert_string_equal (found, "kind=fsdp accumulation=2");
  assert_imported_jobs (catalog, "a.toml", "[training]\nKEY\n# seq_len\n", settled, G_N_ELEMENTS (settled));
  request.format = "acelerate";
  assert_null (fab_import_job (&request, &error));
  assert_true (g_str_has_prefix (
      error->message, "--from acelerate: unknown format of jobs; nearest is accelerate; the formats are "));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (keys_of_deepspeed),
    cmocka_unit_test (truth_has_several_words),
    cmocka_unit_test (wrong_values_are_refused_at_their_line),
    cmocka_unit_test (values_stand_for_others),
    cmocka_unit_test (batches_and_buckets_are_concluded),
    cmocka_unit_test (stages_have_their_blocks),
    cmocka_unit_test (stages_are_lists_of_layers),
    cmocka_unit_test (uneven_stages_have_limits),
    cmocka_unit_test (ranks_are_counted),
    cmocka_unit_test (contradictions_are_settled),
    cmocka_unit_test (what_is_no_job_is_refused),
    cmocka_unit_test (files_are_told_whole),
    cmocka_unit_test (models_are_written),
    cmocka_unit_test (models_are_known_by_name),
    cmocka_unit_test (gpus_are_counted),
    cmocka_unit_test (requests_are_kept),
  };

  return play_run_tests ("import_job", tests, &catalog);
}
