/** Multiplier of test sizes; `npm run prove` raises it. */
export const EFFORT = Number(process.env['ORRERY_PROVE'] ?? 1);
