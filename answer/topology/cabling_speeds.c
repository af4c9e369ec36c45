/* SPDX-License-Identifier: Apache-2.0 */
/* cabling_speeds.c - cables that are slower or narrower than others of the same place: between the same two tiers, or
 * at the same port of hosts. */
#include <math.h>

#include "answer/topology/cabling_rules.h"

/* Cables of one place by their rate. */
typedef struct {
  FabCablingVotes votes; /* for indices of `rates` */
  GArray *rates;         /* double */
  GPtrArray *speeds;     /* char: of each rate */
} Place;

static void
place_free (gpointer data)
{
  Place *self = data;

  fab_cabling_votes_clear (&self->votes);
  g_array_unref (self->rates);
  g_ptr_array_unref (self->speeds);
  g_free (self);
}

/* Cables with the same key are compared. */
static guint
key_of (const FabCabling *self, const FabCable *cable)
{
  const FabCablingPart *a = fab_cabling_part (self, cable->a), *b = fab_cabling_part (self, cable->b);

  if (a->is_host)
    return cable->nic + 1;
  return G_MAXUINT - (MIN (MIN (a->tier, b->tier), 0xfff) << 12) - MIN (MAX (a->tier, b->tier), 0xfff);
}

static guint
rate_index (Place *self, const FabCable *cable)
{
  for (guint i = 0; i < self->rates->len; i++)
    if (fabs (g_array_index (self->rates, double, i) - cable->bytes_per_s) <= 1e-6 * cable->bytes_per_s)
      return i;
  g_array_append_val (self->rates, cable->bytes_per_s);
  g_ptr_array_add (self->speeds, cable->speed);
  return self->rates->len - 1;
}

/* (transfer full) */
static GHashTable *
places_of (const FabCabling *self)
{
  GHashTable *places = g_hash_table_new_full (NULL, NULL, NULL, place_free);

  for (guint i = 0; i < self->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (self, i);
    gpointer key = GUINT_TO_POINTER (key_of (self, cable));
    Place *place = g_hash_table_lookup (places, key);

    if (place == NULL) {
      place = g_new0 (Place, 1);
      fab_cabling_votes_init (&place->votes);
      place->rates = g_array_new (FALSE, FALSE, sizeof (double));
      place->speeds = g_ptr_array_new ();
      g_hash_table_insert (places, key, place);
    }
    fab_cabling_votes_add (&place->votes, rate_index (place, cable), cable->count);
  }
  return places;
}

/* "leaf3 port 4", "NIC mlx5_0 of gpu3" (transfer full) */
static char *
end_text (const FabCabling *self, guint part, const char *port)
{
  const FabCablingPart *of = fab_cabling_part (self, part);

  if (port == NULL)
    return g_strdup (of->name);
  return of->is_host ? g_strdup_printf ("%s of %s", port, of->name)
                     : g_strdup_printf ("%s port %s", of->name, port);
}

/* What a cable should do: what most others of its place do, or what both of its ends could. */
typedef struct {
  double bytes_per_s;
  char *why; /* owned */
} Norm;

static Norm
norm_of (const FabCable *cable, const Place *place)
{
  guint n = 0, usual = fab_cabling_votes_winner (&place->votes, &n);
  double rate = usual == G_MAXUINT ? 0 : g_array_index (place->rates, double, usual);

  if (cable->possible_bytes_per_s > rate)
    return (Norm){ cable->possible_bytes_per_s,
                   g_strdup_printf ("both ends could do %s, %.4g GB/s", cable->possible,
                                    cable->possible_bytes_per_s / 1e9) };
  if (usual == G_MAXUINT)
    return (Norm){ 0, NULL };
  return (Norm){ rate,
                 g_strdup_printf ("%u of %u such cables have %s, %.4g GB/s", n, place->votes.total,
                                  (const char *) g_ptr_array_index (place->speeds, usual), rate / 1e9) };
}

static void
find_slow (FabCabling *self, const FabCable *cable, const Norm *norm)
{
  g_autofree char *from = end_text (self, cable->a, cable->port_a),
                  *to = end_text (self, cable->b, cable->port_b);
  g_autofree char *number = cable->count > 1 ? g_strdup_printf ("%u cables, ", cable->count) : g_strdup ("");

  fab_cabling_find (self, (FabCablingFinding){
                              .kind = FAB_CABLING_SLOW,
                              .part = fab_cabling_part (self, cable->a)->name,
                              .port = cable->port_a,
                              .peer = fab_cabling_part (self, cable->b)->name,
                              .peer_port = cable->port_b,
                              .lost_bytes_per_s = cable->count * (norm->bytes_per_s - cable->bytes_per_s),
                              .text = g_strdup_printf ("%s%s to %s runs at %s, %.4g GB/s; %s.", number, from,
                                                       to, cable->speed, cable->bytes_per_s / 1e9, norm->why),
                          });
}

void
fab_cabling_check_speeds (FabCabling *self)
{
  g_autoptr (GHashTable) places = places_of (self);

  for (guint i = 0; i < self->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (self, i);
    Norm norm = norm_of (cable, g_hash_table_lookup (places, GUINT_TO_POINTER (key_of (self, cable))));

    if (cable->bytes_per_s < norm.bytes_per_s * (1 - 1e-6))
      find_slow (self, cable, &norm);
    g_free (norm.why);
  }
}
