/**
 * Runs before `npm pack`, whose package is of no use without a build: builds what is missing or
 * old, and removes the parts of former builds.
 */
import './setup.mjs';
import { removeFormer } from './program.mjs';

removeFormer(0);
