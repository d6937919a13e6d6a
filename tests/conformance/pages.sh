#!/usr/bin/env bash
# The pages before public tools: html-validate, vnu with CSS, Lighthouse, and a browser with axe: by day and by night, 320 and
# 1,280 px wide, with the policy in force and without JavaScript, by keyboard, printed, with large letters, with forced colours.
#
#   tests/conformance/pages.sh [URL]      URL is http://127.0.0.1:8080, as of `reviewsd --demo`
#   tests/conformance/pages.sh --install  only fetches the tools
#
# Fails if a tool finds something. The tools come from npm into a directory of their own ($PAGE_TOOLS), once;
# Chromium, whole or without windows, which is quicker, and Java are the system's (apt install chromium-headless-shell
# default-jre-headless).
set -euo pipefail

base=${1:-http://127.0.0.1:8080}
tools=${PAGE_TOOLS:-${TMPDIR:-/tmp}/reviewsd-page-tools}
here=$(realpath "$(dirname "$0")")

if [ ! -e "$tools/ready" ]; then
  mkdir -p "$tools"
  npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$tools" \
    html-validate@10.17.0 axe-core@4.14.1 playwright-core@1.65.1 vnu-jar@26.9.27 lighthouse@12.8.2
  touch "$tools/ready"
fi
if [ "$base" = --install ]; then exit; fi

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
review=$(curl -sf "$base/api/reviews/search?limit=1" | sed 's/.*"reviews":\[{"id":"\([^"]*\)".*/\1/')
mapfile -t listed < <(curl -sf "$base/sitemap.xml" | grep -o '<loc>[^<]*' | sed 's|<loc>[a-z]*://[^/]*||' | grep -v '^/r/')
pages=("${listed[@]}" '/reviews?query=heat&min_rating=4' '/reviews?rating=9&since=x&until=y&min_rating=9&max_rating=9&limit=0' '/reviews?stars=5&q=x' '/reviews?mentions_service=boiler'
  '/reviews?since=2026-01-01&until=2025-01-01' /embed '/embed?layout=grid&theme=dark&count=12' '/embed?layout=badge&theme=auto'
  '/embed?min_rating=4&accent=ffff00' '/embed?theme=x&count=99' '/developers/embed?layout=grid&theme=dark' '/developers/embed?count=99&accent=x'
  "/r/$review" /r/nobody /nothing)
for at in "${!pages[@]}"; do
  curl -s -H 'Accept: text/html' "$base${pages[$at]}" > "$results/$at.html"
done
"$tools/node_modules/.bin/html-validate" --preset=recommended,a11y,document "$results"/*.html
for image in badge.svg favicon.svg 'badge.svg?size=s' 'badge.svg?size=l&theme=dark'; do curl -s "$base/$image" > "$results/${image//[?&=]/-}.svg"; done
# compiled once and roughly, and cleaned up by one thread: it runs for seconds
java -Xss8m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar "$tools/node_modules/vnu-jar/build/dist/vnu.jar" --also-check-css --also-check-svg --errors-only "$results"/*.html "$results"/*.svg
cp "$here/pages.mjs" "$tools/pages.mjs"  # where it finds its modules
chromium=$(command -v chromium-headless-shell || command -v chromium)
looked_at=()  # the pages of documentation are made alike: one of the long ones and their first stand for all
for page in "${pages[@]}"; do
  case $page in /developers/mcp | /developers | /developers/embed*) looked_at+=("$page") ;; /developers/*) ;; *) looked_at+=("$page") ;; esac
done
node "$tools/pages.mjs" "$chromium" "$base" "${looked_at[@]}"
# without accessibility, which is axe once more, and without the slow network that it simulates for its speed
CHROME_PATH=$chromium "$tools/node_modules/.bin/lighthouse" "$base/" --quiet --chrome-flags='--headless=new --no-sandbox' \
  --throttling-method=provided --only-categories=best-practices,seo --output=json --output-path="$results/lighthouse.json"
# Version 12 calls Content-Signal in robots.txt unknown; 13 knows it.
node -e '
  const { audits } = JSON.parse(require("fs").readFileSync(process.argv[1]));
  const known = (each) => each.id === "robots-txt" && each.details.items.every(({ line }) => line.startsWith("Content-Signal: "));
  const failed = Object.values(audits).filter((each) => each.score !== null && each.score < 1 && !known(each));
  for (const each of failed) console.log("Lighthouse:", each.id, each.title);
  process.exit(failed.length ? 1 : 0);
' "$results/lighthouse.json"
