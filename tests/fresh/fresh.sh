#!/usr/bin/env bash
# fresh.sh - do the README's two commands work on a machine that has nothing?
#
# Makes a bare Debian (debootstrap, variant minbase) in a temporary folder, copies the checkout into it
# and runs `./dev run` and `./dev test` there. Needs root, debootstrap (installed when missing) and the
# Debian mirror that this machine's own apt uses. About 1 GB and ten minutes; not part of the suite.
#
#   tests/fresh/fresh.sh [COMMAND...]   each COMMAND is run with bash in the checkout
#                                       (default: './dev run' './dev test')
#   SUITE=bookworm                      another release
#   MIRROR=ADDRESS                      an archive that has it, where the one of this machine's apt has not
#   WITH=DIR                            files of DIR are copied to /srv/with
#   KEEP=1                              leave the folder there
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
suite=${SUITE:-bookworm}
[ $# -gt 0 ] || set -- './dev run' './dev test'

[ "$(id -u)" -eq 0 ] || { echo "fresh.sh: needs root" >&2; exit 3; }
if ! command -v debootstrap >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap
fi

# The first archive of that release in the lists of this machine's apt, or else the first of all: one archive has all
# releases of a distribution.
# shellcheck disable=SC2016 # apt's own variables
mirror=${MIRROR:-$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
  awk -v suite="$suite" '$1 == suite && !found { print $2; found = 1 } NR == 1 { first = $2 } END { if (!found) print first }')}
[ -n "$mirror" ] || { echo "fresh.sh: this machine's apt knows no archive; name one with MIRROR=" >&2; exit 3; }

machine=$(mktemp -d)
chmod 755 "$machine" # tests drop to another user inside
cleanup() {
  umount "$machine/dev/pts" "$machine/proc" 2>/dev/null || true
  if [ -n "${KEEP:-}" ]; then
    echo "fresh.sh: kept $machine" >&2
  else
    rm -rf --one-file-system "$machine"
  fi
}
trap cleanup EXIT

echo "fresh.sh: making a bare $suite" >&2
debootstrap --variant=minbase "$suite" "$machine" "$mirror" >"$machine.log" 2>&1 ||
  { tail -n 20 "$machine.log" >&2; exit 3; }
rm -f "$machine.log"
cp /etc/resolv.conf /etc/hosts "$machine/etc/"
apt-config dump | grep -iE '^Acquire::(https?|ftp)::(proxy|cainfo)' >"$machine/etc/apt/apt.conf.d/90fresh" || true
mount -t proc proc "$machine/proc" 2>/dev/null || echo "fresh.sh: no /proc in the new machine" >&2
mkdir -p "$machine/dev/pts" # tests of terminals open some
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$machine/dev/pts" 2>/dev/null || echo "fresh.sh: no terminals in the new machine" >&2

# A folder with a space in its name, for good measure.
checkout="/srv/fabricast fresh"
mkdir -p "$machine$checkout"
(cd "$root" && .ci/files.sh | xargs -0 cp --parents -t "$machine$checkout")
git init -q "$machine$checkout" # so that `./dev lint` finds its files

if [ -n "${WITH:-}" ]; then
  mkdir -p "$machine/srv/with"
  find "$WITH" -maxdepth 1 -type f -exec cp -t "$machine/srv/with" {} +
fi

for command in "$@"; do
  echo "fresh.sh: $command" >&2
  SECONDS=0
  env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$machine" bash -c "cd '$checkout' && $command" </dev/null
  echo "fresh.sh: done in $SECONDS s" >&2
done
