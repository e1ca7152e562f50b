/** Property tests draw from one seed: fixed, unless ORRERY_SEED names another. A failure prints it. */
import fc from 'fast-check';

const seed = Number(process.env['ORRERY_SEED'] ?? 20_240_808);
fc.configureGlobal({ seed });
