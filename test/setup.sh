#!/usr/bin/env bash
# Called by `npm test` before the build: sees to the tools that tests use beside Node, and says what will be skipped
# without them. Installs with apt only what is missing, only as root. Never fails the run: the tests judge.
set -u

# command | Debian package | what needs it
readonly TOOLS='
curl|curl|end to end: the line that a start prints, pasted into a shell
bash|bash|process runtime: keeps terminals of other instances out of a new process
mkfifo|coreutils|configuration files: a pipe among them is reported, not opened
mount|mount|full disks: a small tmpfs is filled
setsid|util-linux|process runtime: a grandchild that leaves its session is still ended
chromium-headless-shell|chromium-headless-shell|the dashboard and the reference page of the API in a browser, if there is no other Chromium
stty|coreutils|process runtime: input arrives byte for byte
git|git|configuration files: which commit they come from
screen|screen|screen runtime: all of it
tmux|tmux|tmux runtime: all of it
dockerd|docker.io|docker runtime: tests start an engine of their own, as root
etcd|etcd-server|the state of a master on etcd: its contract suite, faults, a standby
busybox|busybox-static|docker runtime: the image that these tests start
nginx|nginx-light|docs/servers.md: started as it says
redis-server|redis-server|docs/servers.md: started as it says
mosquitto|mosquitto|docs/servers.md: started as it says
gunicorn|gunicorn|docs/servers.md: started as it says
'

say() { printf 'test/setup.sh: %s\n' "$*"; }

is_root() { [ "$(id -u)" -eq 0 ]; }

# docker.io would start an engine of the whole machine; Debian asks this program before it starts a service.
without_services() {
  local policy=/usr/sbin/policy-rc.d status
  if [ -e "$policy" ]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" || return
  "$@"
  status=$?
  rm -f "$policy"
  return "$status"
}

# A stale or empty package index is the usual reason for a first failure.
install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return
  timeout 120 apt-get update -qq >/dev/null 2>&1
  apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1
}

provide_tools() {
  local command package need
  while IFS='|' read -r command package need; do
    [ -n "$command" ] || continue
    command -v "$command" >/dev/null && continue
    if is_root && command -v apt-get >/dev/null && without_services install "$package" && command -v "$command" >/dev/null; then
      say "installed $package for $command"
    else
      say "no $command (Debian package $package); tests without it are skipped or fail: $need"
    fi
  done <<<"$TOOLS"
}

report_rights() {
  if ! is_root; then
    say 'not root: tests that fill a small disk (tmpfs) or change owners are skipped'
    return
  fi
  local directory
  directory=$(mktemp -d) || return
  if mount -t tmpfs -o size=64k drover-test "$directory" 2>/dev/null; then
    umount "$directory"
  else
    say 'root, but not allowed to mount (a container?): tests that fill a small disk are skipped'
  fi
  rmdir "$directory"
}

provide_tools
report_rights
exit 0
