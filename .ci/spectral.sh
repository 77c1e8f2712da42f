#!/usr/bin/env bash
# Has Spectral judge the API's description: it must find no error. Its 120 packages would be a fifth of the lock, so npx
# fetches a fixed version. Redocly's engine is small, and judges in test/integration/openapi.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec npx --yes @stoplight/spectral-cli@6.16.3 lint --quiet --fail-severity error --ruleset .ci/spectral.yaml \
  manifests/openapi.json
