/**
 * Files of a difference between a host and its twin, by name: a summary, the requests as a shell
 * script and as a journal, and what shows the difference after them.
 */
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import { parseExact, stringifyExact } from '../../contract/exact-json.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { journalOf } from '../check-journal.ts';
import type { Violation } from '../checker.ts';
import type { HostDivergence, Probe } from '../twin/divergence.ts';
import {
  CURL_SECRET,
  CURL_START,
  jsonText,
  pathAndQuery,
  requestLines,
  serveConfigText,
} from './curl-text.ts';
import { commandText, type FailureFiles } from './failure-files.ts';
import { hostScenario } from './host-scenario.ts';
import { reproduce } from './reproduction.ts';

export interface HostFailure {
  readonly config: ExchangeConfig;
  /** Commands of the twin before the probe. */
  readonly commands: readonly Command[];
  readonly divergence: HostDivergence;
  /** Seed of the wallets. */
  readonly seed: string;
  /** The result of shrinking, as a sentence. */
  readonly shrunk: string;
}

/** Input of a later repetition, besides the journal. */
export interface HostProbe extends Pick<HostDivergence, 'probe' | 'timeMs'> {
  readonly invariant: string;
  readonly seed: string;
}

/** `proves`: whether a scenario shows the difference: it passes in a correct build. */
export function hostFiles(
  failure: HostFailure,
  keccak: Keccak,
  proves: (scenario: string) => boolean,
): FailureFiles {
  const { config, commands, divergence, seed } = failure;
  const { probe, timeMs, violation } = divergence;
  const reproduction = reproduce(config, commands, {
    createEngine: (own) => new Exchange(own),
    keccak,
    reference: ({ digest }) => digest,
    tape: false,
    readable: true,
  });
  const found: HostProbe = { invariant: violation.invariant, seed, timeMs, probe };
  const sent = probe.kind === 'feeds' ? [] : requestLines(reproduction);
  const written = hostScenario(failure, keccak);
  // A request with a field of a wrong type has no words in a scenario.
  const scenario = written !== null && proves(written) ? written : null;
  return {
    ...(scenario === null ? {} : { 'scenario.yaml': scenario }),
    'README.md': readme(failure, scenario !== null),
    'journal.orrery': journalOf(config, commands),
    'probe.json': `${stringifyExact(found)}\n`,
    'requests.sh': [
      '#!/usr/bin/env bash',
      `# ${violation.rule}: ${violation.says} (${violation.invariant})`,
      `# found: ${violation.detail.split('\n').join(' ')}`,
      ...CURL_START,
      ...sent,
      ...probeLines(divergence),
      'exit "$FAILED"',
      '',
    ].join('\n'),
    'serve.yaml': serveConfigText(config, reproduction),
    secret: CURL_SECRET,
    'regression.test.ts': testText(violation),
  };
}

