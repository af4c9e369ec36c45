/* SPDX-License-Identifier: Apache-2.0 */
/* visible.h - included before the sources of lib/: a mutant in a library of its own refers to what is hidden in theirs.
 */
#pragma once

#include <glib.h>

#undef G_GNUC_INTERNAL
#define G_GNUC_INTERNAL
