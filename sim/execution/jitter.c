/* SPDX-License-Identifier: Apache-2.0 */
/* jitter.c - z is the inverse of the normal distribution at a uniform number, computed by AS 241, PPND16 (M. J.
 * Wichura, The percentage points of the normal distribution, Applied Statistics 37, 1988), accurate to 1 part in
 * 10^16. */
#include "sim/execution/jitter.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/mix.h"

#define LN2 0.69314718055994530942

enum { DEGREE = 7 };

/* Numerator and denominator of a rational function, from the constant term upwards. */
typedef struct {
  double above[DEGREE + 1], below[DEGREE + 1];
} Rational;

/* AS 241: |p - 1/2| <= 0.425, then r <= 5, then the far tails. */
static const Rational middle = {
  { 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3 },
  { 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
    3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3 },
};

static const Rational near_tail = {
  { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
    7.74545014278341407640e-4 },
  { 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
    1.05075007164441684324e-9 },
};

static const Rational far_tail = {
  { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
    2.01033439929228813265e-7 },
  { 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
    2.04426310338993978564e-15 },
};

static double
divide (const Rational *self, double x)
{
  double above = 0, below = 0;

  for (guint i = DEGREE + 1; i-- > 0;) {
    above = above * x + self->above[i];
    below = below * x + self->below[i];
  }
  return above / below;
}

/* ln (m x 2^e) = e ln 2 + 2 artanh ((m - 1) / (m + 1)), m between 1/sqrt 2 and sqrt 2; 20 terms: below 1 part in
 * 10^16.
 */
static double
natural_log (double x)
{
  int exponent;
  double m = frexp (x, &exponent);

  if (m < 0.70710678118654752440) {
    m *= 2;
    exponent--;
  }
  double y = (m - 1) / (m + 1), sum = 0;
  for (int k = 39; k > 0; k -= 2)
    sum = sum * y * y + 1.0 / k;
  return exponent * LN2 + 2 * y * sum;
}

/* exp (x) = 2^n exp (r), |r| <= ln 2 / 2, 18 terms of its series. */
static double
natural_exp (double x)
{
  double n = floor (x / LN2 + 0.5), r = x - n * LN2, sum = 1;

  for (int k = 18; k > 0; k--)
    sum = sum * r / k + 1;
  return ldexp (sum, (int) n);
}

static double
normal_quantile (double p)
{
  double q = p - 0.5, tail, r;

  if (fabs (q) <= 0.425)
    return q * divide (&middle, 0.180625 - q * q);
  r = sqrt (-natural_log (MIN (p, 1 - p)));
  tail = r <= 5 ? divide (&near_tail, r - 1.6) : divide (&far_tail, r - 5);
  return copysign (tail, q);
}

double
fab_jitter_sigma (double cv)
{
  g_assert (cv >= 0);
  return sqrt (natural_log (1 + cv * cv));
}

double
fab_jitter_slowest (guint n, double deviation)
{
  g_assert (n > 0);
  return n == 1 ? 1 : 1 + deviation * normal_quantile ((n - 0.375) / (n + 0.25));
}

double
fab_jitter_factor (guint64 seed, guint iteration, guint rank, double sigma)
{
  guint64 drawn = fab_mix (fab_mix (seed, iteration), rank);
  double p = ((double) (drawn >> 12) + 0.5) * 0x1p-52; /* exact, and never 0 nor 1 */

  return natural_exp (sigma * normal_quantile (p) - sigma * sigma / 2);
}

guint
fab_jitter_sizes (guint n, guint n_classes, guint *sizes)
{
  guint n_made = CLAMP (n_classes, 1, n), n_parts = n_made - 1;

  g_assert (n > 0);
  if (n_parts == 0) {
    sizes[0] = n;
    return 1;
  }
  sizes[0] = 1;
  for (guint i = 0; i < n_parts; i++)
    sizes[1 + i] = (n - 1) / n_parts + (i < (n - 1) % n_parts);
  return n_made;
}
