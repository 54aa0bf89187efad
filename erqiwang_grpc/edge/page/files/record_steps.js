/**
 * The steps of a deal in a record. Each has what happened, the public view after it, and all hands.
 *
 * @import { DealRecord, MatchRecord, Notice, Parts, TrickRecord } from './messages.d.ts'
 * @typedef {object} Step
 * @property {Partial<Notice>} event
 * @property {Parts} parts
 * @property {number[][]} hands
 * @property {number[]} kitty  The cards of the kitty, until they are taken.
 * @property {number[]} buried
 */

/**
 * Every step of a deal. The first is the deal itself.
 *
 * @param {MatchRecord} record
 * @param {number} at  Which of the record's deals, from 0.
 * @returns {Step[]}
 */
export function steps(record, at) {
  const deal = record.deals[at];
  if (deal === undefined) return [];
  const walk = new Walk(record, deal, before(record, at));
  walk.bidding();
  walk.contract();
  for (const trick of deal.tricks) walk.trick(trick);
  walk.settle();
  return walk.steps;
}

/**
 * The totals before a deal.
 *
 * @param {MatchRecord} record
 * @param {number} at
 */
function before(record, at) {
  const totals = (record.summary?.players ?? []).map(() => 0);
  for (const deal of record.deals.slice(0, at)) {
    deal.settlement?.seats.forEach((seat, index) => {
      totals[index] = (totals[index] ?? 0) + seat.score;
    });
  }
  return totals;
}

class Walk {
  /** @type {Step[]} */
  steps = [];

  /**
   * @param {MatchRecord} record
   * @param {DealRecord} deal
   * @param {number[]} totals
   */
  constructor(record, deal, totals) {
    this.deal = deal;
    this.hands = deal.hands.map((hand) => [...hand.cards]);
    this.kitty = deal.kitty;
    /** @type {number[]} */
    this.buried = [];
    /** @type {Parts} */
    this.parts = {
      chairs: { players: record.summary?.players ?? [] },
      progress: {
        phase: 'PHASE_BIDDING',
        deal: deal.deal,
        deals: record.summary?.options?.deals ?? record.deals.length,
        totals,
        firstBidder: deal.firstBidder,
        commitment: deal.commitment,
      },
      auction: { calls: [], base: 0 },
      captured: { points: 0, multiplier: 0 },
    };
    this.#add({ dealStarted: { deal: deal.deal, firstBidder: deal.firstBidder, commitment: deal.commitment } });
  }

  /** @param {Partial<Notice>} event */
  #add(event) {
    this.steps.push({
      event,
      parts: { ...this.parts },
      hands: this.hands.map((hand) => [...hand]),
      kitty: this.kitty,
      buried: this.buried,
    });
  }

  /** @param {import('./messages.d.ts').Phase} phase */
  #phase(phase) {
    if (this.parts.progress) this.parts.progress = { ...this.parts.progress, phase };
  }

  bidding() {
    for (const call of this.deal.calls) {
      const calls = [...(this.parts.auction?.calls ?? []), call];
      this.parts.auction = { calls, base: 0 };
      this.#add(
        call.passed ? { bidPassed: { seat: call.seat } } : { bidMade: { seat: call.seat, points: call.points ?? 0 } },
      );
    }
  }

  contract() {
    const { settlement } = this.deal;
    if (settlement?.declarer === undefined) return;
    const { declarer, bid = 0, base, trump } = settlement;
    this.#phase('PHASE_NAMING');
    this.parts.auction = { calls: [], base: 0 };
    this.parts.contract = { declarer, bid, base, maySurrender: false, trump: 'TRUMP_UNSPECIFIED' };
    this.hands[declarer]?.push(...this.kitty);
    this.kitty = [];
    this.#add({ declarerFound: { declarer, points: bid, shownKitty: this.deal.kitty } });
    if (trump === 'TRUMP_UNSPECIFIED') return;
    this.#phase('PHASE_BURYING');
    this.parts.contract = { ...this.parts.contract, trump };
    this.#add({ trumpNamed: { trump } });
    if (settlement.buried.length || this.deal.tricks.length) this.#bury(declarer, settlement.buried);
  }

  /**
   * @param {number} declarer
   * @param {number[]} cards
   */
  #bury(declarer, cards) {
    this.#phase('PHASE_PLAYING');
    this.buried = cards;
    this.#without(declarer, cards);
    this.#add({ cardsBuried: { declarer, voidSeats: [], statements: [] } });
  }

  /**
   * @param {number} seat
   * @param {readonly number[]} cards
   */
  #without(seat, cards) {
    this.hands[seat] = (this.hands[seat] ?? []).filter((card) => !cards.includes(card));
  }

  /** @param {TrickRecord} record */
  trick({ trick, attempted, taken }) {
    if (trick === undefined) return;
    const number = (this.parts.table?.number ?? 0) + 1;
    trick.plays.forEach((play, at) => {
      const last = at === trick.plays.length - 1;
      // Who was ahead after an earlier play is not recorded. Only the winner is shown, once the trick is complete.
      const ahead = last ? trick.ahead : -1;
      this.#without(play.seat, play.cards);
      this.parts.table = { number, trick: { ...trick, plays: trick.plays.slice(0, at + 1), ahead } };
      if (last && taken) this.#taken(taken);
      this.#add(at ? followed(play, last ? taken : undefined) : led(trick, attempted));
    });
  }

  /** @param {import('./messages.d.ts').TrickTaken} taken */
  #taken(taken) {
    const { points = 0 } = this.parts.captured ?? {};
    this.parts.captured = { points: points + (taken.captured ? taken.points : 0), multiplier: 0 };
  }

  settle() {
    const { settlement, salt, deck } = this.deal;
    this.#phase('PHASE_SETTLED');
    const { progress } = this.parts;
    if (progress && settlement) {
      this.parts.progress = {
        ...progress,
        totals: progress.totals.map((total, seat) => total + (settlement.seats[seat]?.score ?? 0)),
      };
    }
    this.parts.settlement = { ...(settlement ? { settlement } : {}), ready: [], deck, salt };
    this.#add({ dealEnded: {}, changed: { settlement: this.parts.settlement } });
  }
}

/**
 * @param {import('./messages.d.ts').Trick} trick
 * @param {number[]} attempted
 * @returns {Partial<Notice>}
 */
function led(trick, attempted) {
  const { seat = 0, cards = [] } = trick.plays[0] ?? {};
  const { failedThrow } = trick;
  return { cardsLed: { seat, cards, failedThrow, attempted, voidSeats: [], statements: [] } };
}

/**
 * @param {import('./messages.d.ts').TrickPlay} play
 * @param {import('./messages.d.ts').TrickTaken | undefined} taken
 * @returns {Partial<Notice>}
 */
function followed({ seat, cards }, taken) {
  return { cardsFollowed: { seat, cards, ahead: 0, ...(taken ? { taken } : {}), voidSeats: [], statements: [] } };
}
