/* SPDX-License-Identifier: Apache-2.0 */
/* aborts.h - does a breach abort? Tried in a child process, whose words go nowhere. */
#pragma once

#include <glib.h>

gboolean aborts (void (*breach) (void));
