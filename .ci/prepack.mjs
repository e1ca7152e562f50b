/**
 * Runs before `npm pack`, whose package is of no use without a build: builds what is missing or
 * old, and removes what only former builds had.
 */
import './setup.mjs';
import { removeSourceless } from './sourceless.mjs';

// It needs packages, which may have been installed just now.
const { removeFormer } = await import('./program.mjs');
removeFormer(0);
removeSourceless();
