#!/usr/bin/env bash
# Runs a script of this folder with what it needs: run.sh test, or run.sh measure.cjs, or run.sh pictures.cjs FOLDER.
# It needs Chromium, Node.js 18 or newer and npm. In CI they are installed from Debian's packages where they are missing;
# elsewhere tests are left out without them, and it says so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}

missing() {
  [ -n "$CHROMIUM" ] || echo chromium fonts-dejavu-core
  command -v node > /dev/null || echo nodejs
  command -v npm > /dev/null || echo npm
}

# Modules lie outside of the sources, so that nothing takes them for a part of these. Tests of pages and of labs may begin
# at the same moment: one installs what is missing.
modules=$top/bin/browser
mkdir -p "$modules"
exec 9> "$modules/lock"
if command -v flock > /dev/null; then flock 9; fi

if [ -n "$(missing)" ] && [ "${CI:-}" = true ]; then
  apt-get update > /dev/null
  # shellcheck disable=SC2046 # a list of words
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(missing) > /dev/null
  CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
fi
if [ -n "$(missing)" ]; then
  echo "web pages: not tried in a browser, because this is missing:" $(missing)
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi

if ! cmp -s "$here/package-lock.json" "$modules/installed.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$modules"
  (cd "$modules" && npm ci --no-audit --no-fund --silent)
  cp "$here/package-lock.json" "$modules/installed.json"
fi
exec 9>&-
export NODE_PATH=$modules/node_modules SERVE=$top/bin/tools/serve-example

if [ "$1" = test ]; then
  exec node --test --test-reporter=spec "$here/pages.test.cjs"
fi
script=$1
shift
exec node "$here/$script" "$@"
