#!/bin/sh
# The API with curl, against `npx orrery serve --clock virtual --sim-token dev`. URL is its address.
set -eu
URL=${URL:-http://127.0.0.1:8080}
SIM='authorization: Bearer dev'
JSON='content-type: application/json'
ACCOUNT=0x7e5f4552091a69125d5dfcb7b8c2659029395bdf

echo '# set an index price and deposit to an account'
curl -sf -X POST "$URL/sim/oracle" -H "$SIM" -H "$JSON" -d '{"symbol": "BTC-USD-PERP", "price": "60000"}'; echo
curl -sf -X POST "$URL/sim/deposit" -H "$SIM" -H "$JSON" -d "{\"account\": \"$ACCOUNT\", \"amount\": \"10000\"}"; echo

echo '# public endpoints'
curl -sf "$URL/price/BTC-USD-PERP"; echo
curl -sf "$URL/book/BTC-USD-PERP?depth=5"; echo

echo '# the first step of a login: a challenge for the wallet to sign'
curl -sf "$URL/auth?account=$ACCOUNT"; echo

echo '# an account endpoint without a token is rejected'
curl -s "$URL/account/balance?account=$ACCOUNT"; echo

echo '# advance the clock by an hour, and read the state hash'
curl -sf -X POST "$URL/sim/clock" -H "$SIM" -H "$JSON" -d '{"advanceMs": 3600000}'; echo
curl -sf "$URL/sim/hash" -H "$SIM"; echo
