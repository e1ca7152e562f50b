/**
 * Text frames of a server (RFC 6455, section 5.2): unmasked, and each message is one frame. The
 * frames of a publication are made once, and each subscriber gets them in one write. A write for
 * each message would take 4 µs, times the messages of one command, times the subscribers.
 */
const FINAL_TEXT = 0x81;
const MAX_SHORT = 125;
const MAX_MEDIUM = 65_535;
/** Marks a length of 2 or of 8 bytes. */
const MEDIUM = 126;
const LONG = 127;

export function textFrames(messages: readonly string[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const payload = Buffer.from(message);
      return [headerOf(payload.length), payload];
    }),
  );
}

function headerOf(bytes: number): Buffer {
  if (bytes <= MAX_SHORT) return Buffer.from([FINAL_TEXT, bytes]);
  if (bytes <= MAX_MEDIUM) return Buffer.from([FINAL_TEXT, MEDIUM, bytes >> 8, bytes & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = FINAL_TEXT;
  header[1] = LONG;
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}
