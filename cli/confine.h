/* SPDX-License-Identifier: Apache-2.0 */
/* confine.h - takes rights away from a command that listens, before it hears anybody (Landlock, Linux 5.13 and later).
 *
 * A defect that lets a visitor run code in the program then finds no file to write and none of the user's to read. What
 * is open stays open. There is no way back, also not for programs that are started.
 */
#pragma once

#include <glib.h>

/* Confines the calling thread and all that it starts from now on. From then on no file can be made, changed, removed or
 * executed, files can be read below `folders` (NULL-ended) and those of the system only, and, from Linux 6.7 on, no TCP
 * connection can be opened; others may still connect. Unused threads of GLib are ended first. Returns FALSE, and takes
 * nothing away, where the kernel has no Landlock. */
gboolean fab_cli_confine (const char *const *folders);
