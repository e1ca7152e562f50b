/** Property tests use one seed: fixed, unless ORRERY_SEED is set. A failure prints it. */
import fc from 'fast-check';

const seed = Number(process.env['ORRERY_SEED'] ?? 20_240_808);
fc.configureGlobal({ seed });
