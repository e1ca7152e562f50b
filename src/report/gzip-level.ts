/**
 * A journal hardly shrinks further at zlib's default level, which takes twice as long
 * (docs/PERFORMANCE.md).
 */
export const GZIP_LEVEL = 2;
