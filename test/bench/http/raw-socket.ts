/**
 * Minimal-cost WebSocket clients: one shared buffer, and no decoding except for a request's
 * response.
 */
import { connect, type Socket } from 'node:net';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const shared = Buffer.alloc(1 << 16);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** A client's text frame, masked with zeros, which servers treat as any mask. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

/** Bytes of a server's text frame. */
export function frameBytes(text: string): number {
  const { length } = Buffer.from(text);
  return length + (length < 126 ? 2 : 4);
}

export class RawSocket {
  bytes = 0;
  readonly socket: Socket;
  /** Pauses after each read until `socket.resume()`, so that one read has many messages. */
  pauses = false;
  private onText: ((text: string) => void) | null = null;

  private constructor(url: URL, onBytes: (count: number) => void, opened: () => void) {
    let open = false;
    this.socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer: shared,
        callback: (count) => {
          if (!open) {
            open = true;
            opened();
          } else if (this.onText !== null) this.onText(shared.toString('latin1', 0, count));
          else onBytes(count);
          return !this.pauses;
        },
      },
    });
    this.socket.setNoDelay(true);
    this.socket.write(
      `GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
    );
  }

  static open(url: string, onBytes: (count: number) => void): Promise<RawSocket> {
    return new Promise((resolve) => {
      const made: RawSocket = new RawSocket(new URL(url), onBytes, () => {
        resolve(made);
      });
    });
  }

  /** Sends one request; returns the text that contains the response. */
  async ask(method: string, params: unknown): Promise<string> {
    let text = '';
    const answer = new Promise<string>((resolve) => {
      this.onText = (more) => {
        text += more;
        if (text.includes('"usDiff"')) resolve(text);
      };
    });
    this.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const reply = await answer;
    this.onText = null;
    if (reply.includes('"error"')) throw new Error(reply);
    return reply;
  }

  /** The text of the next complete frame. */
  async nextText(): Promise<string> {
    const text = await new Promise<string>((resolve) => {
      this.onText = resolve;
    });
    this.onText = null;
    return text.slice(text.indexOf('{'));
  }

  send(text: string): void {
    this.socket.write(textFrame(text));
  }

  /** Shows the server that the client is there; pings are not decoded. */
  pong(): void {
    this.socket.write(PONG);
  }

  close(): void {
    this.socket.destroy();
  }
}
