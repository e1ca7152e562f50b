#!/usr/bin/env bash
# Fuzzes the server at URL, or one that it starts itself. Exit code: that of `orrery fuzz`.
set -euo pipefail

read -r -a orrery <<<"${ORRERY:-npx orrery}"
mkdir -p "$OUT"
config=()
if [ -n "${CONFIG:-}" ]; then config=(--config "$CONFIG"); fi

if [ -z "${URL:-}" ]; then
  port="${PORT:-8080}"
  URL="http://127.0.0.1:$port"
  "${orrery[@]}" serve --port "$port" --clock virtual --trust-signatures \
    --sim-token "$SIM_TOKEN" --data-dir "$OUT/data" "${config[@]}" >"$OUT/server.log" 2>&1 &
  server=$!
  trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
  for _ in $(seq 300); do
    if curl -sf "$URL/time" >/dev/null; then break; fi
    if ! kill -0 "$server" 2>/dev/null; then
      cat "$OUT/server.log"
      exit 2
    fi
    sleep 0.2
  done
fi

"${orrery[@]}" fuzz --target "$URL" --sim-token "$SIM_TOKEN" "${config[@]}" \
  --seconds "$SECONDS_LIMIT" --seed "$SEED" --out "$OUT" \
  --junit "$OUT/junit.xml" --sarif "$OUT/fuzz.sarif"
