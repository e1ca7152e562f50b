#!/usr/bin/env bash
# Fuzzes the server at URL, or one that it starts itself. Exit code: that of `orrery fuzz`.
# Job control gives the server a process group of its own, which ends with this script.
set -euom pipefail

read -r -a orrery <<<"${ORRERY:-npx orrery}"
mkdir -p "$OUT"
config=()
if [ -n "${CONFIG:-}" ]; then config=(--config "$CONFIG"); fi

if [ -z "${URL:-}" ]; then
  data=$(mktemp -d "$OUT/data-XXXXXX")
  # Before the server starts: the log of an earlier turn has the address of another server.
  : >"$OUT/server.log"
  "${orrery[@]}" serve --port "${PORT:-0}" --clock virtual --trust-signatures \
    --sim-token "$SIM_TOKEN" --data-dir "$data" ${config[@]+"${config[@]}"} \
    >>"$OUT/server.log" 2>&1 </dev/null &
  server=$!
  trap 'kill -- -"$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
  # The address that the server prints: another one may answer at a fixed port.
  for _ in $(seq 300); do
    URL=$(sed -n 's/^orrery listens on //p' "$OUT/server.log")
    if [ -n "$URL" ]; then break; fi
    if ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.2
  done
  if [ -z "$URL" ]; then
    cat "$OUT/server.log" >&2
    echo 'the server does not start' >&2
    exit 2
  fi
fi

"${orrery[@]}" fuzz --target "$URL" --sim-token "$SIM_TOKEN" ${config[@]+"${config[@]}"} \
  --seconds "$SECONDS_LIMIT" --seed "$SEED" --out "$OUT" \
  --junit "$OUT/junit.xml" --sarif "$OUT/fuzz.sarif"
