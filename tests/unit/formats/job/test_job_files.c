/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_files.c - files of each training program but DeepSpeed: what they say of the batch, of sharding, of
 * recomputation and of the shape of the model, and what is concluded where they say nothing. */
#include "tests/unit/formats/job/imported_job.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

/* Ranks that shard, copies of the model, and what overrides them. */
static void
torchtitan_shards (G_GNUC_UNUSED void **state)
{
  static const char told_of_node[] =
      "job.shard: the ranks of one node, as data_parallel_shard_degree is what the other degrees leave";
  static const ImportedJob cases[] = {
    { "", "kind=fsdp sequence=64 gradient=fp32", NULL, NULL },
    { "data_parallel_shard_degree = 1", "kind=fsdp sequence=64 gradient=fp32", NULL, NULL },
    { "data_parallel_replicate_degree = 1", "kind=fsdp sequence=64 gradient=fp32", NULL, NULL },
    { "data_parallel_shard_degree = 1\ndata_parallel_replicate_degree = 4",
      "kind=ddp sequence=64 gradient=fp32", NULL, "job.kind: ddp, as data_parallel_shard_degree is 1" },
    { "data_parallel_shard_degree = 1\ndata_parallel_replicate_degree = 4\n[training]\nenable_cpu_offload = true",
      "kind=ddp sequence=64 gradient=fp32", NULL, NULL },
    { "[training]\nenable_cpu_offload = true", "kind=fsdp sequence=64 cpu_offload=true gradient=fp32", NULL,
      NULL },
    { "data_parallel_replicate_degree = 2", "kind=fsdp sharding=hybrid sequence=64 gradient=fp32", NULL,
      told_of_node },
    { "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 2",
      "kind=fsdp sharding=hybrid shard=2 sequence=64 gradient=fp32", NULL,
      "job.shard: 2, by data_parallel_shard_degree" },
    { "data_parallel_replicate_degree = 2\nfsdp_reshard_after_forward = 'never'",
      "kind=fsdp sharding=hybrid_grad_op sequence=64 gradient=fp32", NULL, told_of_node },
    { "fsdp_reshard_after_forward = 'never'", "kind=fsdp sharding=grad_op sequence=64 gradient=fp32", NULL,
      NULL },
    { "fsdp_reshard_after_forward = 'always'", "kind=fsdp sequence=64 gradient=fp32", NULL, NULL },
    { "tensor_parallel_degree = 2",
      "kind=fsdp sequence=64 parallel.tensor=2 parallel.sequence=true gradient=fp32", NULL, NULL },
    { "tensor_parallel_degree = 1", "kind=fsdp sequence=64 parallel.tensor=1 gradient=fp32", NULL, NULL },
    { "enable_sequence_parallel = false", "kind=fsdp sequence=64 gradient=fp32", NULL,
      "enable_sequence_parallel false: norms and residuals are not divided by tokens" },
    { "[training]\nmixed_precision_reduce = 'bfloat16'", "kind=fsdp sequence=64 gradient=bf16", NULL, NULL },
  };

  assert_imported_jobs (catalog, "a.toml", "[training]\nseq_len = 64\n[parallelism]\nKEY\n", cases,
                        G_N_ELEMENTS (cases));
}

/* A pipeline divides the local batch. Selective recomputation is that of operators, unless whole blocks are named. */
static void
torchtitan_divides_batches (G_GNUC_UNUSED void **state)
{
  static const ImportedJob pipelines[] = {
    { "local_batch_size = 8\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3",
      "kind=fsdp micro_batch=3 parallel.pipeline=2 accumulation=2 gradient=fp32", NULL, NULL },
    { "local_batch_size = 2\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3",
      "kind=fsdp micro_batch=3 parallel.pipeline=2 accumulation=1 gradient=fp32", NULL, NULL },
    { "local_batch_size = 2\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 0",
      "kind=fsdp micro_batch=1 parallel.pipeline=2 accumulation=2 gradient=fp32", NULL, NULL },
    { "batch_size = 4\n[parallelism]\npipeline_parallel_degree = 2",
      "kind=fsdp micro_batch=1 parallel.pipeline=2 accumulation=4 gradient=fp32", NULL, NULL },
    { "[parallelism]\npipeline_parallel_degree = 2",
      "kind=fsdp parallel.pipeline=2 micro_batch=1 accumulation=1 gradient=fp32", NULL, NULL },
    { "global_batch_size = 16\n[parallelism]\npipeline_parallel_degree = 2",
      "kind=fsdp global_batch=16 parallel.pipeline=2 micro_batch=1 gradient=fp32", NULL, NULL },
    { "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = 'GPipe'",
      "kind=fsdp parallel.pipeline=2 parallel.schedule=gpipe micro_batch=1 accumulation=1 gradient=fp32",
      NULL, NULL },
    { "local_batch_size = 4\n[parallelism]\npipeline_parallel_degree = 1\npipeline_parallel_schedule = 'GPipe'",
      "kind=fsdp micro_batch=4 parallel.pipeline=1 gradient=fp32", NULL, NULL },
  };
  static const ImportedJob others[] = {
    { "[activation_checkpoint]\nmode = 'selective'", "kind=fsdp recompute=operators gradient=fp32", NULL,
      NULL },
    { "[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = 'op'",
      "kind=fsdp recompute=operators gradient=fp32", NULL, NULL },
    { "[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = '2'",
      "kind=fsdp recompute=full gradient=fp32", NULL,
      "job.recompute: full, as selective_ac_option recomputes every n-th block whole" },
    { "[activation_checkpoint]\nmode = 'none'\nselective_ac_option = '2'",
      "kind=fsdp recompute=none gradient=fp32", NULL, NULL },
    { "[model]\nconverters = ['float8']", "kind=fsdp gradient=fp32 precision=fp8", NULL,
      "job.precision: fp8, by model.converters" },
    { "[model]\nconverters = ['quantize.linear.fp8']", "kind=fsdp gradient=fp32 precision=fp8", NULL, NULL },
    { "[model]\nconverters = ['mx']", "kind=fsdp gradient=fp32", NULL, NULL },
    { "[model]\nname = 'llama3'\nflavor = '8B'", "kind=fsdp model=llama3-8b gradient=fp32", NULL, NULL },
    { "[model]\nname = 'gpt2'", "kind=fsdp model=gpt2 gradient=fp32", NULL, NULL },
    { "[model]\nflavor = '8B'", "kind=fsdp gradient=fp32", NULL, NULL },
  };

  assert_imported_jobs (catalog, "a.toml", "[training]\nKEY\n# seq_len\n", pipelines,
                        G_N_ELEMENTS (pipelines));
  assert_imported_jobs (catalog, "a.toml", "[parallelism]\n[training]\nKEY\n", others, G_N_ELEMENTS (others));
}

