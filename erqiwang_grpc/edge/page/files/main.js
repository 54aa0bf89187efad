/** The page: the door, a table, or a record. */

import { door } from './door.js';
import { language, t } from './language.js';
import { RecordPage } from './record_page.js';
import { matches } from './record_file.js';
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

function languages() {
  document.documentElement.lang = language() === 'zh' ? 'zh-CN' : 'en';
  redraw();
}

/** @param {string} [why] */
function toDoor(why) {
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
  remember(to);
  const page = new TablePage(root, to, {
    door: toDoor,
    record: (record, back) => {
      toRecord(record, () => {
        redraw = () => page.redraw();
        back();
      });
    },
    languages,
  });
  redraw = () => page.redraw();
}

/**
 * @param {MatchRecord} record
 * @param {() => void} back
 */
function toRecord(record, back) {
  const page = new RecordPage(root, record, { back, languages });
  redraw = () => page.redraw();
}

/** @param {string} text */
function fromFile(text) {
  try {
    const [record] = matches(text);
    if (record === undefined) return false;
    toRecord(record, () => toDoor());
    return true;
  } catch {
    // It looked like a record, and lacks what one holds.
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
 * The table to go to: named after `#` in the address, as `#token=…` or `#watch=…`, or that of this tab before. The address
 * loses it at once, so that it stays in no history and in no copied link.
 *
 * @returns {To | null}
 */
function given() {
  const named = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  const [token, watch] = [named.get('token'), named.get('watch')];
  if (token) return { path: 'v1/play', token, own: true };
  if (watch) return { path: 'v1/watch', token: watch, own: false };
  try {
    return JSON.parse(sessionStorage.getItem(SEATED) ?? 'null');
  } catch {
    return null;
  }
}

languages();
document.title = t('title');
const to = given();
if (to === null) toDoor();
else toTable(to);
