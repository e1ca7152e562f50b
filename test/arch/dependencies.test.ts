/** The packages of an installation: few, each used, and none that only development needs. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const MOST_DEPENDENCIES = 24;
const root = fileURLToPath(new URL('../../', import.meta.url));

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const json = (path: string): unknown => JSON.parse(readFileSync(root + path, 'utf8'));
const manifest = json('package.json') as Manifest;
const dependencies = Object.keys(manifest.dependencies);
const peers = Object.keys(manifest.peerDependencies);

/** Packages that a source names, with the files that do. */
function packagesOf(
  folder: string,
  isCounted: (file: string) => boolean = () => true,
): ReadonlyMap<string, readonly string[]> {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  const found = new Map<string, string[]>();
  for (const file of listed.split('\n').filter((path) => /\.tsx?$/.test(path) && isCounted(path))) {
    const text = readFileSync(root + file, 'utf8');
    const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
    for (const path of imported) {
      const name = /^(?:@[\w.-]+\/)?[\w.:-]+/.exec(path)?.[0] ?? '';
      if (name.startsWith('.') || isBuiltin(name)) continue;
      found.set(name, [...(found.get(name) ?? []), file]);
    }
  }
  return found;
}

test(`at most ${MOST_DEPENDENCIES} dependencies at run time, none of them optional`, () => {
  expect(dependencies.length).toBeLessThanOrEqual(MOST_DEPENDENCIES);
  expect(manifest.optionalDependencies ?? {}).toEqual({});
});

test('pages use packages of development, since they are bundled', () => {
  const used = packagesOf('src/web');
  expect([...used.keys()].filter((name) => !(name in manifest.devDependencies))).toEqual([]);
});

test('src uses every dependency, no other package, and one peer in one place', () => {
  const used = packagesOf('src', (file) => !file.startsWith('src/web/'));
  const others = [...used.keys()].filter((name) => !dependencies.includes(name));
  expect(others.sort()).toEqual(['fast-check', 'pg', 'typescript']);
  // Loaded when a journal in PostgreSQL is opened.
  expect(used.get('pg')).toEqual(['src/postgres/session.ts', 'src/postgres/session.ts']);
  expect(used.get('fast-check')).toEqual(['src/fuzz/arbitraries.ts']);
  // Types only: the check loads the user's.
  expect(used.get('typescript')?.every((file) => /\/type-check/.test(file))).toBe(true);
  expect(dependencies.filter((name) => !used.has(name))).toEqual([]);
});

test('peers are optional, and development has them', () => {
  for (const name of peers) {
    expect(manifest.peerDependenciesMeta[name]?.optional, name).toBe(true);
    // A project that has another TypeScript must be able to install the package.
    const wanted = name === 'typescript' ? '>=5.0.0' : `^${manifest.devDependencies[name] ?? ''}`;
    expect(manifest.peerDependencies[name], name).toBe(wanted);
  }
});

test('direct dependencies run on Node 20 to 24', () => {
  const asked = dependencies.flatMap((name) => {
    const { engines } = json(`node_modules/${name}/package.json`) as {
      engines?: { node?: string };
    };
    return engines?.node === undefined ? [] : [[name, engines.node] as const];
  });
  expect(asked.length).toBeGreaterThan(5);
  const refusing = asked.filter(
    ([, range]) => ![20, 22, 24].every((major) => admits(range, major)),
  );
  expect(refusing).toEqual([]);
});

/** Of ranges as packages write them; the newest minor version of a major. */
function admits(range: string, major: number): boolean {
  return range.split('||').some((part) => {
    const [, operator = '', least = ''] = /^\s*(>=|\^|>|~)?\s*v?(\d+)/.exec(part) ?? [];
    return operator === '>=' || operator === '>' ? major >= Number(least) : major === Number(least);
  });
}

test('the lockfile names no registry', () => {
  const { packages } = json('package-lock.json') as {
    packages: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});
