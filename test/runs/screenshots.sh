#!/usr/bin/env bash
# Shows every screen of the dashboard in Chromium and keeps pictures: `npm run screenshots -- FOLDER`.
set -euo pipefail
folder=${1:?name a folder: npm run screenshots -- FOLDER}
npm run --silent build
DROVER_SCREENSHOTS=$(realpath -m "$folder") npx vitest run test/e2e/dashboard/{looks,fleet-pictures,instance,jobs,rollouts,configurations}.test.ts
echo "The pictures are in $folder"
