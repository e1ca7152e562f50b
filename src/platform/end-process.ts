/**
 * Ends the process from a thread while the main thread cannot run. `process.exit` ends a thread
 * only, and a signal that the program listens to waits for the main thread. A WASI module can end
 * the process with a code.
 */
import { spawn } from 'node:child_process';

/** Grace period of the module before SIGKILL. */
const GRACE_S = 2;

/** Types of the platform do not have it without those of browsers. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => object;
  };
};

/** @param code below 64 */
export function endProcess(code: number): void {
  const { pid } = process;
  try {
    const command = `sleep ${String(GRACE_S)}; kill -9 ${String(pid)}`;
    spawn('sh', ['-c', command], { detached: true, stdio: 'ignore' }).unref();
    // Loaded here, because the platform warns that it is experimental.
    const { WASI } = process.getBuiltinModule('node:wasi');
    const wasi = new WASI({ version: 'preview1', returnOnExit: false });
    const module = new WebAssembly.Module(exitModule(code));
    wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
  } catch {
    // Without WASI the signal must do.
  }
  process.kill(pid, 'SIGKILL');
}

/**
 * ```wat
 * (module
 *   (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
 *   (memory (export "memory") 1)
 *   (func (export "_start") i32.const code call 0))
 * ```
 */
function exitModule(code: number): Uint8Array {
  const text = (name: string): readonly number[] => [name.length, ...Buffer.from(name)];
  const section = (id: number, ...content: readonly number[]): readonly number[] => [
    ...[id, content.length],
    ...content,
  ];
  return Uint8Array.from([
    ...[0, 97, 115, 109, 1, 0, 0, 0],
    ...section(1, 2, ...[96, 1, 127, 0], ...[96, 0, 0]),
    ...section(2, 1, ...text('wasi_snapshot_preview1'), ...text('proc_exit'), 0, 0),
    ...section(3, 1, 1),
    ...section(5, 1, 0, 1),
    ...section(7, 2, ...text('memory'), 2, 0, ...text('_start'), 0, 1),
    ...section(10, 1, 6, 0, 65, code, 16, 0, 11),
  ]);
}
