#!/usr/bin/env bash
# Runs the complete suite many times, the last ones beside processes that keep the machine busy, and counts the runs
# that passed. See test/README.md. Ctrl-C ends the run under way and prints the count so far.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat >&2 <<'TEXT'
usage: npm run test:steady -- [--runs 20] [--loaded 5] [--busy 4] [-- <parameters of vitest, such as files>]
  --runs    how many runs of the suite
  --loaded  how many of them, the last ones, beside a load
  --busy    how many processes that compute without end are the load
TEXT
  exit 2
}

runs=20 loaded=5 busy=4
while (($# > 0)); do
  case $1 in
    --runs | --loaded | --busy)
      [[ ${2:-} =~ ^[0-9]+$ ]] || usage
      declare "${1#--}=$2"
      shift 2
      ;;
    --)
      shift
      break
      ;;
    *) usage ;;
  esac
done

load=()
isStopped=false passed=0 done=0

start_load() {
  local index
  for ((index = 0; index < busy; index++)); do
    # They end with this script, however it ends.
    (while [[ -e /proc/$$ ]]; do :; done) &
    load+=("$!")
  done
}

end_load() {
  local pid
  for pid in "${load[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  load=()
}

finish() {
  trap - EXIT
  end_load
  printf '%d of %d runs passed' "$passed" "$done"
  if ((done < runs)); then printf ' (%d were asked for)' "$runs"; fi
  printf '\n'
  if ((passed == runs)); then
    rm -rf "$scratch"
    exit 0
  fi
  printf 'what they said: %s\n' "$scratch"
  exit 1
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/drover-steady-XXXXXX")
# The terminal sends Ctrl-C to the tests as well; here it only says that no other run begins.
trap 'isStopped=true' INT TERM
trap finish EXIT

bash test/setup.sh && npm run --silent build || exit
for ((run = 1; run <= runs; run++)); do
  beside=
  if ((run > runs - loaded)); then
    start_load
    beside=" beside $busy busy processes"
  fi
  export DROVER_TEST_REPORT="$scratch/run-$run.json"
  started=$SECONDS
  npx vitest run "$@" >"$scratch/run-$run.log" 2>&1 </dev/null
  status=$?
  end_load
  if $isStopped; then break; fi
  done=$((done + 1))
  verdict=FAILED
  if ((status == 0)); then
    verdict=passed
    passed=$((passed + 1))
  fi
  printf 'run %d of %d%s: %s, %d s\n' "$run" "$runs" "$beside" "$verdict" "$((SECONDS - started))"
  if ((status != 0)); then node test/runs/failed-tests.mjs "$DROVER_TEST_REPORT"; fi
done
