/** The page: the door, a table, or a record. */

import { door } from './door.js';
import { language, t } from './language.js';
import { RecordPage } from './record_page.js';
import { matches } from './record_file.js';
import { steps } from './record_steps.js';
import { TablePage } from './table_page.js';

/**
 * @import { MatchRecord } from './messages.d.ts'
 * @typedef {{path: string, token: string, own: boolean}} To
 */

const SEATED = 'erqiwang.seated';
const root = /** @type {Element} */ (document.querySelector('#page'));

/** What shows itself again in another language.
 * @type {() => void} */
let redraw = () => {};

/** The table that is played or watched, also while a record is shown in its place.
 * @type {TablePage | null} */
let table = null;

function languages() {
  document.documentElement.lang = language() === 'zh' ? 'zh-CN' : 'en';
  redraw();
}

/** @param {string} [why] */
function toDoor(why) {
  table = null;
  forget();
  const ways = {
    /** @param {string} token */
    sit: (token) => toTable({ path: 'v1/play', token, own: true }),
    /** @param {string} token */
    watch: (token) => toTable({ path: 'v1/watch', token, own: false }),
    record: fromFile,
    languages,
  };
  redraw = () => door(root, ways);
  door(root, ways, why);
}

/** @param {To} to */
function toTable(to) {
  table?.leave();
  remember(to);
  const page = new TablePage(root, to, {
    door: toDoor,
    record: (record, back) => {
      toRecord([record], () => {
        redraw = () => page.redraw();
        back();
      });
    },
    languages,
  });
  table = page;
  redraw = () => page.redraw();
}

/**
 * @param {readonly MatchRecord[]} records
 * @param {() => void} back
 */
function toRecord(records, back) {
  const page = new RecordPage(root, records, { back, languages });
  redraw = () => page.redraw();
}

/** @param {string} text */
function fromFile(text) {
  const found = matches(text).filter(isWhole);
  if (found.length) toRecord(found, () => toDoor());
  return found.length > 0;
}

/** Whether what looks like a record holds what one holds.
 * @param {MatchRecord} record */
function isWhole(record) {
  try {
    return steps(record, 0).length > 0;
  } catch {
    return false;
  }
}

/** A tab that is loaded again goes back to its table. The token is kept for this tab alone, until the player leaves.
 * @param {To} to */
function remember(to) {
  try {
    sessionStorage.setItem(SEATED, JSON.stringify(to));
  } catch {
    // The browser keeps nothing for this page: after a reload the player is at the door.
  }
}

function forget() {
  try {
    sessionStorage.removeItem(SEATED);
  } catch {
    // Nothing was kept.
  }
}

/**
 * The table that is named after `#` in the address, as `#token=…` or `#watch=…`. The address loses it at once, so that it
 * stays in no history and in no copied link.
 *
 * @returns {To | null}
 */
function given() {
  const named = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  const [token, watch] = [named.get('token'), named.get('watch')];
  if (token) return { path: 'v1/play', token, own: true };
  if (watch) return { path: 'v1/watch', token: watch, own: false };
  return null;
}

/** The table of this tab before it was loaded again.
 * @returns {To | null} */
function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(SEATED) ?? 'null');
  } catch {
    return null;
  }
}

languages();
document.title = t('title');
// Another token in the address of a tab that shows a table already leads to the other table.
addEventListener('hashchange', () => {
  const to = given();
  if (to !== null) toTable(to);
});
const to = given() ?? remembered();
if (to === null) toDoor();
else toTable(to);
