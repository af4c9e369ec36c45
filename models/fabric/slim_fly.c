/* SPDX-License-Identifier: Apache-2.0 */
/* slim_fly.c - routers joined as a McKay-Miller-Siran graph, in which any two are at most two links apart.
 *
 * For a prime power q = 4 w + delta, delta in {-1, 0, 1}, over the field of q elements with primitive element g:
 *
 *   routers   2 q^2: (0, x, y) and (1, m, c) for all x, y, m, c of the field
 *   links     (0, x, y) - (0, x, y')   where y - y' is in X
 *             (1, m, c) - (1, m, c')   where c - c' is in X'
 *             (0, x, y) - (1, m, c)    where y = m x + c
 *   degree    (3 q - delta) / 2
 *
 *   delta  1   X = {g^0, g^2, ..., g^(q-3)}                             X' = {g^1, g^3, ..., g^(q-2)}
 *          0   X = {g^0, g^2, ..., g^(q-2)}                             X' = {g^1, g^3, ..., g^(q-1)}
 *         -1   X = {g^0, g^2, ..., g^(2w-2), g^(2w-1), g^(2w+1), ..., g^(4w-3)}
 *              X' = {g^1, g^3, ..., g^(2w-1), g^(2w), g^(2w+2), ..., g^(4w-2)}
 *
 * (M. Besta, T. Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014, section II; P. R.
 * Hafner, "Geometric realisation of the graphs of McKay-Miller-Siran", J. Combinatorial Theory B 90(2), 2004.) q = 5
 * is the Hoffman-Singleton graph. Half as many NICs per router as links to others, rounded up, let all of them send to
 * random others at full rate (Besta and Hoefler, section II-B2).
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"

#define MAX_FIELD 128

typedef struct {
  gint64 field, nics_per_router, links;
  const char *uplink;
  gint64 cable_mm, uplink_cable_mm;
} SlimFlyParams;

#define ROW(key_, type_, field_, fallback_, help_)                                           \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (SlimFlyParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam slim_fly_params[] = {
  { ROW ("field", COUNT, field, "0",
         "q, a prime power above 2, makes 2 q x q routers; 0: the smallest q that has room."),
    .min = 0, .max = MAX_FIELD },
  { ROW ("nics_per_router", COUNT, nics_per_router, "0",
         "Ports of each router to NICs; 0: half as many as to other routers, rounded up."),
    .min = 0, .max = 1024 },
  { ROW ("links", COUNT, links, "1", "Links between two joined routers."), .min = 1, .max = 1024 },
  { ROW ("uplink", TEXT, uplink, "", "Link entry between routers; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to router: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m",
         "Between routers: cable beyond the length in the "
         "link entry."),
    .max = 2e10 },
  { .key = NULL },
};

/* --- finite fields --- */

/* The field of q = p^k elements. Element e stands for the polynomial whose coefficients are the digits of e to the
 * base p. The primitive element is the polynomial x. */
typedef struct {
  guint q, p;
  guint powers[MAX_FIELD]; /* x^i for i < q - 1 */
  guint logs[MAX_FIELD];   /* of the elements other than 0 */
} Field;

/* Returns the prime of which q > 1 is a power; 0: there is none. */
static guint
prime_of (guint q)
{
  guint p = 2, rest = q;

  while (q % p != 0)
    p++;
  while (rest % p == 0)
    rest /= p;
  return rest == 1 ? p : 0;
}

/* Returns a + factor x b, digit by digit. */
static guint
add_times (const Field *self, guint a, guint b, guint factor)
{
  guint sum = 0;

  for (guint place = 1; place < self->q; place *= self->p)
    sum += (a / place + factor * (b / place)) % self->p * place;
  return sum;
}

static guint
subtract (const Field *self, guint a, guint b)
{
  return add_times (self, a, b, self->p - 1);
}

static guint
multiply (const Field *self, guint a, guint b)
{
  return a == 0 || b == 0 ? 0 : self->powers[(self->logs[a] + self->logs[b]) % (self->q - 1)];
}

/* Fills the powers of x where x^k stands for `top`. FALSE: x is not primitive then. */
static gboolean
fill_powers (Field *self, guint top)
{
  guint highest = self->q / self->p, power = 1;

  for (guint i = 0; i < self->q - 1; i++) {
    if (power == 0 || (i > 0 && power == 1))
      return FALSE;
    self->powers[i] = power;
    self->logs[power] = i;
    power = add_times (self, power % highest * self->p, top, power / highest);
  }
  return power == 1;
}

/* Tries one polynomial of degree k after the other. Every field has a primitive one. */
static void
field_init (Field *self, guint q)
{
  guint top = 1;

  *self = (Field){ .q = q, .p = prime_of (q) };
  while (!fill_powers (self, top)) {
    top++;
    g_assert (top < q);
  }
}

/* --- the graph --- */

/* q = 4 w + delta */
static gint
delta_of (guint q)
{
  return q % 4 == 3 ? -1 : (gint) (q % 4);
}

static guint
degree_of (guint q)
{
  return (guint) ((gint) (3 * q) - delta_of (q)) / 2;
}

