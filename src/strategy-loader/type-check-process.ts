/** Process of `type-check.ts`: its argument is the request, its output the result, both JSON. */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type ts from 'typescript';
import { checkTypes, type TypeCheckRequest } from './type-checker.ts';

const request = JSON.parse(process.argv[2] ?? '') as TypeCheckRequest;
const load = createRequire(join(request.compiler, 'package.json'));
const result = Buffer.from(
  JSON.stringify(checkTypes(load(request.compiler) as typeof ts, request)),
);
for (let at = 0; at < result.length;) at += writeSync(1, result, at);
