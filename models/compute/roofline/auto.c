/* SPDX-License-Identifier: Apache-2.0 */
/* auto.c - operator by operator (price.c), with the kernels that the job's software runs.
 *
 *   pass = price / scale
 *
 * What kernels a software runs is a row of `stacks`, and what its release of PyTorch has (sim/execution/pytorch.h).
 * What published runs take beyond it is no matter of kernels: `setups` of the catalogue (sim/base/setup.h).
 */
#include <string.h>

#include "models/compute/roofline/price.h"
#include "models/compute/roofline/tiles.h"
#include "models/models.h"

typedef struct {
  gint stack;     /* index into stack_names */
  gint attention; /* 0: by the stack; else 1 + FabAttentionKernel */
  gboolean is_causal;
  const char *graphs; /* names of graph_parts, divided by commas; NULL: none */
  double scale_factor;
} AutoParams;

static const char *const stack_names[] = { "auto",     "eager",     "compiled", "megatron", "nemo",
                                           "nanotron", "deepspeed", "xla",      NULL };
static const char *const attention_choices[] = { "auto",  "flash1",  "flash2", "flash3",
                                                 "cudnn", "unfused", NULL };

static const FabParam auto_params[] = {
  { .key = "stack",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (AutoParams, stack),
    .fallback = "auto",
    .choices = stack_names,
    .help =
        "Training software; auto: megatron for a megatron job, deepspeed for zero, eager for ddp and fsdp." },
  { .key = "attention",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (AutoParams, attention),
    .fallback = "auto",
    .choices = attention_choices,
    .help = "Attention kernel to use when the shape does not keep the scores. auto: cudnn on Hopper and "
            "Blackwell with megatron or nemo, else flash2." },
  { .key = "causal",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (AutoParams, is_causal),
    .fallback = "true",
    .help = "Each token attends to earlier tokens only, so a fused attention kernel skips half of the "
            "scores." },
  { .key = "graphs",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (AutoParams, graphs),
    .fallback = "",
    .takes_list = TRUE,
    .help =
        "Parts of a layer that start from captured CUDA graphs, at 1us of the host per kernel: all, or names of "
        "Megatron-LM's --cuda-graph-scope, divided by commas: attn, mamba, mlp, moe, moe_router, moe_preprocess." },
  { .key = "scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (AutoParams, scale_factor),
    .fallback = "1",
    .min = 0.01,
    .max = 10,
    .help =
        "Factor on all rates, of kernels and of the host: the time of each pass is divided by it. Take it "
        "from a measured run of the same software on the same machine." },
  { .key = NULL },
};

typedef struct {
  const char *name;
  gboolean is_fused;         /* operators bound by memory are one kernel each */
  double accumulation_bytes; /* that adding a gradient to earlier ones moves, per parameter */
  FabTimePs issue_ps;        /* host time to issue a kernel */
  FabTimePs expert_ps;       /* host time to issue the product of one expert; 0: all are one kernel */
} Stack;

#define US(us_) ((us_) *G_GINT64_CONSTANT (1000000))

/* Gradients: eager software reads two of 2 B and writes one; DeepSpeed and nanotron read 2 and 4, write 4; Megatron's
 * product reads and writes 4 B in place of writing 2 (gradient_accumulation_fusion). */
static const Stack stacks[] = {
  { "eager", FALSE, 6, US (10), 0 },
  { "compiled", TRUE, 6, US (5), 0 },
  { "megatron", TRUE, 6, US (60), US (33) },
  { "nemo", TRUE, 6, US (60), US (33) },
  { "nanotron", TRUE, 10, US (130), 0 },
  { "deepspeed", FALSE, 10, US (20), US (20) },
  { "xla", TRUE, 6, US (1), 0 },
};

/* Megatron-LM's host: 33 us for each expert and product are 0.267 ms of TransformerEngine's loop over eight products of
 * 128 tokens by 2048 x 2048 on a Blackwell GPU, whose kernels take a few us (NVIDIA/TransformerEngine#3134; fused
 * kernels for 64 experts take 19 us forward and 33 us backward of the host for each, #2897). PyTorch's grouped product
 * is one kernel. DeepSpeed calls expert after expert as modules, at its usual time for a kernel. A kernel of PyTorch
 * without more takes 10 us (launch in h100_memory_bound), and reading one tensor back 18 us (L20,
 * NVIDIA/TransformerEngine#3554). */
static const FabTimePs bias_ps = US (10), readback_ps = US (18);

static const Stack *
stack_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (stacks); i++)
    if (g_strcmp0 (stacks[i].name, name) == 0)
      return &stacks[i];
  return &stacks[0];
}

/* --- graphs --- */

/* Parts of a layer by Megatron-LM's names (--cuda-graph-scope), and the segments that they capture. What moe_preprocess
 * captures, the counts of tokens per expert, is in the segment of the router. */
static const struct {
  const char *name, *segment;
} graph_parts[] = {
  { "all", NULL },
  { "attn", "attention" },
  { "mamba", "mamba" },
  { "mlp", "mlp" },
  { "moe", "experts" },
  { "moe", "shared" },
  { "moe", "router" },
  { "moe", "latent" },
  { "moe_router", "router" },
  { "moe_preprocess", NULL },
};

