/**
 * A shrunk failure as a shell script against `orrery serve`, with tokens signed by the secret file
 * beside it. The script stops at a command that HTTP cannot express.
 */
import type { ExchangeConfig } from '../../engine/config.ts';
import { formatTime } from '../../num/time-text.ts';
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import type { Violation } from '../checker.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import type { PerformanceOptions, PerformedRequest } from './performance.ts';
import { configTerms, marketTerms } from './terms-text.ts';

export const CURL_SECRET = 'orrery fuzz: a secret for nothing but this script';

/** Orders are named by their ids, which trust mode derives from account and nonce. */
export const curlReference =
  (keccak: Keccak): PerformanceOptions['reference'] =>
  ({ id }, view) => {
    const order = view.order(id);
    return order === undefined ? '' : new TrustOrderIds(view, keccak).digestOf(order);
  };

/** Configuration for `orrery serve --config`, as JSON, which is valid YAML. */
export function serveConfigText(config: ExchangeConfig, acts: readonly PerformedRequest[]): string {
  const markets = acts.flatMap(({ command }) =>
    command.kind === 'listMarket' ? [marketTerms(command.spec)] : [],
  );
  const start = formatTime(config.genesisTimeUs);
  const all = { start, config: configTerms(config), ...(markets.length === 0 ? {} : { markets }) };
  return `${JSON.stringify(all, null, 2)}\n`;
}

export function curlText(acts: readonly PerformedRequest[], violation: Violation): string {
  const lines: string[] = [];
  for (const [i, performed] of acts.entries()) {
    const line = lineOf(performed);
    const ms = Math.ceil(performed.waitUs / 1000);
    if (ms > 0) lines.push(`sim clock '{"advanceMs": ${String(ms)}}'`);
    if (line === null) continue;
    if (line.startsWith('#'))
      lines.push(`echo '${line.slice(2)} (command ${String(i + 1)})'; exit 3`);
    else lines.push(line);
  }
  return [
    '#!/usr/bin/env bash',
    `# ${violation.rule}: ${violation.says} (${violation.invariant})`,
    `# found: ${violation.detail.split('\n').join(' ')}`,
    '#',
    '# Start the server first, in this folder:',
    '#   orrery serve --config serve.yaml --clock virtual --sim-token dev \\',
    '#     --trust-signatures --secret-file secret --data-dir "$(mktemp -d)"',
    'set -u',
    'URL=${URL:-http://127.0.0.1:8080}',
    'SIM=${SIM:-dev}',
    'HERE=$(cd "$(dirname "$0")" && pwd)',
    "b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }",
    'token() {',
    '  local head body',
    `  head=$(printf '{"alg":"HS512","typ":"JWT"}' | b64)`,
    `  body=$(printf '{"account":"%s","signer":"%s","iat":0,"exp":9000000000}' "$1" "$2" | b64)`,
    `  printf '%s.%s.%s' "$head" "$body" "$(printf '%s.%s' "$head" "$body" \\`,
    '    | openssl dgst -sha512 -hmac "$(cat "$HERE/secret")" -binary | b64)"',
    '}',
    `sim() { curl -s -X POST "$URL/sim/$1" -H "authorization: Bearer $SIM" -H 'content-type: application/json' -d "$2"; echo; }`,
    `call() { curl -s -X "$1" "$URL$2" -H "authorization: Bearer $(token "$3" "$4")" \${5:+-H 'content-type: application/json' -d "$5"}; echo; }`,
    '',
    ...lines,
    `curl -s "$URL/sim/hash" -H "authorization: Bearer $SIM"; echo`,
    '',
  ].join('\n');
}

function lineOf({ act, command }: PerformedRequest): string | null {
  switch (act.kind) {
    case 'call': {
      const { method, path } = ENDPOINTS[act.endpoint] as Endpoint;
      const who = `${act.account} ${act.signer}`;
      if (method === 'POST') return `call POST ${path} ${who} '${jsonText(act.request)}'`;
      const query = Object.entries(act.request)
        .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
        .join('&');
      return `call ${method} '${path}?${query}' ${who}`;
    }
    case 'money':
      return `sim ${act.verb} '${jsonText({ ...act.fields })}'`;
    case 'price': {
      const { verb, symbol, value } = act;
      return verb === 'fundingRate'
        ? `sim funding '${jsonText({ symbol, rate: value })}'`
        : `sim ${verb} '${jsonText({ symbol, price: value })}'`;
    }
    case 'tape':
      return '# recorded history does not go over HTTP: see scenario.yaml';
    case 'notExpressible':
      return command.kind === 'listMarket' ? null : `# ${act.why}: see journal.orrery`;
    case 'time':
      return null;
  }
}

/** JSON with exact integers; only the quote character needs escaping in a shell. */
function jsonText(value: Readonly<Record<string, unknown>>): string {
  const big = new Map<string, string>();
  const text = JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field !== 'bigint') return field;
    const mark = `@${String(big.size)}@`;
    big.set(`"${mark}"`, String(field));
    return mark;
  });
  return [...big]
    .reduce((json, [mark, digits]) => json.replace(mark, digits), text)
    .replaceAll("'", `'\\''`);
}
