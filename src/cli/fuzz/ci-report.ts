/** Results of `orrery fuzz` for build servers: JUnit XML, and SARIF 2.1.0 for code scanning. */
import { isAbsolute, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Violation } from '../../fuzz/checker.ts';
import { writeOutput } from '../../platform/whole-file.ts';

export interface Finding {
  readonly violation: Violation;
  /** Command line that repeats it. */
  readonly again: string;
  /** Report folder or journal; null if none was written. */
  readonly written: string | null;
}

export interface CiReport {
  /** Subject of the checks, such as a seed and its number of runs. */
  readonly subject: string;
  readonly seconds: number;
  readonly findings: readonly Finding[];
}

export interface CiFiles {
  readonly junit: string | undefined;
  readonly sarif: string | undefined;
}

/** Writes the files that were asked for. */
export async function writeCiReports({ junit, sarif }: CiFiles, report: CiReport): Promise<void> {
  if (junit !== undefined) await writeOutput(junit, Buffer.from(junitText(report)));
  if (sarif !== undefined) await writeOutput(sarif, Buffer.from(sarifText(report)));
}

/** One test case per finding, or one that passes. */
export function junitText({ subject, seconds, findings }: CiReport): string {
  const time = seconds.toFixed(3);
  const cases = findings.map(({ violation, again, written }) => {
    const { invariant, rule, says, detail } = violation;
    const text = [`${says} (${rule})`, detail, again, ...(written === null ? [] : [written])];
    return [
      `    <testcase classname="orrery.fuzz" name="${xml(`${invariant}: ${subject}`)}" time="0">`,
      `      <failure type="${xml(invariant)}" message="${xml(detail)}">${xml(text.join('\n'))}</failure>`,
      '    </testcase>',
    ].join('\n');
  });
  if (cases.length === 0) {
    cases.push(`    <testcase classname="orrery.fuzz" name="${xml(subject)}" time="${time}"/>`);
  }
  const counts = `tests="${String(cases.length)}" failures="${String(findings.length)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} errors="0" time="${time}">`,
    `  <testsuite name="orrery fuzz" ${counts} errors="0" skipped="0" time="${time}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

export function sarifText({ findings }: CiReport): string {
  const rules = new Map(
    findings.map(({ violation }) => [
      violation.invariant,
      {
        id: violation.invariant,
        shortDescription: { text: violation.says },
        help: { text: violation.rule },
      },
    ]),
  );
  const results = findings.map(({ violation, again, written }) => ({
    ruleId: violation.invariant,
    level: 'error',
    message: { text: `${violation.detail}\n\n${again}` },
    // A result without a place is not shown by code scanning.
    locations: [
      { physicalLocation: { artifactLocation: { uri: uriOf(written ?? 'reports/fuzz') } } },
    ],
  }));
  const driver = { name: 'orrery fuzz', rules: [...rules.values()] };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** Relative to the working directory, as code scanning requires; a file URL outside of it. */
function uriOf(path: string): string {
  const inside = relative('', path);
  if (inside.startsWith('..') || isAbsolute(inside)) return pathToFileURL(path).href;
  return inside.split(/[/\\]/).map(encodeURIComponent).join('/');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text for an attribute or an element; XML has no place for other control characters. */
function xml(text: string): string {
  const printable = Array.from(text, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const isAllowed = code === 0x9 || code === 0xa || code === 0xd || code >= 0x20;
    const isLone = code >= 0xd800 && code <= 0xdfff;
    return isAllowed && !isLone && code !== 0xfffe && code !== 0xffff ? char : '\ufffd';
  });
  return printable.join('').replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
