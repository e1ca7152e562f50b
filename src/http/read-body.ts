/**
 * Reads a request body against the limits of its route while it arrives: bytes, digits of a number,
 * keys and nesting. A body beyond a limit is never parsed. Its rest is read and dropped up to
 * `DRAIN_BYTES`, so that the client can read the answer; of a larger body the connection is closed.
 */
import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parseScannedRequest } from '../contract/exact-json.ts';
import { JsonScan, type JsonLimits } from '../contract/json-scan.ts';
import { badJson, MESSAGES, type ErrorReply } from '../contract/messages.ts';
import { RequestError } from '../gateway/request-error.ts';
import { stopParsing } from './connections.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
export const DRAIN_BYTES = 262_144;
/** Parts of a body: each costs as much as this many bytes, beyond the first ones. */
const FREE_PARTS = 32;
const MIN_PART_BYTES = 32;

/** A body within its limits, which is not parsed yet. */
export class Body {
  readonly bytes: number;
  private readonly chunks: readonly Buffer[];
  private readonly scan: JsonScan;
  /** The whole text if it arrived in one part and is ASCII; otherwise null. */
  private readonly text: string | null;

  constructor(
    chunks: readonly Buffer[],
    bytes: number,
    scan: JsonScan,
    text: string | null = null,
  ) {
    this.chunks = chunks;
    this.bytes = bytes;
    this.scan = scan;
    this.text = text;
  }

  /** Undefined for an empty body. Throws `RequestError`. */
  parse(): unknown {
    try {
      const text =
        this.text ??
        UTF8.decode(
          this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks, this.bytes),
        );
      return text === '' ? undefined : parseScannedRequest(text, this.scan);
    } catch (error) {
      throw new RequestError(badJson((error as Error).message));
    }
  }
}

/** The parsed body of a request; an empty object without one. Throws `RequestError`. */
export function bodyOf({ body }: { readonly body: unknown }): unknown {
  return body instanceof Body ? (body.parse() ?? {}) : {};
}

export interface BodyRules {
  readonly limits: JsonLimits;
  /** Counts received bytes; false if the caller has sent too many. */
  readonly takes: (bytes: number) => boolean;
  /** Counts a body of tiny parts, which cost more than its bytes. */
  readonly countTinyParts: () => void;
}

/** Calls `done` once, with the body or a `RequestError`. */
export function readBody(
  stream: IncomingMessage,
  { limits, takes, countTinyParts }: BodyRules,
  done: (error: Error | null, body?: Body) => void,
): void {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = stream.headers;
  const announced = length === undefined ? null : Number(length);
  const scan = new JsonScan(limits);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let parts = 0;
  let refusal: RequestError | null = null;
  let ascii: string | null = null;

  const end = (error: Error | null, body?: Body): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onError);
    done(error, body);
  };
  /** Answers before the rest arrives. */
  const close = (error: RequestError): void => {
    if (stream.listenerCount('data') === 0) return;
    stopParsing(stream.socket);
    end(error);
  };
  const refuse = (reply: ErrorReply): void => {
    refusal = new RequestError(reply);
    chunks.length = 0;
    if ((announced ?? 0) > DRAIN_BYTES) close(refusal);
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    parts += 1;
    const isTiny = parts > FREE_PARTS + bytes / MIN_PART_BYTES;
    if (isTiny) countTinyParts();
    if (refusal === null && (isTiny || bytes > limits.bytes)) refuse(MESSAGES.bodyTooLarge);
    if (refusal !== null) {
      if (isTiny || bytes > DRAIN_BYTES) close(refusal);
    } else if (!takes(chunk.length)) refuse(MESSAGES.tooManyRequests);
    else scanPart(chunk);
  };
  const scanPart = (chunk: Buffer): void => {
    try {
      const text = chunk.toString('latin1');
      ascii = chunks.length === 0 && isAscii(chunk) ? text : null;
      scan.push(text);
      chunks.push(chunk);
    } catch (error) {
      refuse(badJson((error as Error).message));
    }
  };
  const onEnd = (): void => {
    if (refusal !== null) end(refusal);
    else if (announced !== null && announced !== bytes) {
      end(new RequestError(badJson('its length differs from Content-Length')));
    } else end(null, new Body(chunks, bytes, scan, ascii));
  };
  const onError = (): void => {
    end(refusal ?? new RequestError(MESSAGES.malformedRequest));
  };

  stream.on('data', onData).on('end', onEnd).on('error', onError);
  if (encoding !== 'identity') refuse(MESSAGES.encodingNotOffered);
  else if ((announced ?? 0) > limits.bytes) refuse(MESSAGES.bodyTooLarge);
}
