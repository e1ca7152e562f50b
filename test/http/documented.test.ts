/** The check of every answer against the OpenAPI document must itself find faults. */
import { expect, test } from 'vitest';
import { mustBeDocumented } from './documented.ts';

const json = 'application/json; charset=utf-8';
const text = 'text/plain; charset=utf-8';

test.each([
  ['a status', '/time', 418, text, '"x"', /no such status/],
  ['a field', '/time', 200, json, '{"time":1,"more":1}', /additional properties/],
  ['a missing field', '/time', 200, json, '{}', /required property/],
  ['a type', '/time', 200, json, '{"time":"1"}', /must be integer/],
  ['a media type', '/time', 200, text, '{"time":1}', /is not application\/json/],
  ['an error in JSON', '/time', 404, text, '{"message":"x"}', /an error is text/],
  ['a field of a component', '/markets', 200, json, '[{"symbol":"X"}]', /required property/],
  ['a route', '/secret', 200, json, '{}', /is not documented/],
] as const)('%s that the document does not have', (_name, path, status, type, body, words) => {
  expect(() => {
    mustBeDocumented('GET', path, { status, type, text: body });
  }).toThrow(words);
});

test('an answer as documented passes', () => {
  mustBeDocumented('GET', '/time', { status: 200, type: json, text: '{"time":1}' });
  mustBeDocumented('GET', '/account/orders?limit=1', { status: 401, type: text, text: '"x"' });
});