/** A test that starts a server, or uses one, and repeats the requests beside a twin. */
function testText({ invariant, rule, says }: Violation): string {
  return [
    "import { execFile, spawn } from 'node:child_process';",
    "import { mkdtempSync, rmSync } from 'node:fs';",
    "import { tmpdir } from 'node:os';",
    "import { join } from 'node:path';",
    "import { fileURLToPath } from 'node:url';",
    "import { afterAll, expect, test } from 'vitest';",
    '',
    '// URL: a new server of the build under test, started with serve.yaml. Without it, ORRERY is the',
    '// command that starts one. FUZZ is the command of a correct build, whose twin replies too.',
    "const { ORRERY = 'npx orrery', FUZZ = 'npx orrery', SIM = 'dev' } = process.env;",
    "const here = fileURLToPath(new URL('.', import.meta.url));",
    "const data = mkdtempSync(join(tmpdir(), 'orrery-test-'));",
    'const ends: (() => Promise<void>)[] = [];',
    'afterAll(async () => {',
    '  for (const end of ends) await end();',
    '  rmSync(data, { recursive: true, force: true });',
    '});',
    '',
    'function start(): Promise<string> {',
    '  const args = `serve --config serve.yaml --clock virtual --sim-token ${SIM} --trust-signatures`;',
    '  const command = `exec ${ORRERY} ${args} --secret-file secret --port 0 --data-dir ${data}`;',
    "  const server = spawn('/bin/sh', ['-c', command], { cwd: here, detached: true });",
    '  // A server that ends still writes to its data.',
    "  const closed = new Promise((resolve) => server.on('close', resolve));",
    '  ends.push(async () => {',
    '    if (server.exitCode === null) process.kill(-Number(server.pid));',
    '    await closed;',
    '  });',
    '  return new Promise((resolve, reject) => {',
    "    let text = '';",
    "    server.on('exit', () => reject(new Error(`the server does not start: ${text}`)));",
    '    for (const stream of [server.stdout, server.stderr]) {',
    "      stream.on('data', (chunk) => {",
    '        text += String(chunk);',
    '        const [, url] = /^orrery listens on (\\S+)/m.exec(text) ?? [];',
    '        if (url !== undefined) resolve(url);',
    '      });',
    '    }',
    '  });',
    '}',
    '',
    `test(${JSON.stringify(`${rule}: ${says} (${invariant})`)}, { timeout: 120_000 }, async () => {`,
    "  const url = process.env['URL'] || (await start());",
    "  const command = `exec ${FUZZ} fuzz --target ${url} --sim-token ${SIM} --repeat '${here}'`;",
    '  const failed = await new Promise((resolve) => {',
    "    execFile('/bin/sh', ['-c', command], (error, out, err) => resolve(error === null ? null : out + err));",
    '  });',
    '  expect(failed).toBeNull();',
    '});',
    '',
  ].join('\n');
}

/** `text` is that of probe.json; throws if it is not. */
export function parseHostProbe(text: string): HostProbe {
  const found = parseExact(text) as Partial<HostProbe> | null;
  if (typeof found?.seed !== 'string' || typeof found.probe?.kind !== 'string') {
    throw new TypeError('it has no seed or no probe');
  }
  return { ...(found as HostProbe), timeMs: Number(found.timeMs) };
}

const FEEDS = [
  '# The script sends no request: the command below sends them, beside subscriptions of all feeds.',
  '# FUZZ is a command of a correct build.',
  'FUZZ=${FUZZ:-npx orrery}',
  '$FUZZ fuzz --target "$URL" --sim-token "$SIM" --repeat "$HERE" || FAILED=1',
];

/** Node has no numbers beyond 2^53, so long integers are compared as text. */
const EXPECT = [
  '# expect <path> <value>: the part of the last answer at this path, or nothing',
  'expect() {',
  "  STATUS=$STATUS node -e '",
  '    const { readFileSync } = require("node:fs");',
  '    const [path, wanted, folder] = process.argv.slice(1);',
  '    const raw = readFileSync(`${folder}/body`, "utf8");',
  '    const head = readFileSync(`${folder}/head`, "utf8").toLowerCase();',
  '    const show = (value) => value === undefined ? "nothing" : JSON.stringify(value).replace(/"#n(-?\\d+)"/g, "$1");',
  '    let found;',
  '    if (path === "status") found = process.env.STATUS;',
  '    else if (path.startsWith("x-")) {',
  '      const line = head.split("\\r\\n").find((one) => one.startsWith(`${path}:`));',
  '      const value = line?.slice(path.length + 1).trim();',
  '      found = path === "x-next-cursor" ? (value ? "present" : "absent") : (value ?? "null");',
  '    } else {',
  '      const exact = raw.replace(/([:[,]\\s*)(-?\\d{16,})(?=\\s*[,\\]}])/g, "$1\\"#n$2\\"");',
  '      let value;',
  '      try { value = JSON.parse(exact); } catch { value = raw; }',
  '      for (const [, name, at] of path.matchAll(/\\.(\\w+)|\\[(\\d+)\\]/g)) value = value?.[name ?? at];',
  '      found = show(value);',
  '    }',
  '    if (found === wanted) process.exit(0);',
  '    console.error(`WRONG  ${path} is ${found}, the rules require ${wanted}`);',
  '    process.exit(1);',
  '  \' "$1" "$2" "$WORK" || FAILED=1',
  '}',
];

