/* SPDX-License-Identifier: Apache-2.0 */
/* sides.h - several scenarios, or variants of one, held against one of them: why they differ, whether their figures may
 * be compared at all, and with which value of a key the others would equal it.
 */
#pragma once

#include "answer/study/points.h"
#include "answer/variants/side.h"
#include "sim/study/size.h"

/* A side (FabSide) for each value of the axis. (transfer full) */
GPtrArray *fab_sides_of_axis (const FabStudy *study, const FabAxis *axis);

/* Plays the sides, with their bands where `has_band`, and takes out those values of an axis (`is_axis`) that cannot be
 * played; `left_out` gets a line for each. Scenarios of one name are called as their files are. FALSE and *error: a
 * scenario cannot be played, or no value can. */
gboolean fab_sides_settle (GPtrArray *sides, gboolean is_axis, gboolean has_band, GPtrArray *left_out,
                           GError **error);

/* The side of that name, or with that value; NULL means the first. FALSE and *error, which lists the names. */
gboolean fab_sides_find (const GPtrArray *sides, const char *name, guint *index, GError **error);

/* What is said of a side. */
typedef struct {
  gboolean is_sound;  /* its figures may be compared: it fits into memory, or need not */
  gboolean is_judged; /* it is not the base, and both are sound: the next two are known */
  char *words;        /* why its step differs from the base's, and what limits it then */
  gboolean differs;   /* beyond the spread of the seeds */
  double speed_up;    /* its tokens per second over the base's; without tokens the base's step over its own */
} FabSideWords;

/* What a side needs to equal the base. */
typedef struct {
  guint side;
  FabSize *size; /* NULL: no value can run; `problem` says why */
  char *problem;
  FabBytesPerS
      needed_bytes_per_s; /* rate of NIC ports, to hold against its own; 0: the key is another, it has no
                                    * ports, or the first value is enough */
} FabSideEqual;

typedef struct {
  guint base;
  const FabFigure *figure;       /* in which the others shall equal the base; NULL: not asked for */
  const FabAxis *axis;           /* the key that may change for that; NULL: rates of NIC ports */
  const FabAxis *variants;       /* whose values are the sides; NULL: they are scenarios */
  gboolean is_oversized_allowed; /* a job that does not fit into memory counts too */
  gboolean has_band;             /* differences get their bands */
} FabSidesRequest;

typedef struct {
  GPtrArray *sides;        /* FabSide, all of which ran; the caller's */
  const FabFigure *figure; /* as requested */
  const FabAxis *variants; /* as requested */
  gboolean is_oversized_allowed;
  FabAxis *own_axis;     /* rates of NIC ports; NULL: the request has an axis */
  const FabAxis *axis;   /* of `equals` */
  FabContrast *contrast; /* of their variants, in the same order */
  GArray *words;         /* FabSideWords, one for each side */
  GArray *equals; /* FabSideEqual of each side but the base; empty: not asked for, or the base is not sound */
  GArray *pairs;  /* FabChoicePair: each variant beside the next one; empty where the sides are scenarios */
  guint n_seeds;  /* the most that a side was simulated with */
  const char *hold; /* which batch variants hold; NULL: none, or the sides are scenarios */
} FabSidesAnswer;

/* Of sides that are settled; they and their studies outlive the answer. (transfer full) */
FabSidesAnswer *fab_sides_answer (GPtrArray *sides, const FabSidesRequest *request);
void fab_sides_answer_free (FabSidesAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSidesAnswer, fab_sides_answer_free)

/* The sides as rows. (transfer full) */
FabPoints *fab_sides_points (const FabSidesAnswer *self);
