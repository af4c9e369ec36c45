/* SPDX-License-Identifier: Apache-2.0 */
/* test_formulas.c - the formula of every statement of an explanation gives its value, with the terms that it names and
 * no others, and a statement that explains a term of one above has its value.
 */
#include "tests/unit/answer/explain/explained.h"

#include "sim/study/point.h"

#define HGX "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 1}\n"

static const char *const yamls[] = {
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, power_cap: 75%}\n"
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 512, compute: {kind: mfu, mfu: 50%}}\n",
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, power_cap: 75%}\n"
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 512}\n",
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4}\n"
  "job: {kind: zero, stage: 3, model: gpt2, micro_batch: 1, sequence: 1024, recompute: full, train_tokens: 1e9}\n",
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4}\n"
  "job: {kind: fsdp, model: gpt2, micro_batch: 2, sequence: 1024, jitter: {cv: 2%}}\n",
  HGX "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, sequence: 1024, accumulation: 4, "
      "parallel: {tensor: 2, pipeline: 2}, compute: {kind: mfu, mfu: 40%}}\n",
  HGX "job: {kind: megatron, model: mixtral-8x7b, micro_batch: 1, sequence: 1024, parallel: {expert: 8}}\n",
  HGX "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}, {op: send_recv, size: 1MB}]}\n",
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\ncollectives: {kind: plain, algorithm: ring}\n"
  "job: {kind: collective, operations: [{op: reduce_scatter, size: 64MB}]}\n",
};

static FabCatalog *catalog;

typedef struct {
  const FabStatement *statement;
  const char *at;
  guint64 used; /* terms */
} Formula;

static double sum_of (Formula *self);

/* A number, a name or brackets. */
static double
factor_of (Formula *self)
{
  const FabStatement *statement = self->statement;
  gsize n = 0;

  self->at += strspn (self->at, " ");
  if (*self->at == '(') {
    self->at++;
    double value = sum_of (self);
    self->at += strspn (self->at, " ");
    assert_int_equal (*self->at, ')');
    self->at++;
    return value;
  }
  if (g_ascii_isdigit (*self->at)) {
    char *end;
    double value = g_ascii_strtod (self->at, &end);

    self->at = end;
    return value;
  }
  while (g_ascii_isalnum (self->at[n]) || self->at[n] == '_')
    n++;
  for (guint i = 0; i < statement->terms->len; i++) {
    const FabTerm *term = &g_array_index (statement->terms, FabTerm, i);

    if (strlen (term->name) != n || strncmp (term->name, self->at, n) != 0)
      continue;
    self->at += n;
    self->used |= G_GUINT64_CONSTANT (1) << i;
    return term->value;
  }
  fail_msg ("%s of `%s` is no term", self->at, statement->formula);
  return NAN;
}

static double
product_of (Formula *self)
{
  double value = factor_of (self);

  for (self->at += strspn (self->at, " "); *self->at == '*' || *self->at == '/';
       self->at += strspn (self->at, " "))
    if (*self->at++ == '*')
      value *= factor_of (self);
    else
      value /= factor_of (self);
  return value;
}

static double
sum_of (Formula *self)
{
  double value = product_of (self);

  for (; *self->at == '+' || *self->at == '-';)
    if (*self->at++ == '+')
      value += product_of (self);
    else
      value -= product_of (self);
  return value;
}

static void
check_statement (const FabStatement *statement)
{
  Formula formula = { statement, statement->formula, 0 };

  if (statement->formula == NULL) {
    if (statement->terms->len > 0)
      fail_msg ("%s has terms and no formula", statement->title);
    return;
  }
  double value = sum_of (&formula);
  assert_int_equal (*formula.at, '\0');
  if (!is_near (value, statement->value, 1e-6) && fabs (value - statement->value) > 1e-12)
    fail_msg ("%s: `%s` gives %.9g, and it is %.9g", statement->title, statement->formula, value,
              statement->value);
  for (guint i = 0; i < statement->terms->len; i++)
    if ((formula.used >> i & 1) == 0)
      fail_msg ("%s: `%s` does not name %s", statement->title, statement->formula,
                g_array_index (statement->terms, FabTerm, i).name);
}

/* The nearest statement above that is less deep has a term of this name: it has this value. */
static void
check_parent (const FabExplanation *out, guint index)
{
  const FabStatement *statement = g_ptr_array_index (out->statements, index);

  for (guint i = index; i-- > 0;) {
    const FabStatement *above = g_ptr_array_index (out->statements, i);
    double term = above->depth < statement->depth ? explained_term (above, statement->name) : NAN;

    if (isnan (term))
      continue;
    if (!is_near (term, statement->value, 1e-6) && fabs (term - statement->value) > 1e-12)
      fail_msg ("%s of %s is %.9g, and its statement says %.9g", statement->name, above->title, term,
                statement->value);
    return;
  }
}

static guint
check_figure (guint yaml, const char *what)
{
  g_auto (Explained) it = explained (catalog, yamls[yaml], what);
  guint n_formulas = 0;

  for (guint i = 0; i < it.out->statements->len; i++) {
    const FabStatement *statement = g_ptr_array_index (it.out->statements, i);

    check_statement (statement);
    check_parent (it.out, i);
    n_formulas += statement->formula != NULL;
  }
  return n_formulas;
}

static void
formulas_give_their_values (G_GNUC_UNUSED void **state)
{
  static const char *const training[] = { "step",   "tokens",     "mfu",       "exposed",
                                          "memory", "token_cost", "step_cost", "hour_cost" },
                           *const sends[] = { "step", "collective largest", "exposed" };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    gboolean is_training = strstr (yamls[i], "operations") == NULL;
    guint n = is_training ? G_N_ELEMENTS (training) : G_N_ELEMENTS (sends);

    for (guint k = 0; k < n; k++)
      assert_true (check_figure (i, is_training ? training[k] : sends[k]) > 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (formulas_give_their_values) };

  return play_run_tests ("formulas", tests, &catalog);
}
