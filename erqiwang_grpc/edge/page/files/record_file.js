/**
 * Records in files: as `erqiwang export` writes them, a line a match, or as the service gives one.
 *
 * @import { MatchRecord } from './messages.d.ts'
 */

/**
 * The matches in a file that have a deal; none if it holds no record.
 *
 * @param {string} text
 * @returns {MatchRecord[]}
 */
export function matches(text) {
  const whole = parsed(text);
  const found = whole === undefined ? text.split('\n').map(parsed) : [whole];
  return found.flatMap((each) => {
    const record = read(each);
    return record === null ? [] : [record];
  });
}

/** @param {string} text */
function parsed(text) {
  try {
    return camel(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * The same value with the names of fields as proto JSON has them: `trick_points` becomes `trickPoints`.
 *
 * @param {unknown} value
 * @returns {unknown}
 */
function camel(value) {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase()),
      camel(each),
    ]),
  );
}

/**
 * @param {unknown} value
 * @returns {MatchRecord | null}
 */
function read(value) {
  if (typeof value !== 'object' || value === null) return null;
  if ('record' in value) return read(value.record);
  if ('recordRead' in value) return read(value.recordRead);
  if (!('deals' in value) || !('summary' in value) || !Array.isArray(value.deals) || value.deals.length === 0)
    return null;
  return /** @type {MatchRecord} */ (value);
}
