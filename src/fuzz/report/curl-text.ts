/**
 * A shrunk failure as a shell script against `orrery serve`. It starts a server, sends the
 * requests, asserts each answer, and checks the server's journal. Tokens are signed by the secret
 * file beside it.
 */
import type { ExchangeConfig } from '../../engine/config.ts';
import { formatTime } from '../../num/time-text.ts';
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import { refusalStatus } from '../../gateway/refusal-reply.ts';
import type { Violation } from '../checker.ts';
import { describeCommand } from '../../journal/format/codec.ts';
import type { Reproduction, ReproductionStep } from './reproduction.ts';
import { configTerms, marketTerms } from './terms-text.ts';

export const CURL_SECRET = 'orrery fuzz: a secret for nothing but this script';

/** Configuration for `orrery serve --config`, as JSON, which is valid YAML. */
export function serveConfigText(config: ExchangeConfig, { opening }: Reproduction): string {
  const markets = opening.flatMap((command) =>
    command.kind === 'listMarket' ? [marketTerms(command.spec)] : [],
  );
  const start = formatTime(config.genesisTimeUs);
  return `${JSON.stringify({ start, config: configTerms(config), markets }, null, 2)}\n`;
}

/** Starts a server, and has the functions that send requests. */
export const CURL_START = [
  '#',
  '# Exit code 0: all that the script asserts is as the rules require; 1: it is not.',
  '# With URL, the script uses a server of yours. Start it in this folder, with an empty data folder:',
  '#   orrery serve --config serve.yaml --clock virtual --sim-token dev \\',
  '#     --trust-signatures --secret-file secret --data-dir "$(mktemp -d)"',
  'set -um',
  'SIM=${SIM:-dev}',
  'HERE=$(cd "$(dirname "$0")" && pwd)',
  '# npx finds the package of the current folder or of one above it, else that of this folder.',
  'at=$PWD',
  'while [ "$at" != / ] && [ ! -e "$at/node_modules/.bin/orrery" ]; do at=$(dirname "$at"); done',
  '[ -n "${ORRERY:-}" ] || [ "$at" != / ] || cd "$HERE" || exit 2',
  'ORRERY=${ORRERY:-npx orrery}',
  'WORK=$(mktemp -d)',
  'SERVER=',
  'FAILED=0',
  'STEP=0',
  'end() {',
  '  # A server that ends still writes to its data.',
  '  [ -n "$SERVER" ] && kill -- -"$SERVER" 2>/dev/null && wait "$SERVER" 2>/dev/null',
  '  rm -rf "$WORK"',
  '}',
  'trap end EXIT',
  'if [ -z "${URL:-}" ]; then',
  '  $ORRERY serve --config "$HERE/serve.yaml" --clock virtual --sim-token "$SIM" \\',
  '    --trust-signatures --secret-file "$HERE/secret" --data-dir "$WORK/data" --port 0 \\',
  '    >"$WORK/out" 2>"$WORK/err" </dev/null &',
  '  SERVER=$!',
  '  for _ in $(seq 600); do',
  '    URL=$(sed -n "s/^orrery listens on //p" "$WORK/out")',
  '    [ -n "$URL" ] && break',
  '    kill -0 "$SERVER" 2>/dev/null || break',
  '    sleep 0.1',
  '  done',
  '  if [ -z "$URL" ]; then cat "$WORK/err" >&2; echo "the server does not start" >&2; exit 2; fi',
  'fi',
  `b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }`,
  'token() {',
  '  local head body',
  `  head=$(printf '{"alg":"HS512","typ":"JWT"}' | b64)`,
  `  body=$(printf '{"account":"%s","signer":"%s","iat":0,"exp":9000000000}' "$1" "$2" | b64)`,
  `  printf '%s.%s.%s' "$head" "$body" "$(printf '%s.%s' "$head" "$body" \\`,
  '    | openssl dgst -sha512 -hmac "$(cat "$HERE/secret")" -binary | b64)"',
  '}',
  `curl() { command curl -s --noproxy '*' "$@"; }`,
  '# send <ok, refused or a status> <arguments of curl>: prints the answer and asserts its kind',
  'send() {',
  '  local wanted=$1 reply status kind=ok',
  '  shift',
  '  STEP=$((STEP + 1))',
  `  reply=$(curl -w '\\n%{http_code}' "$@")`,
  "  status=${reply##*$'\\n'}",
  '  [ "$status" = 200 ] || kind=refused',
  '  [ "$status" -ge 500 ] 2>/dev/null || [ "$status" = 000 ] && kind=broken',
  '  echo "${reply%$\'\\n\'*}"',
  '  [ "$kind" = "$wanted" ] || [ "$status" = "$wanted" ] || wrong "status $status, the rules require: $wanted"',
  '}',
  'wrong() { echo "WRONG  request $STEP: $1" >&2; FAILED=1; }',
  `sim() { send "$1" -X POST "$URL/sim/$2" -H "authorization: Bearer $SIM" -H 'content-type: application/json' -d "$3"; }`,
  `call() { send "$1" -X "$2" "$URL$3" -H "authorization: Bearer $(token "$4" "$5")" \${6:+-H 'content-type: application/json' -d "$6"}; }`,
  '# apply <outcome> <command>: one command of the engine',
  'apply() {',
  '  local answer',
  '  answer=$(sim ok command "$2") || true',
  '  echo "$answer"',
  '  STEP=$((STEP + 1))',
  `  [ "$answer" = "{\\"outcome\\":\\"$1\\"}" ] || wrong "$answer, the rules require: $1"`,
  '}',
  '',
];