const ASK = [
  '# ask <method> <path> <account or -> [<json>]: keeps the answer for `expect`',
  'CURSOR=',
  'ask() {',
  '  local auth=()',
  '  [ "$3" = - ] || auth=(-H "authorization: Bearer $(token "$3" "$3")")',
  '  STATUS=$(curl -X "$1" "$URL$2" ${auth[@]+"${auth[@]}"} -D "$WORK/head" -o "$WORK/body" \\',
  '    ${4:+-H \'content-type: application/json\' -d "$4"} \\',
  '    ${CURSOR:+-G --data-urlencode "cursor=$CURSOR"} -w \'%{http_code}\')',
  "  CURSOR=$(tr -d '\\r' <\"$WORK/head\" | sed -n 's/^[xX]-[nN]ext-[cC]ursor: *//p')",
  '}',
];

/** As `ask`, of simulation control. */
const CONTROL = [
  '# control <verb> <json>: keeps the answer for `expect`',
  'control() {',
  '  STATUS=$(curl -X POST "$URL/sim/$1" -H "authorization: Bearer $SIM" -D "$WORK/head" \\',
  '    -o "$WORK/body" -H \'content-type: application/json\' -d "$2" -w \'%{http_code}\')',
  '}',
];

function probeLines({ probe, timeMs, difference }: HostDivergence): string[] {
  if (probe.kind === 'command') return [];
  if (probe.kind === 'feeds') return ['', ...FEEDS];
  const { path, expected } = difference;
  // The text of a refusal is no part of the rules.
  const wanted = path === 'status' ? (expected.split(' ', 1)[0] ?? expected) : expected;
  const asked =
    probe.kind === 'sim'
      ? [`control ${probe.verb} '${jsonText(probe.fields)}'`]
      : Array<string>(probe.page + 1).fill(askLine(probe));
  return [
    '',
    ...(probe.kind === 'sim' ? CONTROL : ASK),
    ...EXPECT,
    '',
    `sim ok clock '{"toMs": ${String(timeMs)}}'`,
    ...asked,
    `expect ${quoted(path)} ${quoted(wanted)}`,
  ];
}

function askLine({ endpoint, request, account }: Extract<Probe, { kind: 'call' }>): string {
  const { method, path } = ENDPOINTS[endpoint] as Endpoint;
  const who = account ?? '-';
  if (method === 'POST') return `ask POST ${path} ${who} '${jsonText(request)}'`;
  return `ask ${method} '${pathAndQuery(path, request)}' ${who}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function readme({ divergence, commands, shrunk }: HostFailure, hasScenario: boolean): string {
  const { violation, probe } = divergence;
  return [
    `# ${violation.invariant}`,
    '',
    `${violation.rule}: ${violation.says}.`,
    '',
    `Found instead: ${violation.detail}`,
    '',
    shrunk,
    '',
    '| file | content |',
    '| --- | --- |',
    '| `requests.sh` | the requests with curl; `ORRERY` starts the server, or `URL` names one |',
    '| `journal.orrery`, `probe.json` | the same for `orrery fuzz --target <url> --repeat .` |',
    ...(hasScenario
      ? ['| `scenario.yaml` | the same in one process of the build: `orrery run scenario.yaml` |']
      : []),
    '| `serve.yaml` | configuration for `orrery serve --config` |',
    '| `regression.test.ts` | a test for vitest with the same variables |',
    '',
    'Each repetition needs a new server, and fails until the defect is fixed.',
    '',
    '## Commands',
    '',
    '```',
    ...commands.map((command, i) => `${String(i + 1)} ${commandText(command)}`),
    ...(probe.kind === 'call' ? [`then ${probe.endpoint} ${stringifyExact(probe.request)}`] : []),
    ...(probe.kind === 'sim' ? [`then ${probe.verb} ${stringifyExact(probe.fields)}`] : []),
    '```',
    '',
  ].join('\n');
}
