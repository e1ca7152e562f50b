#!/bin/sh
# The API with curl, against `npx orrery serve --clock virtual --sim-token dev`. URL is its address.
set -eu
URL=${URL:-http://127.0.0.1:8080}
SIM='authorization: Bearer dev'
JSON='content-type: application/json'
ACCOUNT=0x7e5f4552091a69125d5dfcb7b8c2659029395bdf

# Prints the response, and a refusal or a server that does not answer ends the script.
request() {
  curl -sS --fail-with-body "$@" && echo || { code=$?; echo; exit "$code"; }
}

echo '# set an index price and deposit to an account'
request -X POST "$URL/sim/oracle" -H "$SIM" -H "$JSON" -d '{"symbol": "BTC-USD-PERP", "price": "60000"}'
request -X POST "$URL/sim/deposit" -H "$SIM" -H "$JSON" -d "{\"account\": \"$ACCOUNT\", \"amount\": \"10000\"}"

echo '# public endpoints'
request "$URL/price/BTC-USD-PERP"
request "$URL/book/BTC-USD-PERP?depth=5"

echo '# the first step of a login: a challenge for the wallet to sign'
request "$URL/auth?account=$ACCOUNT"

echo '# an account endpoint without a token is rejected'
curl -sS "$URL/account/balance?account=$ACCOUNT"; echo

echo '# advance the clock by an hour, and read the state hash'
request -X POST "$URL/sim/clock" -H "$SIM" -H "$JSON" -d '{"advanceMs": 3600000}'
request "$URL/sim/hash" -H "$SIM"
