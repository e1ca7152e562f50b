/** Tests of python/orrery with the system's Python, numpy and pandas. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const found = spawnSync(python, ['-c', 'import numpy, pandas'], { encoding: 'utf8' });
if (found.status !== 0) {
  console.error('python: numpy and pandas are missing; install python3-numpy and python3-pandas');
  process.exit(1);
}
const files = ['python/tests/test_orrery.py', 'python/tests/test_statistics.py'];
const statuses = files.map((file) => spawnSync(python, [file], { stdio: 'inherit' }).status ?? 1);
process.exit(Math.max(...statuses));