/* Adds x^first, x^(first + 2), ..., x^last to a set. */
static void
add_powers (const Field *field, guint first, guint last, gboolean *set)
{
  for (guint i = first; i <= last; i += 2)
    set[field->powers[i % (field->q - 1)]] = TRUE;
}

/* Fills the sets X (`own[0]`) and X' (`own[1]`). */
static void
find_generators (const Field *field, gboolean own[2][MAX_FIELD])
{
  guint q = field->q, w = (q + 1) / 4;

  if (delta_of (q) >= 0) {
    add_powers (field, 0, q - 2 - (guint) delta_of (q), own[0]);
    add_powers (field, 1, q - 1 - (guint) delta_of (q), own[1]);
    return;
  }
  add_powers (field, 0, 2 * w - 2, own[0]);
  add_powers (field, 2 * w - 1, 4 * w - 3, own[0]);
  add_powers (field, 1, 2 * w - 1, own[1]);
  add_powers (field, 2 * w, 4 * w - 2, own[1]);
}

/* Router (side, a, b). Those of both sides with the same a stand together: they are a rack of the paper. */
static FabVertexId
router_at (const FabVertexId *routers, guint q, guint side, guint a, guint b)
{
  return routers[(2 * a + side) * q + b];
}

/* All links lead from one router to another that forwards in the same way, so each begins buffers of its own: the
 * virtual lane of a hop is its number (Besta and Hoefler, section IV-D). */
static void
join_routers (const FabFabricEnv *env, const Field *field, const FabVertexId *routers,
              const FabLinkForm *form)
{
  gboolean own[2][MAX_FIELD] = { { FALSE } };
  guint q = field->q;

  find_generators (field, own);
  for (guint side = 0; side < 2; side++)
    for (guint a = 0; a < q; a++)
      for (guint b = 0; b < q; b++)
        for (guint other = b + 1; other < q; other++)
          if (own[side][subtract (field, b, other)])
            fab_graph_builder_join_groups (env->builder, router_at (routers, q, side, a, b),
                                           router_at (routers, q, side, a, other), form);
  for (guint x = 0; x < q; x++)
    for (guint m = 0; m < q; m++)
      for (guint c = 0; c < q; c++)
        fab_graph_builder_join_groups (
            env->builder, router_at (routers, q, 0, x, add_times (field, multiply (field, m, x), c, 1)),
            router_at (routers, q, 1, m, c), form);
}

/* --- the fabric --- */

static gboolean
is_field (guint q)
{
  return q > 2 && prime_of (q) != 0;
}

static guint
nics_of (const SlimFlyParams *p, guint q)
{
  return p->nics_per_router > 0 ? (guint) p->nics_per_router : (degree_of (q) + 1) / 2;
}

static gboolean
has_room (const SlimFlyParams *p, guint q, guint64 n_nics)
{
  return 2 * (guint64) q * q * nics_of (p, q) >= n_nics;
}

static gboolean
find_field (const SlimFlyParams *p, guint64 n_nics, guint *field, GError **error)
{
  guint q = p->field > 0 ? (guint) p->field : 3;

  while (p->field == 0 && q < MAX_FIELD && !(is_field (q) && has_room (p, q, n_nics)))
    q++;
  *field = q;
  return has_room (p, q, n_nics)
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a slim fly of 2 x %u x %u routers has ports for %" G_GUINT64_FORMAT
                    " NICs, not %" G_GUINT64_FORMAT,
                    q, q, 2 * (guint64) q * q * nics_of (p, q), n_nics);
}

static void
slim_fly_check (gconstpointer params, FabCheck *check)
{
  const SlimFlyParams *p = params;

  if (p->field > 0 && !is_field ((guint) p->field))
    fab_check_fail (check, &p->field,
                    "%d is not a prime power above 2; choose 3, 4, 5, 7, 8, 9, 11, 13, 16, "
                    "17 or a larger one",
                    (int) p->field);
}

static gboolean
slim_fly_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const SlimFlyParams *p = params;
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  FabLinkForm form = fab_fabric_link (env, p->uplink, p->uplink_cable_mm);
  guint k = env->nics_per_node, q;
  Field field;

  if (!find_field (p, (guint64) env->n_places * k, &q, error))
    return FALSE;
  field_init (&field, q);
  form.count = (guint) p->links;
  g_autofree FabVertexId *routers = g_new (FabVertexId, 2 * q * q);
  for (guint i = 0; i < 2 * q * q; i++)
    routers[i] = fab_fabric_add_switch (env, "router", TRUE, i);
  for (guint i = 0; i < env->n_places * k; i++)
    fab_fabric_attach (env, i / k, i % k, routers[i / nics_of (p, q)], &port);
  join_routers (env, &field, routers, &form);
  return TRUE;
}

const FabFabricOps fab_fabric_slim_fly = {
  .info = { .name = "slim_fly",
            .summary = "Any two routers are at most two links apart.",
            .doc = "docs/models/slim_fly.md",
            .params = slim_fly_params,
            .params_size = sizeof (SlimFlyParams),
            .check = slim_fly_check },
  .build = slim_fly_build,
  .has_choice = fab_fabric_always_has_choice,
};