const TAIL = [
  '',
  `curl "$URL/sim/journal" -H "authorization: Bearer $SIM" -o "$WORK/journal.orrery"`,
  '$ORRERY fuzz --journal "$WORK/journal.orrery" --no-shrink || FAILED=1',
  'exit "$FAILED"',
  '',
];

/** A line for each request, and for each time that passes. */
export function requestLines({ steps }: Reproduction): string[] {
  const lines: string[] = [];
  for (const step of steps) {
    const { waitUs, command } = step;
    if (waitUs > 0 && step.act !== null) lines.push(clockLine(command.timeUs, waitUs));
    const line = lineOf(step);
    if (line !== null) lines.push(line);
  }
  return lines;
}

export function curlText(reproduction: Reproduction, violation: Violation): string {
  return [
    '#!/usr/bin/env bash',
    `# ${violation.rule}: ${violation.says} (${violation.invariant})`,
    `# found: ${violation.detail.split('\n').join(' ')}`,
    ...CURL_START,
    ...requestLines(reproduction),
    ...TAIL,
  ].join('\n');
}

/** The server's clock is moved in milliseconds where that is exact. */
function clockLine(timeUs: number, waitUs: number): string {
  if (waitUs % 1000 === 0) return `sim ok clock '{"advanceMs": ${String(waitUs / 1000)}}'`;
  return `apply ok '{"kind":"advanceTime","timeUs":${String(timeUs)}}'`;
}

function lineOf({ act, command, answer }: ReproductionStep): string | null {
  const isOk = answer === 'ok' || answer === null;
  const kind = isOk ? 'ok' : String(refusalStatus(answer) ?? 'refused');
  switch (act?.kind) {
    case 'call': {
      const { method, path } = ENDPOINTS[act.endpoint] as Endpoint;
      const who = `${act.account} ${act.signer}`;
      if (method === 'POST') return `call ${kind} POST ${path} ${who} '${jsonText(act.request)}'`;
      return `call ${kind} ${method} '${pathAndQuery(path, act.request)}' ${who}`;
    }
    case 'money':
      return `sim ${kind} ${act.verb} '${jsonText({ ...act.fields })}'`;
    case 'price': {
      const { verb, symbol, value } = act;
      return verb === 'fundingRate'
        ? `sim ${kind} funding '${jsonText({ symbol, rate: value })}'`
        : `sim ${kind} ${verb} '${jsonText({ symbol, price: value })}'`;
    }
    case 'time':
      return null;
    default:
      return `apply ${answer ?? 'ok'} '${jsonText(describeCommand(command))}'`;
  }
}

/** Fields of the path, and others as a query. */
export function pathAndQuery(path: string, request: Readonly<Record<string, unknown>>): string {
  const inPath = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    inPath.add(name);
    return encoded(request[name]);
  });
  const query = Object.entries(request)
    .filter(([name, value]) => !inPath.has(name) && value !== undefined && value !== null)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? (value as unknown[]) : [value]).map(
        (one) => `${encodeURIComponent(name)}=${encoded(one)}`,
      ),
    );
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** A shell's quote is no special character of an address, so it is not encoded elsewhere. */
const encoded = (value: unknown): string =>
  encodeURIComponent(String(value)).replaceAll("'", '%27');

/** JSON with exact integers; only the quote character needs escaping in a shell. */
export function jsonText(value: Readonly<Record<string, unknown>>): string {
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
