#!/usr/bin/env bash
# Runs the suite on other versions of Node.js, each in a copy of the checkout with dependencies of its own, so that this
# one keeps what it has. The npm package `node` brings the versions. See test/README.md.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  printf 'usage: npm run test:node -- <version>... [-- <parameters of vitest, such as files>]\n' >&2
  printf 'such as: npm run test:node -- 22 24 26\n' >&2
  exit 2
}

versions=()
while (($# > 0)) && [[ $1 != -- ]]; do
  [[ $1 =~ ^[0-9]+(\.[0-9]+){0,2}$ ]] || usage
  versions+=("$1")
  shift
done
if (($# > 0)); then shift; fi
((${#versions[@]} > 0)) || usage

scratch=$(mktemp -d "${TMPDIR:-/tmp}/drover-node-XXXXXX")
isStopped=false
trap 'isStopped=true' INT TERM

# Answers with the directory of the version's `node`, to be put before PATH.
fetch_node() {
  mkdir "$scratch/node-$1" &&
    npm install --silent --no-save --no-audit --no-fund --prefix "$scratch/node-$1" "node@$1" >&2 &&
    printf '%s' "$scratch/node-$1/node_modules/node/bin"
}

# Everything that is in the repository or would be, as it lies here now, in a repository of its own: some tests list its
# files.
copy_checkout() {
  git init --quiet "$1" && git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do if [[ -f $file ]]; then printf '%s\0' "$file"; fi; done |
    tar --create --null --files-from=- | tar --extract --directory "$1"
}

run_suite() (
  cd "$1" && npm ci --silent && npm run --silent build && npx vitest run "${@:2}" </dev/null
)

bash test/setup.sh
failures=0
for version in "${versions[@]}"; do
  copy="$scratch/checkout-$version" log="$scratch/$version.log" report="$scratch/$version.json"
  started=$SECONDS exact=$version verdict=FAILED
  if bin=$(fetch_node "$version" 2>"$log") && copy_checkout "$copy" 2>>"$log"; then
    exact=$("$bin/node" --version)
    if PATH="$bin:$PATH" DROVER_TEST_REPORT="$report" run_suite "$copy" "$@" >>"$log" 2>&1; then verdict=passed; fi
  fi
  if $isStopped; then break; fi
  printf 'Node.js %s: %s, %s, %d s\n' "${exact#v}" "$verdict" \
    "$(if [[ -s $report ]]; then node .ci/count-tests.mjs "$report"; else printf 'no tests were run'; fi)" "$((SECONDS - started))"
  if [[ $verdict == FAILED ]]; then
    failures=$((failures + 1))
    node test/runs/failed-tests.mjs "$report"
  fi
  rm -rf "$copy"
done

if ((failures == 0)) && ! $isStopped; then
  rm -rf "$scratch"
  exit 0
fi
printf 'what was said: %s\n' "$scratch"
exit 1
