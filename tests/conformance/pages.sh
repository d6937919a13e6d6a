#!/usr/bin/env bash
# The pages before public tools: html-validate, vnu with CSS, and axe in a browser, by day and by night, 320 and
# 1,280 px wide, with the policy in force and without JavaScript.
#
#   tests/conformance/pages.sh [URL]      URL is http://127.0.0.1:8080, as of `reviewsd --demo`
#
# Fails if a tool finds something. The tools come from npm into a directory of their own ($PAGE_TOOLS), once;
# Chromium and Java are the system's (apt install chromium default-jre-headless).
set -euo pipefail

base=${1:-http://127.0.0.1:8080}
tools=${PAGE_TOOLS:-${TMPDIR:-/tmp}/reviewsd-page-tools}
script=$(realpath "$(dirname "$0")/pages.mjs")
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

if [ ! -e "$tools/ready" ]; then
  mkdir -p "$tools"
  npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools" \
    html-validate axe-core playwright-core vnu-jar
  touch "$tools/ready"
fi

review=$(curl -sf "$base/api/reviews/search?limit=1" | sed 's/.*"reviews":\[{"id":"\([^"]*\)".*/\1/')
pages=(/ /reviews '/reviews?query=heat&min_rating=4' '/reviews?rating=9&since=x' /summary /embed
  "/r/$review" /r/nobody /developers)
for at in "${!pages[@]}"; do
  curl -s -H 'Accept: text/html' "$base${pages[$at]}" > "$results/$at.html"
done
"$tools/node_modules/.bin/html-validate" --preset=recommended,a11y,document "$results"/*.html
java -jar "$tools/node_modules/vnu-jar/build/dist/vnu.jar" --also-check-css --errors-only "$results"/*.html
cp "$script" "$tools/pages.mjs"  # where it finds its modules
node "$tools/pages.mjs" "$(command -v chromium)" "$base" "${pages[@]}"
