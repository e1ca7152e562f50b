/** Reads a JSON-RPC 2.0 request of a socket. */
import { MESSAGES } from '../../contract/messages.ts';
import { RequestError } from '../../gateway/request-error.ts';
import { parseRequest } from '../../contract/exact-json.ts';
import type { JsonLimits } from '../../contract/json-scan.ts';
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from './rpc-error.ts';

export interface RpcRequest {
  readonly id: unknown;
  readonly method: unknown;
  readonly params: unknown;
}

export const notText = (): RpcError =>
  new RpcError(INVALID_REQUEST, 'Invalid request: must be a text message, not a binary one');

/** Throws `RpcError`, or `RequestError` for a body too large. */
export function readRequest(data: Buffer, limits: JsonLimits): RpcRequest {
  if (data.length > limits.bytes) throw new RequestError(MESSAGES.bodyTooLarge);
  let request: unknown;
  try {
    request = parseRequest(data.toString('utf8'), limits);
  } catch (error) {
    throw new RpcError(PARSE_ERROR, `Parse error: ${(error as Error).message}`);
  }
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new RpcError(INVALID_REQUEST, 'Invalid request: must be an object');
  }
  const { jsonrpc, id, method, params } = request as Record<string, unknown>;
  if (jsonrpc !== '2.0') {
    throw new RpcError(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"');
  }
  if (!isId(id)) {
    throw new RpcError(INVALID_REQUEST, 'Invalid request: id must be a string or a finite number');
  }
  return { id, method, params: params ?? {} };
}

/** Integers beyond 2^53 are bigints. */
const isId = (id: unknown): boolean =>
  typeof id === 'string' || typeof id === 'bigint' || Number.isFinite(id);

/** Wall time, µs. */
export const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000);