static gboolean
is_part (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (graph_parts); i++)
    if (strcmp (graph_parts[i].name, name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
captures (const char *part, const char *segment)
{
  if (strcmp (part, "all") == 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (graph_parts); i++)
    if (strcmp (graph_parts[i].name, part) == 0 && g_strcmp0 (graph_parts[i].segment, segment) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_captured (const AutoParams *params, const char *segment)
{
  g_auto (GStrv) parts = params->graphs != NULL ? g_strsplit_set (params->graphs, ", ", -1) : NULL;

  for (guint i = 0; parts != NULL && parts[i] != NULL; i++)
    if (captures (parts[i], segment))
      return TRUE;
  return FALSE;
}

static void
auto_check (gconstpointer data, FabCheck *check)
{
  const AutoParams *params = data;
  g_auto (GStrv) parts = params->graphs != NULL ? g_strsplit_set (params->graphs, ", ", -1) : NULL;

  for (guint i = 0; parts != NULL && parts[i] != NULL; i++)
    if (*parts[i] != '\0' && !is_part (parts[i]))
      fab_check_fail (
          check, &params->graphs,
          "'%s' is no part of a layer that a graph captures; the parts are all, attn, mamba, mlp, moe, "
          "moe_router and moe_preprocess",
          parts[i]);
}

/* --- software --- */

/* The release of PyTorch that stands for the time of the software. */
static guint
release_of (const FabPass *pass, const FabDevice *device)
{
  return pass->software != NULL ? pass->software->pytorch : fab_pytorch_usual (device->architecture);
}

/* Eager and compiled PyTorch take the kernel of its scaled_dot_product_attention. The others have FlashAttention's
 * package, or TransformerEngine with cuDNN's on Hopper and Blackwell, as far as they are there. */
static FabAttentionKernel
attention_of (const AutoParams *params, const Stack *stack, const FabDevice *device, guint release)
{
  FabAttentionKernel usual = fab_pytorch_attention (release, device->architecture);
  gboolean is_plain = g_str_equal (stack->name, "eager") || g_str_equal (stack->name, "compiled");
  gboolean is_new = g_strcmp0 (device->architecture, "hopper") == 0
                 || g_strcmp0 (device->architecture, "blackwell") == 0;
  gboolean has_engine = g_str_equal (stack->name, "megatron") || g_str_equal (stack->name, "nemo");

  if (params->attention > 0)
    return (FabAttentionKernel) (params->attention - 1);
  if (is_plain || usual == FAB_ATTENTION_UNFUSED)
    return usual;
  return is_new && has_engine ? FAB_ATTENTION_CUDNN : FAB_ATTENTION_FLASH2;
}

static const char *
auto_stack (gconstpointer params)
{
  return stack_names[((const AutoParams *) params)->stack];
}

static FabComputeBasis
auto_basis (gconstpointer params)
{
  double scale_factor = ((const AutoParams *) params)->scale_factor;

  return scale_factor < 1 || scale_factor > 1 ? FAB_COMPUTE_ANCHORED : FAB_COMPUTE_PUBLISHED;
}

/* A captured graph knows no counts of tokens: its kernels take them from the device. */
static FabGrouped
grouped_of (const Stack *stack, gboolean is_in_graph)
{
  if (stack->expert_ps == 0)
    return (FabGrouped){ .readback_ps = 0 };
  if (is_in_graph)
    return (FabGrouped){ .product_ps = US (1), .bias_ps = US (1) };
  return (FabGrouped){ .product_ps = stack->expert_ps,
                       .bias_ps = bias_ps,
                       .readback_ps = readback_ps,
                       .has_padding = stack->is_fused };
}

static FabPricing
pricing_of (gconstpointer data, const FabDevice *device, const FabPass *pass)
{
  const AutoParams *params = data;
  const Stack *stack = stack_of (pass->software != NULL ? pass->software->stack : auto_stack (params));
  guint release = release_of (pass, device);
  gboolean is_in_graph = is_captured (params, pass->segment->name);

  return (FabPricing){ .memory_fraction = 0.85,
                       .scale_factor = 1,
                       .attention = attention_of (params, stack, device, release),
                       .is_causal = params->is_causal,
                       .kernels = { .is_fused = stack->is_fused,
                                    .has_fused_norm = fab_pytorch_has_fused_norm (release),
                                    .loss = pass->software != NULL ? pass->software->loss : FAB_LOSS_LOGITS },
                       .has_autocast = pass->software != NULL && pass->software->has_autocast,
                       .accumulation_bytes = stack->accumulation_bytes,
                       .launch_ps = US (1),
                       .issue_ps = is_in_graph ? US (1) : stack->issue_ps,
                       .grouped = grouped_of (stack, is_in_graph) };
}

static double
auto_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  FabPricing pricing = pricing_of (params, device, pass);

  return fab_price_pass (&pricing, device, pass) / ((const AutoParams *) params)->scale_factor;
}

static void
auto_parts (gconstpointer params, const FabDevice *device, const FabPass *pass, FabComputeParts *sum)
{
  FabPricing pricing = pricing_of (params, device, pass);
  FabComputeParts parts = fab_price_parts (&pricing, device, pass);
  double scale_factor = ((const AutoParams *) params)->scale_factor;

  sum->products_s += parts.products_s / scale_factor;
  sum->attention_s += parts.attention_s / scale_factor;
  sum->memory_bound_s += parts.memory_bound_s / scale_factor;
  sum->copies_s += parts.copies_s / scale_factor;
  sum->launches_s += parts.launches_s / scale_factor;
  sum->readback_s += parts.readback_s / scale_factor;
  sum->host_s += parts.host_s / scale_factor;
}

static const char *
auto_attention (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  return attention_choices[1 + pricing_of (params, device, pass).attention];
}

const FabComputeOps fab_compute_auto = {
  .info = { .name = "auto",
            .summary = "Times each operator by the kernels that the job's software runs.",
            .doc = "docs/models/auto.md",
            .params = auto_params,
            .params_size = sizeof (AutoParams),
            .check = auto_check },
  .seconds = auto_seconds,
  .stack = auto_stack,
  .knows = fab_tiles_are_measured,
  .parts = auto_parts,
  .attention = auto_attention,
  .is_of_average_gpu = TRUE,
  .basis = auto_basis,
};
