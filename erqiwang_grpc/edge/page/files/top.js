/**
 * The line at the top: how the deal stands, and what may be done at any time.
 *
 * @import { Parts } from './messages.d.ts'
 * @import { Child } from './dom.js'
 */

import { trumpSymbol, trumpText, suitOf } from './cards.js';
import { h } from './dom.js';
import { choose, language, t } from './language.js';
import { named } from './scene.js';

/**
 * @param {() => void} switched  The language was switched.
 * @param {Child} middle
 * @param {...Child} more
 */
export function top(switched, middle, ...more) {
  return h(
    'header',
    { class: 'masthead' },
    h('h1', {}, h('span', { class: 'logo', 'aria-hidden': 'true' }, '♠'), h('span', {}, t('title'))),
    middle,
    h('div', { class: 'tools' }, ...more, languageSwitch(switched)),
  );
}

/** @param {() => void} switched */
function languageSwitch(switched) {
  const other = language() === 'zh' ? 'en' : 'zh';
  return h(
    'button',
    {
      type: 'button',
      class: 'button slight',
      'data-key': 'language',
      lang: other === 'zh' ? 'zh-CN' : 'en',
      click: () => {
        choose(other);
        switched();
      },
    },
    t('other_language'),
  );
}

/** How the deal stands.
 * @param {Parts} parts */
export function facts(parts) {
  const { progress, contract, captured } = parts;
  if (!progress?.deal) return null;
  const trump = named(parts);
  const playing = contract?.declarer !== undefined;
  return h(
    'dl',
    { class: 'facts-line' },
    fact(
      t('record_deal'),
      `${progress.deal}/${progress.deals}`,
      t('deal_of', { deal: progress.deal, deals: progress.deals }),
    ),
    playing && fact(t('bid_label'), String(contract.bid ?? 0)),
    playing &&
      trump &&
      fact(
        t('trump_label'),
        trumpSymbol(trump),
        trumpText(trump),
        suitOf(trump) >= 0 && suitOf(trump) % 2 === 0 ? 'red' : '',
      ),
    playing && fact(t('captured_label'), `${captured?.points ?? 0}/${contract.bid ?? 0}`),
    playing &&
      (captured?.multiplier ?? 0) > 0 &&
      fact(t('multiplier_label'), t('times', { n: captured?.multiplier ?? 0 }), undefined, '', 'multiplier'),
  );
}

/**
 * @param {string} term
 * @param {string} what
 * @param {string} [name]
 * @param {string} [look]
 * @param {string} [kind]
 */
function fact(term, what, name, look = '', kind = '') {
  return h('div', { title: name ?? null, class: kind }, h('dt', {}, term), h('dd', { class: look }, what));
}
