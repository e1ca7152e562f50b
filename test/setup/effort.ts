/** `npm run prove` runs the same tests with larger numbers: so many times those of `npm test`. */
export const EFFORT = Number(process.env['ORRERY_PROVE'] ?? 1);
