/**
 * Keccak-256 in WebAssembly: a tenth of the cost of JavaScript. The functions of hash-wasm only
 * answer in promises, and a module that awaits one cannot be loaded by `require`. So its code is
 * read from the package's file and started here.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { assert } from '../base/assert.ts';

interface Sha3 {
  readonly memory: { readonly buffer: ArrayBuffer };
  Hash_GetBuffer(): number;
  Hash_Init(bits: number): void;
  Hash_Update(bytes: number): void;
  Hash_Final(padding: number): void;
}

/** The types of Node declare no WebAssembly that is started at once. */
interface Starter {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/** Bytes of the buffer through which the module gets its input and gives the hash. */
const BUFFER_BYTES = 16_384;
const HASH_BYTES = 32;
const KECCAK_PADDING = 1;

function startSha3(): Sha3 {
  const file = createRequire(import.meta.url).resolve('hash-wasm/dist/keccak.umd.min.js');
  const code = /name:"sha3",data:"([\w+/=]+)"/.exec(readFileSync(file, 'latin1'))?.[1];
  assert(code !== undefined, 'hash-wasm has no WebAssembly of SHA-3 where it is expected');
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Starter }).WebAssembly;
  return new Instance(new Module(Buffer.from(code, 'base64'))).exports as Sha3;
}

const sha3 = startSha3();
const buffer = new Uint8Array(sha3.memory.buffer, sha3.Hash_GetBuffer(), BUFFER_BYTES);

export function keccakBytes(bytes: Uint8Array): Uint8Array {
  sha3.Hash_Init(8 * HASH_BYTES);
  for (let from = 0; from < bytes.length; from += BUFFER_BYTES) {
    const part = bytes.subarray(from, from + BUFFER_BYTES);
    buffer.set(part);
    sha3.Hash_Update(part.length);
  }
  sha3.Hash_Final(KECCAK_PADDING);
  return buffer.slice(0, HASH_BYTES);
}

const scratch = Buffer.alloc(HASH_BYTES);

/** A hash in lower-case hex digits, without a buffer of its own. */
export function hexOf(hash: Uint8Array): string {
  scratch.set(hash);
  return scratch.toString('hex');
}
