/**
 * The door: where a token is given, or a record is opened.
 *
 * @typedef {object} Ways
 * @property {(token: string) => void} sit
 * @property {(token: string) => void} watch
 * @property {(text: string) => boolean} record  Shows the record in a file; false if there is none.
 * @property {() => void} languages
 */

import { h, replace } from './dom.js';
import { t } from './language.js';
import { top } from './top.js';

/**
 * @param {Element} root
 * @param {Ways} ways
 * @param {string} [why]  Why the player is back here.
 */
export function door(root, ways, why) {
  const problem = h('p', { class: 'refusal', role: 'alert', hidden: !why }, why);
  /** @param {string} text */
  const complain = (text) => {
    problem.textContent = text;
    problem.hidden = false;
  };
  document.title = t('title');
  replace(
    root,
    h(
      'div',
      { class: 'door-page' },
      top(ways.languages, null),
      h(
        'main',
        { class: 'door' },
        h('p', { class: 'lead', tabindex: -1, 'data-refuge': true }, t('door_lead')),
        problem,
        tokenForm('seat', t('door_seat'), t('door_seat_help'), t('door_sit'), ways.sit, complain),
        tokenForm('watch', t('door_watch'), t('door_watch_help'), t('door_look'), ways.watch, complain),
        recordForm(ways, complain),
        h('p', { class: 'quiet' }, t('door_try')),
      ),
    ),
  );
}

/**
 * @param {string} id
 * @param {string} title
 * @param {string} help
 * @param {string} text
 * @param {(token: string) => void} does
 * @param {(text: string) => void} complain
 */
function tokenForm(id, title, help, text, does, complain) {
  const input = h('input', {
    id: `${id}-token`,
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': `${id}-help`,
  });
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (token) does(token);
    else complain(t('door_no_token'));
  };
  return h(
    'form',
    { class: 'card-form', submit },
    h('h2', {}, title),
    h('p', { id: `${id}-help`, class: 'quiet' }, help),
    h(
      'div',
      { class: 'field' },
      h('label', { for: `${id}-token` }, t('door_token')),
      input,
      h('button', { type: 'submit', class: 'button primary' }, text),
    ),
  );
}

/**
 * @param {Ways} ways
 * @param {(text: string) => void} complain
 */
function recordForm(ways, complain) {
  const input = h('input', {
    id: 'record-file',
    type: 'file',
    accept: '.json,.jsonl,.ndjson,application/json',
    change: async () => {
      const file = input.files?.[0];
      if (file && !ways.record(await file.text())) complain(t('door_no_record'));
    },
  });
  return h(
    'form',
    { class: 'card-form' },
    h('h2', {}, t('door_record')),
    h('p', { class: 'quiet' }, t('door_record_help')),
    h('div', { class: 'field' }, h('label', { for: 'record-file' }, t('door_file')), input),
  );
}
