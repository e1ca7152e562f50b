/** Exit code of a worker whose strategy did not return from a built-in function. */
export const STUCK = 42;
