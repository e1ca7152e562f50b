/** JUnit and SARIF of `orrery fuzz` are well-formed whatever a violation's texts contain. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { junitText, sarifText, type CiReport } from '../../src/cli/fuzz/ci-report.ts';

const HOSTILE = 'a <b attr="1"> & ]]> \u0000\u001b[31m \ud800 "quoted" é';
const report: CiReport = {
  subject: HOSTILE,
  seconds: 1.5,
  findings: [
    {
      violation: { invariant: 'openInterest', rule: 'R-1.6', says: 'sums', detail: HOSTILE },
      again: 'orrery fuzz --seed "a & b" --run 3',
      written: 'reports/fuzz/open interest-1',
    },
  ],
};

const sarifOf = (of: CiReport): unknown => JSON.parse(sarifText(of)) as unknown;

test('JUnit escapes markup and drops what XML cannot hold', () => {
  const text = junitText(report);
  expect(text).toContain('failures="1"');
  expect(text).toContain('a &lt;b attr=&quot;1&quot;&gt; &amp; ]]&gt; \ufffd\ufffd[31m');
  // eslint-disable-next-line no-control-regex -- These characters are what is searched for.
  expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  expect(text.match(/<testcase /g)).toHaveLength(1);
});

test('a report without findings has one test case that passes', () => {
  const text = junitText({ ...report, findings: [] });
  expect(text).toContain('tests="1" failures="0"');
  expect(text).not.toContain('<failure');
  expect(sarifOf({ ...report, findings: [] })).toMatchObject({ runs: [{ results: [] }] });
});

test('SARIF names the rule, the place and the command line', () => {
  expect(sarifOf(report)).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { rules: [{ id: 'openInterest', help: { text: 'R-1.6' } }] } },
        results: [
          {
            ruleId: 'openInterest',
            message: { text: expect.stringContaining('--run 3') as string },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: 'reports/fuzz/open%20interest-1' },
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test.each([
  [join(process.cwd(), 'reports', 'fuzz', 'a b'), 'reports/fuzz/a%20b'],
  ['/elsewhere/fuzz/a b', pathToFileURL('/elsewhere/fuzz/a b').href],
  ['../fuzz', pathToFileURL('../fuzz').href],
])('SARIF names %s relative to the working directory, or by a file URL', (written, uri) => {
  const findings = report.findings.map((one) => ({ ...one, written }));
  const place = { physicalLocation: { artifactLocation: { uri } } };
  expect(sarifOf({ ...report, findings })).toMatchObject({
    runs: [{ results: [{ locations: [place] }] }],
  });
});
