#!/usr/bin/env bash
# packages.sh - are the packages in DIR installed, do they work, and are they removed without a rest?
#
# For a machine that has nothing else, as fresh.sh makes it (`./dev package --check`): it installs and purges as root.
#
#   tests/fresh/packages.sh DIR
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

dir=$1
export DEBIAN_FRONTEND=noninteractive

# What packages own, and whatever is named after Fabricast. State of others, such as the machine's id that systemd makes
# when a dependency brings it in, is below /etc, /run and /var.
files() {
  { find / -xdev \( -path /proc -o -path /sys -o -path /srv -o -path /tmp -o -path /root -o -path /etc -o -path /run -o -path /var \) \
    -prune -o -print
    find /etc /run /var /root -xdev -iname '*fabricast*'; } | sort
}

apt-get update -qq
apt-get install -qq -y --no-install-recommends gcc libc6-dev pkg-config >/tmp/compiler.log 2>&1
files >/tmp/before
apt-get install -qq -y --no-install-recommends "$dir"/*.deb >/tmp/install.log 2>&1 || { tail -n 20 /tmp/install.log >&2; exit 1; }

cd /tmp
fabricast --version
fabricast run hello --no-db --rows step
fabricast describe scenarios --names >/tmp/names
grep -qx hello /tmp/names
fabricast report --help >/dev/null
for file in /usr/share/bash-completion/completions/fabricast /usr/share/zsh/vendor-completions/_fabricast \
  /usr/share/fish/vendor_completions.d/fabricast.fish; do
  [ -s "$file" ] || { echo "packages.sh: $file is missing" >&2; exit 1; }
done
if [ -e /usr/include/fabricast.h ]; then
  # shellcheck disable=SC2046 # options of the compiler
  gcc $(pkg-config --cflags fabricast) -o /tmp/embedded /usr/share/doc/libfabricast-dev/examples/run.c $(pkg-config --libs fabricast)
  /tmp/embedded /usr/share/fabricast/scenarios/hello.yaml
fi

if command -v python3 >/dev/null; then
  python3 -c 'import fabricast; print (fabricast.__file__)'
fi

names=$(for deb in "$dir"/*.deb; do dpkg-deb --field "$deb" Package; done)
# shellcheck disable=SC2086 # names of packages
apt-get purge -qq -y $names >/tmp/purge.log 2>&1 || { tail -n 20 /tmp/purge.log >&2; exit 1; }
apt-get autoremove -qq -y --purge >>/tmp/purge.log 2>&1
files >/tmp/after
rest=$(comm -13 /tmp/before /tmp/after)
[ -z "$rest" ] || { printf 'packages.sh: left behind:\n%s\n' "$rest" >&2; exit 1; }
echo "packages.sh: installed, run and removed without a rest"
