/** Secrets of login tokens, from files or the environment. */
import { countText } from '../base/count-text.ts';
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { OperatorLog } from '../http/operator-log.ts';
import type { Secrets } from '../http/wallet-auth.ts';
import { fileError } from '../platform/file-error.ts';
import { InputError } from './cli-support.ts';

const MIN_SECRET_BYTES = 32;

export interface SecretFiles {
  readonly secretFile: string | null;
  readonly previousSecretFile: string | null;
}

/** A secret for one process, where none is set. */
export function drawSecret(): Uint8Array {
  return randomBytes(MIN_SECRET_BYTES);
}

/** Without a secret, that of this process, with a warning. Throws `InputError`. */
export async function readSecrets(
  { secretFile, previousSecretFile }: SecretFiles,
  log: OperatorLog,
  ofProcess: Uint8Array = drawSecret(),
): Promise<Secrets> {
  const inEnvironment = process.env['ORRERY_SECRET'];
  const previous = previousSecretFile === null ? [] : await readPrevious(previousSecretFile, log);
  if (secretFile !== null)
    return { current: await readSecret(secretFile, '--secret-file'), previous };
  if (inEnvironment !== undefined) {
    return { current: secretOf(Buffer.from(inEnvironment), 'ORRERY_SECRET'), previous };
  }
  log('secret_random', 'no secret is set; tokens are valid until this process ends');
  return { current: ofProcess, previous };
}

/** An absent file is no secret, so that a server is ready for its first rotation. */
async function readPrevious(path: string, log: OperatorLog): Promise<readonly Uint8Array[]> {
  const isAbsent = await stat(path).then(
    () => false,
    (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
  );
  if (!isAbsent) return [await readSecret(path, '--previous-secret-file')];
  log('previous_secret_absent', `no previous secret: there is no file ${path}`, { path });
  return [];
}

async function readSecret(path: string, name: string): Promise<Uint8Array> {
  try {
    return secretOf(await readFile(path), name);
  } catch (error) {
    throw fileError(path, error);
  }
}

/** The newlines that end a text are not part of the key. Other bytes are a key as they are. */
function secretOf(bytes: Buffer, name: string): Uint8Array {
  const text = bytes.toString('latin1');
  const secret = /^[\t -~\r\n]*$/.test(text) ? Buffer.from(text.replace(/[\r\n]+$/, '')) : bytes;
  if (secret.length >= MIN_SECRET_BYTES) return secret;
  throw new InputError(
    `the secret of ${name} has ${countText(secret.length, 'byte')}; at least ${String(MIN_SECRET_BYTES)} are required`,
  );
}
