/** deploy/Containerfile and compose.yaml, read as text: no engine is needed. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { environmentName, SETTING_NAMES, SETTINGS } from '../../src/cli/serve-settings.ts';

const at = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(at(name), 'utf8');
const VARIABLES = SETTING_NAMES.map(environmentName);

interface Instruction {
  readonly name: string;
  readonly text: string;
}
/** The instructions of each stage; those before the first are of stage 0. */
function stagesOf(file: string): Instruction[][] {
  const lines = file.replace(/\\\n\s*/g, '').split('\n');
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') {
      expect(line).toMatch(/^(#.*)?$/);
      continue;
    }
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text });
  }
  return stages;
}
const FILE = read('deploy/Containerfile');
const [, build = [], final = []] = stagesOf(FILE);
const only = (stage: readonly Instruction[], name: string): string => {
  const found = stage.filter((one) => one.name === name);
  expect(found, name).toHaveLength(1);
  return found[0]?.text ?? '';
};

test('the image runs as a number that is not root, and writes to its volume only', () => {
  expect(stagesOf(FILE)).toHaveLength(3);
  expect(only(final, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const [user] = only(final, 'USER').split(':');
  const folder = only(final, 'VOLUME');
  expect(only(final, 'RUN')).toBe(
    `mkdir -p -m 0700 ${folder} && chown ${user ?? ''}:${user ?? ''} ${folder}`,
  );
  const order = final.map(({ name }) => name);
  expect(order.indexOf('RUN')).toBeLessThan(order.indexOf('USER'));
  // A shell as process 1 would not forward SIGTERM.
  expect(JSON.parse(only(final, 'ENTRYPOINT'))).toEqual(['node', 'dist/cli/main.js']);
  expect(only(final, 'ENV')).toContain(`ORRERY_DATA_DIR=${folder}`);
});

test('what it copies exists here or in the stage before, and its variables are settings', () => {
  const copied = build
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => text.split(' ').slice(0, -1));
  expect(copied).toContain('src');
  const ignored = read('.dockerignore').split('\n');
  for (const path of copied) {
    expect(existsSync(at(path)), path).toBe(true);
    expect(ignored, path).toContain(`!${path}`);
  }
  for (const { text } of final.filter(({ name }) => name === 'COPY')) {
    expect(text).toMatch(/^--from=build \/app\/(package\.json|node_modules|dist) /);
  }
  for (const [, name = ''] of only(final, 'ENV').matchAll(/(ORRERY_\w+)=/g)) {
    expect(VARIABLES).toContain(name);
  }
  expect(only(final, 'EXPOSE')).toBe(
    `${SETTINGS.port.fallback} ${SETTINGS['metrics-port'].fallback}`,
  );
});

interface Service {
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly environment: Record<string, string>;
  readonly secrets: readonly string[];
  readonly volumes: readonly string[];
  readonly ports: readonly string[];
  readonly ulimits: { readonly nofile: { readonly soft: number; readonly hard: number } };
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period: string;
  readonly build: { readonly context: string; readonly dockerfile: string };
}
const COMPOSE = parse(read('deploy/compose.yaml')) as {
  readonly services: { readonly orrery: Service };
  readonly volumes: Record<string, unknown>;
  readonly secrets: Record<string, { readonly file: string }>;
};
const { orrery } = COMPOSE.services;

test('the service is confined, private to the host, and has its limits', () => {
  expect(orrery.user).toBe(only(final, 'USER'));
  expect(orrery).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  expect(orrery.security_opt).toContain('no-new-privileges:true');
  expect(existsSync(at(orrery.build.dockerfile))).toBe(true);
  for (const port of orrery.ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:8080$/);
  for (const name of Object.keys(orrery.environment)) {
    if (name !== 'NODE_OPTIONS') expect(VARIABLES).toContain(name);
  }
  const connections = Number(orrery.environment['ORRERY_MAX_CONNECTIONS']);
  expect(orrery.ulimits.nofile.soft).toBeGreaterThan(connections + 128);
  const [volume = '', folder] = orrery.volumes[0]?.split(':') ?? [];
  expect(COMPOSE.volumes).toHaveProperty(volume);
  expect(folder).toBe(only(final, 'VOLUME'));
  const [secret = ''] = orrery.secrets;
  expect(COMPOSE.secrets).toHaveProperty(secret);
  expect(orrery.environment['ORRERY_SECRET_FILE']).toBe(`/run/secrets/${secret}`);
});

test('the health check succeeds for a server that is ready and for no other', async () => {
  const [shell, program = '', ...args] = orrery.healthcheck.test;
  expect([shell, program]).toEqual(['CMD', 'node']);
  expect(JSON.parse(only(final, 'HEALTHCHECK').replace(/^.*CMD /, ''))).toEqual([program, ...args]);
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const script = (args.at(-1) ?? '').replace(':8080', `:${String(port)}`);
  const check = (): Promise<number | null> =>
    new Promise((resolve) => {
      spawn(process.execPath, ['-e', script], { stdio: 'ignore' }).on('exit', resolve);
    });
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await check()).toBe(1);
});
