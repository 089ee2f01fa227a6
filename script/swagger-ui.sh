#!/usr/bin/env bash
# Take Swagger UI from npm's package swagger-ui-dist: swagger-ui.sh [VERSION]. What /docs serves is
# in internal/handlers/swaggerui, with the licences of what is bundled.
set -euo pipefail
cd "$(dirname "$0")/../internal/handlers/swaggerui"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "swagger-ui-dist@${1:-latest}" >/dev/null
tar -xzf "$work"/*.tgz -C "$work"
for file in LICENSE NOTICE swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css favicon-32x32.png; do
  # Maps are not served, and a browser's tools would look for them.
  sed -E '/^\/[/*]# sourceMappingURL/d' "$work/package/$file" >"$file"
done
sed -n 's/^  "version": "\(.*\)",$/\1/p' "$work/package/package.json" >VERSION
echo "swagger-ui $(cat VERSION)"