/* --- nanotron --- */

static void
nanotron_shards_or_not (G_GNUC_UNUSED void **state)
{
#define NANOTRON "compute.kind=auto compute.stack=nanotron"
  static const ImportedJob cases[] = {
    { "parallelism: {dp: 2}", "kind=ddp " NANOTRON " accumulation=4", "", "the files start 2 GPUs" },
    { "parallelism: {dp: 2, tp: 3, pp: 5, context_parallel_size: 7}",
      "kind=ddp " NANOTRON " accumulation=4 parallel.tensor=3 parallel.pipeline=5 parallel.context=7", "",
      "the files start 210 GPUs" },
    { "parallelism: {dp: 2, tp: 0}", "kind=ddp " NANOTRON " accumulation=4 parallel.tensor=0", "",
      "the files start 2 GPUs" },
    { "parallelism: {dp: 1000000, tp: 1000000}",
      "kind=ddp " NANOTRON " accumulation=4 parallel.tensor=1000000", "", "the files start 1000000 GPUs" },
    { "parallelism:\noptimizer: {zero_stage: 0}\nmodel: {ddp_bucket_cap_mb: 25}",
      "kind=ddp " NANOTRON " bucket=25MiB accumulation=4", "",
      "a.yaml:5: model.ddp_bucket_cap_mb: 25 is job.bucket: 25MiB" },
    { "parallelism:\noptimizer: {zero_stage: 1}\nmodel: {ddp_bucket_cap_mb: 25}",
      "kind=zero " NANOTRON " stage=1 accumulation=4", "", NULL },
    { "parallelism:\nmodel: {ddp_bucket_cap_mb: 0}", "kind=ddp " NANOTRON " accumulation=4", "", NULL },
    { "parallelism:\noptimizer: {accumulate_grad_in_fp32: true}",
      "kind=ddp " NANOTRON " gradient=fp32 accumulation=4", "", NULL },
    { "parallelism: {tp: 2, tp_mode: REDUCE_SCATTER}",
      "kind=ddp " NANOTRON " accumulation=4 parallel.tensor=2 parallel.sequence=true", "", NULL },
    { "parallelism:\nmodel: {model_config: {num_hidden_layers: 2}}",
      "kind=ddp model=imported " NANOTRON " accumulation=4", "layers=2 gated=true biases=false norm=rms",
      NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_imported_jobs (catalog, "a.yaml", "tokens:\n  batch_accumulation_per_replica: 4\nKEY\n", &cases[i],
                          1);
  for (guint i = 0; i < 3; i++) {
    static const char *const none[] = { "{tp: 2}", "{dp: 0}", "{dp: 1000001}" };
    g_autofree char *text = g_strdup_printf (
                        "tokens:\n  batch_accumulation_per_replica: 4\nparallelism: %s\n", none[i]),
                    *made = import_job (catalog, "a.yaml", text, 0, 0);

    assert_null (strstr (made, "the files start"));
  }
}

/* --- GPT-NeoX --- */

static void
neox_has_its_own_defaults (G_GNUC_UNUSED void **state)
{
#define NEOX "kind=ddp model=imported precision=fp32 clip_gradients=false"
#define NEOX_SHAPE(vocabulary) \
  "layers=2 gated=false attention=full vocabulary=" vocabulary " tied=true biases=true norm=layer"
  static const ImportedJob cases[] = {
    /* 393 x 128 = 50304 is the first multiple of 128 from 50277; 197 x 256 = 50432. */
    { "", NEOX, NEOX_SHAPE ("50304"), "shape.vocabulary: 50304, 50277 tokens of GPT-NeoX-20B's tokenizer" },
    { "model_parallel_size: 2",
      "kind=ddp model=imported precision=fp32 clip_gradients=false parallel.tensor=2", NEOX_SHAPE ("50432"),
      NULL },
    { "tokenizer_type: HFTokenizer\nmake_vocab_size_divisible_by: 10", NEOX, NEOX_SHAPE ("50280"), NULL },
    { "tokenizer_type: GPT2BPETokenizer\nmake_vocab_size_divisible_by: 10", NEOX, NEOX_SHAPE ("50260"),
      "shape.vocabulary: 50260, GPT-2's 50257 tokens, padded as GPT-NeoX does" },
    { "tokenizer_type: GPT2BPETokenizer\nmake_vocab_size_divisible_by: 1", NEOX, NEOX_SHAPE ("50257"), NULL },
    { "make_vocab_size_divisible_by: 50277", NEOX, NEOX_SHAPE ("50277"), NULL },
    { "make_vocab_size_divisible_by: 1", NEOX, NEOX_SHAPE ("50277"), NULL },
    { "make_vocab_size_divisible_by: 1000000", NEOX, NEOX_SHAPE ("1000000"), NULL },
    { "make_vocab_size_divisible_by: 1000001", NEOX,
      "layers=2 gated=false attention=full tied=true biases=true norm=layer", NULL },
    { "make_vocab_size_divisible_by: 0", NEOX,
      "layers=2 gated=false attention=full tied=true biases=true norm=layer", NULL },
    { "padded_vocab_size: 70000", NEOX,
      "layers=2 vocabulary=70000 gated=false attention=full tied=true biases=true norm=layer", NULL },
    { "activation: swiglu", NEOX,
      "layers=2 gated=true attention=full vocabulary=50304 tied=true biases=true norm=layer",
      "shape.gated: true, by activation" },
    { "activation: gelu\nmlp_type: llama\nintermediate_size: 100", NEOX,
      "layers=2 gated=true feed_forward=100 attention=full vocabulary=50304 tied=true biases=true norm=layer",
      NULL },
    { "intermediate_size: 100000000", NEOX,
      "layers=2 gated=false feed_forward=100000000 attention=full vocabulary=50304 tied=true biases=true "
      "norm=layer",
      NULL },
    { "intermediate_size: 100000001", NEOX, NEOX_SHAPE ("50304"), NULL },
    { "intermediate_size: 1", NEOX,
      "layers=2 gated=false feed_forward=1 attention=full vocabulary=50304 tied=true biases=true norm=layer",
      NULL },
    { "attention_config: [[[flash], 2]]", NEOX,
      "layers=2 gated=false vocabulary=50304 tied=true biases=true norm=layer", NULL },
    { "attention_config: flash", NEOX,
      "layers=2 gated=false vocabulary=50304 tied=true biases=true norm=layer", NULL },
    { "attention_config: [[[global, flash], 1], [[local], 1]]", NEOX,
      "layers=2 gated=false vocabulary=50304 tied=true biases=true norm=layer", NULL },
    { "attention_config: [[[global], 2]]", NEOX, NEOX_SHAPE ("50304"),
      "shape.attention: full, as attention_config names no flash attention" },
    { "attention_config: null", NEOX, NEOX_SHAPE ("50304"), NULL },
    { "max_position_embeddings: 64", NEOX,
      "layers=2 gated=false attention=full positions=64 vocabulary=50304 tied=true biases=true norm=layer",
      NULL },
    { "max_position_embeddings: 10000000\npos_emb: learned", NEOX,
      "layers=2 gated=false attention=full positions=10000000 vocabulary=50304 tied=true biases=true norm=layer",
      NULL },
    { "max_position_embeddings: 10000001", NEOX, NEOX_SHAPE ("50304"), NULL },
    { "max_position_embeddings: 64\npos_emb: rotary", NEOX, NEOX_SHAPE ("50304"), NULL },
    { "no_weight_tying: true", NEOX,
      "layers=2 gated=false attention=full vocabulary=50304 tied=false biases=true norm=layer", NULL },
    { "use_bias_in_attn_linear: False", NEOX,
      "layers=2 gated=false attention=full vocabulary=50304 tied=true biases=false norm=layer", NULL },
    { "norm: rmsnorm", NEOX,
      "layers=2 norm=rms gated=false attention=full vocabulary=50304 tied=true biases=true", NULL },
    { "checkpoint_activations: true\ncheckpoint_num_layers: 2",
      "kind=ddp model=imported precision=fp32 clip_gradients=false recompute=full recompute_layers=2 "
      "recompute_method=uniform",
      NULL, NULL },
    { "checkpoint_activations: true\ncheckpoint_num_layers: 1",
      "kind=ddp model=imported precision=fp32 clip_gradients=false recompute=full", NULL, NULL },
    { "checkpoint_num_layers: 2", NEOX, NULL, NULL },
  };
  static const ImportedJob without_shape[] = {
    { "gpt_j_residual: true", "kind=ddp precision=fp32 clip_gradients=false", "", NULL },
    { "zero_optimization: {stage: 4}", "a.yml:3: zero_optimization.stage: from 0 to 3", "", NULL },
  };

  assert_imported_jobs (catalog, "a.yml", "pipe_parallel_size: 0\nnum_layers: 2\nKEY\n", cases,
                        G_N_ELEMENTS (cases));
  assert_imported_jobs (catalog, "a.yml", "pipe_parallel_size: 0\nmy_key: 1\nKEY\n", without_shape,
                        G_N_ELEMENTS (without_shape));
}

/* Keys have dashes or underscores, and one of five of them tells whose file it is. */
static void
neox_is_known_by_its_keys (G_GNUC_UNUSED void **state)
{
  static const char *const marks[] = { "pipe_parallel_size: 0", "pipe-parallel-size: 0",
                                       "gpt_j_residual: false", "gpt-j-residual: false",
                                       "deepspeed_slurm: true" };

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++) {
    g_autofree char *text = g_strdup_printf ("%s\nseq-length: 64\nmodel-parallel-size: 2\n", marks[i]),
                    *made = import_job (catalog, "a.yml", text, 0, 0), *job = flat_job (made);

    assert_string_equal (job, "kind=ddp precision=fp32 clip_gradients=false sequence=64 parallel.tensor=2");
  }
}

/* --- Composer and OLMo --- */

static void
composer_has_shapes (G_GNUC_UNUSED void **state)
{
#define COMPOSER_OF(sequence) "kind=fsdp model=imported micro_batch=4" sequence " clip_gradients=false"
#define COMPOSER COMPOSER_OF ("")
  static const ImportedJob shapes[] = {
    { "", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=256 biases=true",
      "shape.feed_forward: 256, by the model width and its ratio" },
    { "expansion_ratio: 3", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=192 biases=true", NULL },
    { "expansion_ratio: 1000", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=64000 biases=true",
      NULL },
    { "expansion_ratio: 1001", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=64000 biases=true",
      NULL },
    { "expansion_ratio: 0", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=64 biases=true", NULL },
    { "ffn_config: {ffn_type: mptgeglu}", COMPOSER,
      "hidden=64 layers=2 gated=true feed_forward=256 biases=true",
      "shape.gated: true, by the type of the MLP" },
    { "ffn_config: {ffn_type: mptmlp}", COMPOSER,
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true",
      "shape.gated: false, as the MLP has no gate" },
    { "ffn_config: {mlp_type: glu, ffn_hidden_size: 100}", COMPOSER,
      "hidden=64 layers=2 gated=true feed_forward=100 biases=true",
      "shape.feed_forward: 100, by ffn_hidden_size" },
    { "ffn_config: {ffn_hidden_size: 1}\n  mlp_hidden_size: 300", COMPOSER,
      "hidden=64 layers=2 gated=false feed_forward=1 biases=true",
      "shape.feed_forward: 1, by ffn_hidden_size" },
    { "mlp_hidden_size: 1", COMPOSER, "hidden=64 layers=2 gated=false feed_forward=1 biases=true",
      "shape.feed_forward: 1, by mlp_hidden_size" },
    { "ffn_config: {ffn_hidden_size: 100000000}", COMPOSER,
      "hidden=64 layers=2 gated=false feed_forward=100000000 biases=true", NULL },
    { "ffn_config: {ffn_hidden_size: 100000001}", COMPOSER, "hidden=64 layers=2 gated=false biases=true",
      NULL },
    { "no_bias: true", COMPOSER, "hidden=64 layers=2 biases=false gated=false feed_forward=256", NULL },
    { "max_seq_len: 128", COMPOSER_OF (" sequence=128"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true positions=128", NULL },
    { "max_seq_len: 128\n  rope: true", COMPOSER_OF (" sequence=128"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true", NULL },
    { "max_seq_len: 128\n  attn_config: {rope: true}", COMPOSER_OF (" sequence=128"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true", NULL },
    { "max_seq_len: 128\n  attn_config: {alibi: true}", COMPOSER_OF (" sequence=128"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true", NULL },
    { "max_seq_len: 128\n  alibi: true", COMPOSER_OF (" sequence=128"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true", NULL },
    /* OLMo's ratio and its mlp_hidden_size count the gate too. */
    { "activation_type: swiglu\n  mlp_ratio: 8", COMPOSER,
      "hidden=64 layers=2 gated=true feed_forward=256 biases=true norm=layer", NULL },
    { "activation_type: gelu\n  mlp_ratio: 8", COMPOSER,
      "hidden=64 layers=2 gated=false feed_forward=512 biases=true norm=layer", NULL },
    { "activation_type: swiglu\n  mlp_hidden_size: 300", COMPOSER,
      "hidden=64 layers=2 gated=true feed_forward=150 biases=true norm=layer",
      "shape.feed_forward: 150, by mlp_hidden_size" },
    { "activation_type: swiglu\n  mlp_hidden_size: 300\n  mlp_ratio: 2", COMPOSER,
      "hidden=64 layers=2 gated=true feed_forward=150 biases=true norm=layer", NULL },
    { "activation_type: gelu\n  mlp_hidden_size: 300", COMPOSER,
      "hidden=64 layers=2 gated=false feed_forward=300 biases=true norm=layer", NULL },
    { "max_sequence_length: 32\n  layer_norm_type: rms", COMPOSER_OF (" sequence=32"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true norm=rms", NULL },
    { "max_sequence_length: 32\n  layer_norm_with_affine: false", COMPOSER_OF (" sequence=32"),
      "hidden=64 layers=2 gated=false feed_forward=256 biases=true norm=none", NULL },
    { "activation_type: gelu\n  norm_type: rmsnorm", COMPOSER,
      "hidden=64 layers=2 norm=rms gated=false feed_forward=256 biases=true", NULL },
  };

  assert_imported_jobs (catalog, "a.yaml",
                        "device_train_microbatch_size: 4\nmodel:\n  d_model: 64\n  n_layers: 2\n  KEY\n",
                        shapes, G_N_ELEMENTS (shapes));
}

static void
composer_shards_or_not (G_GNUC_UNUSED void **state)
{
  static const ImportedJob cases[] = {
    { "", "kind=fsdp micro_batch=4 clip_gradients=false", "",
      "job.clip_gradients: false, as nothing clips them" },
    { "fsdp_config: {mixed_precision: PURE, sharding_strategy: SHARD_GRAD_OP, data_parallel_shard_degree: 8}",
      "kind=fsdp micro_batch=4 gradient=bf16 shard=8 sharding=grad_op clip_gradients=false", "", NULL },
    { "distributed_strategy: ddp\nfsdp_config: {mixed_precision: PURE, sharding_strategy: SHARD_GRAD_OP}",
      "kind=ddp micro_batch=4 clip_gradients=false", "", NULL },
    { "distributed_strategy: fsdp", "kind=fsdp micro_batch=4 clip_gradients=false", "", NULL },
    { "max_grad_norm: 1.0", "kind=fsdp micro_batch=4 clip_gradients=true", "", NULL },
    { "max_grad_norm: 0", "kind=fsdp micro_batch=4 clip_gradients=false", "", NULL },
    { "fsdp_config: {activation_checkpointing: true}",
      "kind=fsdp micro_batch=4 recompute=full clip_gradients=false", "", NULL },
    { "distributed_strategy: ddp\nactivation_checkpointing: whole_layer",
      "kind=ddp micro_batch=4 recompute=full clip_gradients=false", "", NULL },
    { "distributed_strategy: ddp\nactivation_checkpointing: null",
      "kind=ddp micro_batch=4 clip_gradients=false", "", NULL },
    { "distributed_strategy: ddp\nactivation_checkpointing: one_in_four",
      "kind=ddp micro_batch=4 clip_gradients=false", "",
      "a.yaml:3: activation_checkpointing is one_in_four, which keeps a part of the activations; "
      "job.recompute is left out" },
  };

  assert_imported_jobs (catalog, "a.yaml", "device_train_microbatch_size: 4\nKEY\n", cases,
                        G_N_ELEMENTS (cases));
}

/* --- Accelerate --- */

static void
accelerate_says_what_it_uses (G_GNUC_UNUSED void **state)
{
  static const ImportedJob cases[] = {
    { "distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: 2, fsdp_offload_params: true}",
      "kind=fsdp accumulation=2 sharding=grad_op cpu_offload=true", "", NULL },
    { "distributed_type: MULTI_GPU\nfsdp_config: {fsdp_sharding_strategy: 2}", "kind=ddp accumulation=2", "",
      NULL },
    { "distributed_type: 'no'", "kind=ddp accumulation=2", "", NULL },
    { "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2, gradient_clipping: 1.0}",
      "kind=zero accumulation=2 stage=2 clip_gradients=true", "", NULL },
    { "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 0}", "kind=ddp accumulation=2", "", NULL },
    { "distributed_type: DEEPSPEED\ndeepspeed_config: {deepspeed_config_file: ds.json}",
      "kind=zero accumulation=2", "",
      "a.yaml names ds.json; name that file beside this one: `import job a.yaml ds.json`" },
    { "distributed_type: MEGATRON_LM\nmegatron_lm_config: {megatron_lm_tp_degree: 4}",
      "kind=megatron accumulation=2 parallel.tensor=4", "", NULL },
    { "distributed_type: TPU",
      "a.yaml:2: distributed_type: 'TPU' is not known here; known are FSDP, DEEPSPEED, MULTI_GPU, MEGATRON_LM, NO",
      "", NULL },
    { "distributed_type: null",
      "a.yaml:2: distributed_type: '' is not known here; known are FSDP, DEEPSPEED, MULTI_GPU, MEGATRON_LM, NO",
      "", NULL },
    { "fsdp_config: {fsdp_auto_wrap_policy: NO_WRAP}", "kind=fsdp accumulation=2", "",
      "all weights are one unit, gathered at once" },
    { "fsdp_config: {fsdp_auto_wrap_policy: SIZE_BASED_WRAP}", "kind=fsdp accumulation=2", "",
      "units are by size; here each block is one" },
    { "distributed_type: FSDP\nparallelism_config: {parallelism_config_dp_replicate_size: 2}",
      "kind=fsdp accumulation=2 sharding=hybrid", "", NULL },
    { "distributed_type: FSDP\nparallelism_config: {parallelism_config_dp_replicate_size: 1, "
      "parallelism_config_dp_shard_size: 8}",
      "kind=fsdp accumulation=2", "", NULL },
    { "distributed_type: FSDP\nparallelism_config: {parallelism_config_dp_replicate_size: 2, "
      "parallelism_config_dp_shard_size: 8}",
      "kind=fsdp accumulation=2 sharding=hybrid shard=8", "", NULL },
    { "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2", "kind=fsdp accumulation=2", "",
      "the files start 2 nodes of 8 GPUs: cluster: {nodes: 2, gpus_per_node: 8}" },
    { "distributed_type: FSDP\nnum_processes: 16", "kind=fsdp accumulation=2", "",
      "the files start 16 GPUs" },
  };

  assert_imported_jobs (catalog, "a.yaml", "gradient_accumulation_steps: 2\nKEY\n", cases,
                        G_N_ELEMENTS (cases));
}

/* --- TrainingArguments --- */

static void
trainers_have_their_kind (G_GNUC_UNUSED void **state)
{
  static const ImportedJob cases[] = {
    { "", "kind=ddp micro_batch=4 precision=fp32", "",
      "job.precision: fp32, as neither bf16, fp16 nor tf32 is set" },
    { "ddp_bucket_cap_mb: 50", "kind=ddp bucket=50MiB micro_batch=4 precision=fp32", "",
      "a.yaml:2: ddp_bucket_cap_mb: 50 is job.bucket: 50MiB" },
    { "ddp_bucket_cap_mb: 1", "kind=ddp bucket=1MiB micro_batch=4 precision=fp32", "", NULL },
    { "ddp_bucket_cap_mb: 0", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "ddp_bucket_cap_mb: null", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "bf16: auto", "kind=ddp micro_batch=4 precision=bf16", "",
      "job.precision: bf16, as Axolotl takes auto on GPUs that have it" },
    { "fp16: true", "kind=ddp micro_batch=4 precision=fp16", "", NULL },
    { "fp16: true\nbf16: auto", "kind=ddp micro_batch=4 precision=fp16", "", NULL },
    { "fsdp: ''", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: []", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: null", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: False", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: full_shard auto_wrap offload",
      "kind=fsdp sharding=full cpu_offload=true micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: [shard_grad_op, auto_wrap]", "kind=fsdp sharding=grad_op micro_batch=4 precision=fp32", "",
      NULL },
    { "fsdp: hybrid_shard,auto_wrap", "kind=fsdp sharding=hybrid micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: hybrid_shard_zero2", "kind=fsdp sharding=hybrid_grad_op micro_batch=4 precision=fp32", "",
      NULL },
    { "fsdp_config: {fsdp_version: 2, reshard_after_forward: false}",
      "kind=fsdp sharding=grad_op micro_batch=4 precision=fp32", "", NULL },
    { "fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}",
      "kind=fsdp sharding=full micro_batch=4 precision=fp32", "", NULL },
    { "fsdp: full_shard\nddp_bucket_cap_mb: 50", "kind=fsdp sharding=full micro_batch=4 precision=fp32", "",
      NULL },
    { "deepspeed: ''", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "deepspeed: examples/ds_z3_config.json", "kind=zero stage=3 micro_batch=4 precision=fp32", "",
      "a.yaml names examples/ds_z3_config.json; name that file behind this one, and its keys hold: `import "
      "job a.yaml examples/ds_z3_config.json`" },
    { "deepspeed: zero2.json", "kind=zero stage=2 micro_batch=4 precision=fp32", "",
      "job.stage: 2, by the name of that file" },
    { "deepspeed: zero_1.json", "kind=zero stage=1 micro_batch=4 precision=fp32", "", NULL },
    { "deepspeed: ds_z0_config.json", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "deepspeed: zero/other.json", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
    { "finetuning_type: full", "kind=ddp micro_batch=4 trains=all precision=fp32 recompute=full", "",
      "job.recompute: full, LLaMA-Factory's default" },
    { "finetuning_type: lora\nlora_rank: 8\ndisable_gradient_checkpointing: true",
      "kind=ddp micro_batch=4 trains=lora lora_rank=8 precision=fp32", "", NULL },
    { "deepspeed: {zero_optimization: {stage: 2}, my_key: 1}",
      "kind=zero micro_batch=4 stage=2 precision=fp32 clip_gradients=false", "", "- my_key" },
    { "deepspeed: {zero_optimization: {stage: 4}}", "a.yaml:2: zero_optimization.stage: from 0 to 3", "",
      NULL },
    { "sequence_len: long", "a.yaml:2: sequence_len: 'long' is no whole number", "", NULL },
    { "model_name_or_path: Qwen/Qwen2.5-7B", "kind=ddp model=qwen2.5-7b micro_batch=4 precision=fp32", "",
      "job.model: qwen2.5-7b, the catalogue's entry for Qwen/Qwen2.5-7B" },
    { "model_name_or_path: my/own", "kind=ddp micro_batch=4 precision=fp32", "",
      "job.model: the catalogue has none for my/own; --model config.json gives it" },
    { "model_name_or_path: ''", "kind=ddp micro_batch=4 precision=fp32", "", NULL },
  };
  static const ImportedJob axolotl[] = {
    { "", "kind=ddp sequence=64 precision=fp32 micro_batch=8", "",
      "job.micro_batch: 8, the Trainer's default" },
    { "micro_batch_size: 2", "kind=ddp micro_batch=2 sequence=64 precision=fp32", "", NULL },
  };

  assert_imported_jobs (catalog, "a.yaml", "per_device_train_batch_size: 4\nKEY\n", cases,
                        G_N_ELEMENTS (cases));
  assert_imported_jobs (catalog, "a.yaml", "base_model:\nsequence_len: 64\nKEY\n", axolotl,
                        G_N_ELEMENTS (axolotl));
}

/* --- Megatron-LM --- */

#define MEGATRON "kind=megatron model=imported parallel.tensor=1 precision=fp32"
#define MEGATRON_TAIL " gated=false biases=true tied=true vocabulary=50304"

static void
megatron_has_a_shape (G_GNUC_UNUSED void **state)
{
  static const ImportedJob cases[] = {
    { "", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL,
      "shape.vocabulary: 50304, GPT-2's 50257 tokens, padded as Megatron-LM does" },
    { "--swiglu", MEGATRON, "layers=2 hidden=64 gated=true biases=true tied=true vocabulary=50304",
      "shape.gated: true, by swiglu" },
    { "--gated-linear-unit", MEGATRON, "layers=2 hidden=64 gated=true biases=true tied=true vocabulary=50304",
      NULL },
    { "--glu-activation geglu", MEGATRON,
      "layers=2 hidden=64 gated=true biases=true tied=true vocabulary=50304", NULL },
    { "--disable-bias-linear", MEGATRON,
      "layers=2 hidden=64 gated=false biases=false tied=true vocabulary=50304", NULL },
    { "--add-bias-linear false", MEGATRON,
      "layers=2 hidden=64 gated=false biases=false tied=true vocabulary=50304", NULL },
    { "--add-bias-linear true", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--untie-embeddings-and-output-weights", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=false vocabulary=50304", NULL },
    { "--share-embeddings-and-output-weights false", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=false vocabulary=50304", NULL },
    { "--share-embeddings-and-output-weights true", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--max-position-embeddings 10000000", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true positions=10000000 vocabulary=50304",
      "shape.positions: 10000000, learned, by max-position-embeddings" },
    { "--max-position-embeddings 1 --position-embedding-type learned_absolute", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true positions=1 vocabulary=50304", NULL },
    { "--max-position-embeddings 10000001", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--max-position-embeddings 64 --position-embedding-type rope", MEGATRON,
      "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--max-position-embeddings 64 --use-rotary-position-embeddings", MEGATRON,
      "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--softmax-type learnable", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true sinks=true vocabulary=50304", NULL },
    { "--softmax-type vanilla", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--window-size 127", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true window.width=128 vocabulary=50304",
      "shape.window.width: 128, window_size and the token itself" },
    { "--window-size 10000000", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true window.width=10000001 vocabulary=50304", NULL },
    { "--window-size 10000001", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--window-size 0", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--window-attn-skip-freq 2", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--window-size '(127, 0)' --window-attn-skip-freq 1", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true window.width=128 window.full_every=1 vocabulary=50304",
      NULL },
    { "--window-size 127 --window-attn-skip-freq '[1, 0]'", MEGATRON,
      "layers=2 hidden=64 gated=false biases=true tied=true window.width=128 vocabulary=50304",
      "a.args:1: window_attn_skip_freq is [1, 0]: all blocks have the window here, and not only these" },
    { "--vocab-size 1000", MEGATRON, "layers=2 hidden=64 vocabulary=1000 gated=false biases=true tied=true",
      NULL },
    { "--kv-lora-rank 8", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
    { "--kv-lora-rank 8 --multi-latent-attention", MEGATRON,
      "layers=2 hidden=64 latent.kv_lora_rank=8" MEGATRON_TAIL, NULL },
    /* 50432 is 197 x 256. */
    { "--tensor-model-parallel-size 2", "kind=megatron model=imported parallel.tensor=2 precision=fp32",
      "layers=2 hidden=64 gated=false biases=true tied=true vocabulary=50432", NULL },
  };
  static const ImportedJob none[] = {
    { "--num-layers 2", "kind=megatron parallel.tensor=1 precision=fp32", "", NULL },
    { "--hidden-size 64", "kind=megatron parallel.tensor=1 precision=fp32", "", NULL },
  };

  assert_imported_jobs (catalog, "a.args",
                        "--tensor-model-parallel-size 1 --num-layers 2 --hidden-size 64 KEY\n", cases,
                        G_N_ELEMENTS (cases));
  assert_imported_jobs (catalog, "a.args", "--tensor-model-parallel-size 1 KEY\n", none, G_N_ELEMENTS (none));
}

static void
megatron_has_experts (G_GNUC_UNUSED void **state)
{
#define EXPERTS(more) "layers=2 hidden=64 experts.count=8" more MEGATRON_TAIL
  static const ImportedJob cases[] = {
    { "--num-experts 8", MEGATRON, EXPERTS (""), NULL },
    { "--num-moe-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 100", MEGATRON,
      EXPERTS (" experts.per_token=2 experts.width=100"), NULL },
    { "--num-experts 8 --moe-ffn-hidden-size 100 --moe-shared-expert-intermediate-size 200", MEGATRON,
      EXPERTS (" experts.width=100 experts.shared=2"),
      "shape.experts.shared: 2, moe_shared_expert_intermediate_size over the width of one expert" },
    { "--num-experts 8 --moe-ffn-hidden-size 100 --moe-shared-expert-intermediate-size 100", MEGATRON,
      EXPERTS (" experts.width=100 experts.shared=1"), NULL },
    { "--num-experts 8 --moe-ffn-hidden-size 100 --moe-shared-expert-intermediate-size 99", MEGATRON,
      EXPERTS (" experts.width=100"), NULL },
    { "--num-experts 8 --moe-ffn-hidden-size 1 --moe-shared-expert-intermediate-size 10000", MEGATRON,
      EXPERTS (" experts.width=1 experts.shared=10000"), NULL },
    { "--num-experts 8 --moe-ffn-hidden-size 1 --moe-shared-expert-intermediate-size 10001", MEGATRON,
      EXPERTS (" experts.width=1"), NULL },
    { "--num-experts 8 --moe-shared-expert-intermediate-size 100", MEGATRON, EXPERTS (""), NULL },
    { "--num-experts 8 --ffn-hidden-size 50 --moe-shared-expert-intermediate-size 100", MEGATRON,
      "layers=2 hidden=64 feed_forward=50 experts.count=8 experts.shared=2" MEGATRON_TAIL, NULL },
    { "--num-experts 8 --moe-layer-freq '([0]*3+[1]*58)'", MEGATRON, EXPERTS (" experts.dense_layers=3"),
      NULL },
    { "--num-experts 8 --moe-layer-freq '[0, 0, 1, 0]'", MEGATRON, EXPERTS (" experts.dense_layers=2"),
      NULL },
    { "--num-experts 8 --moe-layer-freq '[1, 1]'", MEGATRON, EXPERTS (""), NULL },
    { "--num-experts 8 --moe-layer-freq '[0]*99999'", MEGATRON, EXPERTS (" experts.dense_layers=99999"),
      NULL },
    { "--num-experts 8 --moe-layer-freq '[0]*100000'", MEGATRON, EXPERTS (""), NULL },
    { "--num-experts 8 --moe-layer-freq 2", MEGATRON, EXPERTS (" experts.every=2"), NULL },
    { "--num-experts 8 --moe-layer-freq 1", MEGATRON, EXPERTS (""), NULL },
    { "--num-experts 8 --moe-layer-freq 99999", MEGATRON, EXPERTS (" experts.every=99999"), NULL },
    { "--num-experts 8 --moe-layer-freq 100000", MEGATRON, EXPERTS (""), NULL },
    { "--num-experts 0 --moe-router-topk 2", MEGATRON, "layers=2 hidden=64" MEGATRON_TAIL, NULL },
  };

  assert_imported_jobs (catalog, "a.args",
                        "--tensor-model-parallel-size 1 --num-layers 2 --hidden-size 64 KEY\n", cases,
                        G_N_ELEMENTS (cases));
}

static void
megatron_has_options (G_GNUC_UNUSED void **state)
{
#define PLAIN "kind=megatron parallel.tensor=2"
  static const ImportedJob cases[] = {
    { "--bf16", "kind=megatron precision=bf16 parallel.tensor=2", "", NULL },
    { "--fp8-recipe mxfp8", PLAIN " precision=fp32", "",
      "job.precision: fp32, as neither bf16 nor fp16 is given" },
    { "--bf16 --fp8-format hybrid --fp8-recipe mxfp8", "kind=megatron precision=mxfp8 parallel.tensor=2", "",
      NULL },
    { "--bf16 --fp8 hybrid --fp8-recipe mxfp8", "kind=megatron precision=mxfp8 parallel.tensor=2", "", NULL },
    { "--bf16 --fp8 none --fp8-recipe mxfp8", "kind=megatron precision=bf16 parallel.tensor=2", "", NULL },
    { "--bf16 --fp8 false --fp8-recipe mxfp8", "kind=megatron precision=bf16 parallel.tensor=2", "", NULL },
    { "--bf16 --fp8 null --fp8-recipe mxfp8", "kind=megatron precision=bf16 parallel.tensor=2", "", NULL },
    { "--bf16 --fp4-format e2m1", "kind=megatron precision=nvfp4 parallel.tensor=2", "", NULL },
    /* A backend of the dispatcher counts where that is flexible. */
    { "--moe-flex-dispatcher-backend hybridep", PLAIN " precision=fp32", "", NULL },
    { "--moe-token-dispatcher-type alltoall --moe-enable-deepep",
      PLAIN " parallel.moe.dispatch=nccl precision=fp32", "", NULL },
    { "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep",
      PLAIN " parallel.moe.dispatch=hybridep precision=fp32", "", NULL },
    /* Context parallelism needs two ranks. */
    { "--context-parallel-size 2 --cp-comm-type all_gather",
      PLAIN " parallel.context=2 parallel.context_kind=gather precision=fp32", "", NULL },
    { "--context-parallel-size 1 --cp-comm-type all_gather", PLAIN " parallel.context=1 precision=fp32", "",
      NULL },
    { "--context-parallel-size 2 --cp-comm-type a2a", PLAIN " parallel.context=2 precision=fp32", "",
      "cp_comm_type a2a: heads and tokens change places by all-to-alls" },
    { "--recompute-granularity selective --recompute-modules moe_act mlp",
      PLAIN " recompute=modules recompute_modules=moe_act,mlp precision=fp32", "", NULL },
    { "--recompute-granularity selective --recompute-modules core_attn",
      PLAIN " recompute=selective precision=fp32", "", NULL },
    { "--recompute-granularity full --recompute-modules mlp --recompute-method block --recompute-num-layers 3",
      PLAIN " recompute=full precision=fp32 recompute_method=block recompute_layers=3", "", NULL },
    { "--recompute-granularity selective --recompute-num-layers 3",
      PLAIN " recompute=selective precision=fp32", "", NULL },
    { "--num-distributed-optimizer-instances 2", PLAIN " precision=fp32", "",
      "num_distributed_optimizer_instances 2: optimizer states are sharded within groups of ranks" },
    { "--data-parallel-sharding-strategy optim --use-megatron-fsdp", PLAIN " precision=fp32", "",
      "data_parallel_sharding_strategy optim: what Megatron-FSDP shards" },
    { "--data-parallel-sharding-strategy optim --use-custom-fsdp", PLAIN " precision=fp32", "",
      "data_parallel_sharding_strategy optim: what Megatron-FSDP shards" },
    /* Megatron-DeepSpeed */
    { "--zero-stage 1", PLAIN " precision=fp32 distributed_optimizer=true", "",
      "a.args:1: zero_stage: 1 is job.distributed_optimizer: true" },
    { "--zero-stage 2", PLAIN " precision=fp32 distributed_optimizer=true", "",
      "zero_stage 2: gradients or weights are sharded too: job.kind zero says that" },
    { "--deepspeed --bf16", "kind=megatron precision=bf16 parallel.tensor=2 distributed_optimizer=true", "",
      "as DeepSpeed's BF16 optimizer shards its states at stage 0 too" },
    { "--deepspeed --fp16", "kind=megatron precision=fp16 parallel.tensor=2", "", NULL },
    { "--zero-stage 0 --bf16", "kind=megatron precision=bf16 parallel.tensor=2", "", NULL },
    { "--recipe llama3_8b_pretrain_config", "kind=megatron model=llama3-8b parallel.tensor=2 precision=fp32",
      "", NULL },
  };
  static const struct {
    const char *arguments, *told;
  } silent[] = {
    { "--num-distributed-optimizer-instances 1", "optimizer states are sharded within" },
    { "--zero-stage 1", "gradients or weights are sharded too" },
    { "--data-parallel-sharding-strategy no_shard --use-megatron-fsdp", "what Megatron-FSDP shards" },
    { "--data-parallel-sharding-strategy optim", "what Megatron-FSDP shards" },
  };

  assert_imported_jobs (catalog, "a.args", "--tensor-model-parallel-size 2 KEY\n", cases,
                        G_N_ELEMENTS (cases));
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++) {
    g_autofree char *text = g_strdup_printf ("--tensor-model-parallel-size 2 %s\n", silent[i].arguments),
                    *made = import_job (catalog, "a.args", text, 0, 0), *notes = flat_notes (made);

    assert_null (strstr (notes, silent[i].told));
  }
}

/* NeMo's YAML, and Primus's, which have defaults of their own. */
static void
megatron_is_started_by_others (G_GNUC_UNUSED void **state)
{
#define NEMO "kind=megatron compute.kind=auto compute.stack=nemo parallel.tensor=2 precision=fp32"
  static const ImportedJob nemo[] = {
    { "optim: {name: mcore_distributed_optim}", NEMO " distributed_optimizer=true", "",
      "job.distributed_optimizer: true, by model.optim.name" },
    { "optim: {name: fused_adam}", NEMO, "", "job.compute.stack: nemo, the software that wrote the file" },
    { "_target_: x", NEMO, "", NULL },
    { "seq_length: 8\ntrainer: {devices: 8, num_nodes: 2}",
      "kind=megatron compute.kind=auto compute.stack=nemo sequence=8 parallel.tensor=2 precision=fp32", "",
      "the files start 2 nodes of 8 GPUs" },
    { "seq_length: 8", "kind=megatron sequence=8 parallel.tensor=2 precision=fp32", "", NULL },
    { "fsdp: true\n  ddp_bucket_size: 5\n  use_distributed_optimizer: true\n  fsdp_sharding_strategy: hybrid",
      "kind=fsdp parallel.tensor=2 precision=fp32 sharding=hybrid", "", NULL },
    { "fsdp: false\n  ddp_bucket_size: 5\n  fsdp_sharding_strategy: hybrid",
      "kind=megatron parallel.tensor=2 bucket=5 precision=fp32", "", NULL },
    { "num_layers: 2\n  hidden_size: 64\n  activation: fast-swiglu\n  bias: false",
      "kind=megatron model=imported parallel.tensor=2 precision=fp32",
      "layers=2 hidden=64 gated=true biases=false tied=true vocabulary=50432", NULL },
    { "num_layers: 2\n  hidden_size: 64\n  activation: gelu\n  bias: true",
      "kind=megatron model=imported parallel.tensor=2 precision=fp32",
      "layers=2 hidden=64 gated=false biases=true tied=true vocabulary=50432", NULL },
  };
  static const ImportedJob primus[] = {
    { "framework: megatron", "kind=megatron precision=bf16 distributed_optimizer=true", "",
      "job.precision: bf16, Primus's default" },
    { "framework: megatron\n    overrides: {fp16: true, use_distributed_optimizer: false}",
      "kind=megatron precision=fp16 distributed_optimizer=false", "", NULL },
    { "framework: megatron\n    model: llama3_8b.yaml",
      "kind=megatron model=llama3-8b precision=bf16 distributed_optimizer=true", "", NULL },
  };

  assert_imported_jobs (catalog, "a.yaml", "model:\n  tensor_model_parallel_size: 2\n  KEY\n", nemo,
                        G_N_ELEMENTS (nemo));
  assert_imported_jobs (catalog, "a.yaml", "modules:\n  pre_trainer:\n    KEY\n", primus,
                        G_N_ELEMENTS (primus));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (torchtitan_shards),
    cmocka_unit_test (torchtitan_divides_batches),
    cmocka_unit_test (nanotron_shards_or_not),
    cmocka_unit_test (neox_has_its_own_defaults),
    cmocka_unit_test (neox_is_known_by_its_keys),
    cmocka_unit_test (composer_has_shapes),
    cmocka_unit_test (composer_shards_or_not),
    cmocka_unit_test (accelerate_says_what_it_uses),
    cmocka_unit_test (trainers_have_their_kind),
    cmocka_unit_test (megatron_has_a_shape),
    cmocka_unit_test (megatron_has_experts),
    cmocka_unit_test (megatron_has_options),
    cmocka_unit_test (megatron_is_started_by_others),
  };

  return play_run_tests ("job_files", tests, &catalog);
}
