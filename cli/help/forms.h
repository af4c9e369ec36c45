/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - a command's help in other forms than --help: a manual page, completions of zsh and fish. All come from the
 * table of its options. fab_cli_parse prints one when it finds --help-as=FORM, which help does not list.
 */
#pragma once

#include "cli/command.h"

/* Prints the help of a command in a form: "man", "zsh" or "fish". FALSE and *error: there is no such form. */
gboolean fab_form_print (const char *form, const char *command, const FabUsage *usage,
                         const GOptionEntry *entries, GError **error);

/* Prints the completion of a shell, bash, zsh or fish, for all commands. FALSE and *error: of no other. */
gboolean fab_form_completion (const char *shell, GError **error);
