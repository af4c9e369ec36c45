/* SPDX-License-Identifier: Apache-2.0 */
/* auto.c - operator by operator (price.c), with the kernels that the job's software runs.
 *
 *   pass = price / scale
 *
 * What kernels a software runs is a row of `stacks`, and what its release of PyTorch has (sim/execution/pytorch.h).
 * What published runs take beyond it is no matter of kernels: `setups` of the catalogue (sim/base/setup.h).
 */
#include "models/compute/roofline/price.h"
#include "models/compute/roofline/tiles.h"
#include "models/models.h"

typedef struct {
  gint stack;     /* index into stack_names */
  gint attention; /* 0: by the stack; else 1 + FabAttentionKernel */
  gboolean is_causal, has_graphs;
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
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (AutoParams, has_graphs),
    .fallback = "false",
    .help = "The host starts kernels from a captured CUDA graph, which takes 1us per kernel." },
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
} Stack;

#define US(us_) ((us_) *G_GINT64_CONSTANT (1000000))

/* Gradients: eager software reads two of 2 B and writes one; DeepSpeed and nanotron read 2 and 4, write 4; Megatron's
 * product reads and writes 4 B in place of writing 2 (gradient_accumulation_fusion). */
static const Stack stacks[] = {
  { "eager", FALSE, 6, US (10) }, { "compiled", TRUE, 6, US (5) },    { "megatron", TRUE, 6, US (60) },
  { "nemo", TRUE, 6, US (60) },   { "nanotron", TRUE, 10, US (130) }, { "deepspeed", FALSE, 10, US (20) },
  { "xla", TRUE, 6, US (1) },
};

static const Stack *
stack_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (stacks); i++)
    if (g_strcmp0 (stacks[i].name, name) == 0)
      return &stacks[i];
  return &stacks[0];
}

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

static FabPricing
pricing_of (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  const Stack *stack = stack_of (pass->software != NULL ? pass->software->stack : auto_stack (params));
  guint release = release_of (pass, device);

  return (FabPricing){ .memory_fraction = 0.85,
                       .scale_factor = 1,
                       .attention = attention_of (params, stack, device, release),
                       .is_causal = ((const AutoParams *) params)->is_causal,
                       .kernels = { .is_fused = stack->is_fused,
                                    .has_fused_norm = fab_pytorch_has_fused_norm (release),
                                    .loss = pass->software != NULL ? pass->software->loss : FAB_LOSS_LOGITS },
                       .has_autocast = pass->software != NULL && pass->software->has_autocast,
                       .accumulation_bytes = stack->accumulation_bytes,
                       .launch_ps = US (1),
                       .issue_ps = ((const AutoParams *) params)->has_graphs ? US (1) : stack->issue_ps };
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
  sum->launches_s += parts.launches_s / scale_factor;
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
            .params_size = sizeof (AutoParams) },
  .seconds = auto_seconds,
  .stack = auto_stack,
  .knows = fab_tiles_are_measured,
  .parts = auto_parts,
  .attention = auto_attention,
  .is_of_average_gpu = TRUE,
  .basis = auto_basis,
};
