import { Worker } from 'node:worker_threads';

/**
 * Starts a thread of the program. `script` is relative to `base`, the URL of the calling module,
 * and has no extension. When running from source, as under tests, a TypeScript loader is added.
 */
export function startThread(script: string, base: string, workerData?: unknown): Worker {
  if (!base.endsWith('.ts')) return new Worker(new URL(`${script}.js`, base), { workerData });
  const source = JSON.stringify(new URL(`${script}.ts`, base).href);
  const loading = `import('tsx/esm/api').then(({ register }) => { register(); return import(${source}); })`;
  return new Worker(loading, { workerData, eval: true });
}
