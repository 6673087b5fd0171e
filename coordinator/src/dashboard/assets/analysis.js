// The analysis that is shown: a job's events made into one picture. It survives what its stream survives; every event
// counts once.

import * as api from './api.js';
import { Stream } from './stream.js';
import { scoreValue } from './format.js';

/** After so long without its stream the page asks for the condensed picture instead of every event it missed. */
const LONG_AWAY_MS = 60_000;
/** Positions of a book's job that are listed. */
const MAX_BOOK_RECORDS = 20;

/**
 * A root move that is searched.
 * @typedef {object} Row
 * @property {string} move
 * @property {number} heat_cm
 * @property {string} reason why it is searched
 * @property {import('./format.js').Score|null} score_white null until it was searched
 * @property {import('./format.js').Bound} bound
 * @property {number} depth plies; 0 until it was searched
 * @property {string[]} pv
 * @property {number} nodes of its last search
 * @property {string} worker who searched it last
 * @property {number} order its place in the order in which it is searched
 * @property {number} seq of the event that changed it last
 */

function emptyPicture() {
  return {
    /** @type {string|null} the analysed position; null until it is known, and for a book's job */
    position: null,
    /** @type {'white'|'black'} */
    turn: 'white',
    /** @type {Map<string, Row>} */
    rows: new Map(),
    /** @type {{move: string, heat_cm: number, reason: string}[]} */
    pruned: [],
    /** @type {Map<string, {score_white: object, reason: string, miss: boolean}>} verdicts of the audit */
    audits: new Map(),
    /** @type {object[]} the `iteration` events, one a depth */
    iterations: [],
    /** @type {Map<string, {display: number[], search: number[]}>} heat after each root move; '' is the position's own */
    heats: new Map(),
    /** @type {{book: string, task: string, done: number, total: number, records: object[], failed: object[]}|null} */
    book: null,
    state: 'queued',
    reason: '',
    /** @type {object|null} the `done` event */
    done: null,
    /** @type {{code: string, message: string}|null} the `error` event */
    error: null,
    lastSeq: 0,
  };
}

export class Analysis {
  /** @type {number|null} */
  job = null;
  picture = emptyPicture();
  /** @type {string|null} why there is nothing to show */
  missing = null;
  /** Events that came twice (and counted once), and holes (each led to a fresh picture). */
  repeats = 0;
  gaps = 0;
  #stream = null;
  #condensed = true;
  #heardAt = 0;
  #handlers;

  /**
   * @param {{changed: (board: boolean) => void, stream: (state: string, detail: object) => void, heard: () => void}} handlers
   */
  constructor(handlers) {
    this.#handlers = handlers;
  }

  /** Shows a job; null shows none. */
  open(job) {
    this.#stream?.close();
    this.#stream = null;
    this.job = job;
    this.missing = null;
    this.picture = emptyPicture();
    this.#handlers.changed(true);
    if (job !== null) this.#follow();
  }

  /** Whether the job may still change. */
  get running() {
    return this.job !== null && !this.missing && !this.picture.done && !this.picture.error;
  }

  /** The last completed iteration, or the end's values. */
  get result() {
    const { done, iterations } = this.picture;
    return done?.best_move ? done : iterations.at(-1) ?? done;
  }

  /** The stream's connection is to be made anew. */
  reconnect() {
    this.#stream?.reconnect();
  }

  /** The stream's connection is not needed until it is made anew. */
  suspend() {
    this.#stream?.suspend();
  }

  /** The server was restarted: is what it calls by our number still our job, or again? */
  async verify() {
    const { job } = this;
    if (job === null) return;
    try {
      await this.#recognise(job);
      if (this.job === job && this.missing) this.open(job);
    } catch {
      // It is asked again when it is back.
    }
  }

  /**
   * Makes sure that the server's job of our number is ours: another store may have another one. What we cannot tell apart is
   * the same analysis.
   */
  async #recognise(job) {
    // As it is now: events may come while the answer is on its way.
    const { position, book, done, error: failed, lastSeq } = this.picture;
    let answer;
    try {
      answer = await api.job(job);
    } catch (error) {
      if (this.job === job && error.status === 404) this.#lose(`Job ${job} is not known to the coordinator.`);
      throw error;
    }
    if (this.job !== job || lastSeq === 0) return;
    const same = book ? answer.book?.book === book.book && answer.book.task === book.task : answer.position === position;
    const ended = done || failed;
    if (same && (ended ? answer.last_seq === lastSeq : answer.last_seq >= lastSeq)) return;
    this.#lose(`What the coordinator calls job ${job} is another one now.`);
    throw new Error(this.missing);
  }

  #lose(why) {
    this.missing = this.picture.lastSeq > 0 ? `${why} Below is the last that was seen of it.` : why;
    this.#stream?.close();
    this.#stream = null;
    this.#handlers.changed(true);
  }

  #follow() {
    const { job } = this;
    this.#heardAt = Date.now();
    this.#stream = new Stream({
      address: async () => {
        if (this.picture.lastSeq > 0) await this.#recognise(job);
        const after = this.picture.lastSeq;
        this.#condensed = after === 0 || Date.now() - this.#heardAt > LONG_AWAY_MS;
        return api.jobEvents(job, after, this.#condensed);
      },
      message: (events) => {
        if (this.job === job) this.#take(events);
      },
      state: (state, detail) => {
        if (this.job !== job) return;
        if (state === 'refused') {
          this.#lose(detail.status === 404 ? `Job ${job} is not known to the coordinator.` : detail.message);
        }
        this.#handlers.stream(state, detail);
      },
      heard: () => {
        this.#heardAt = Date.now();
        this.#handlers.heard();
      },
    });
  }

  #take(events) {
    // Most events are a `move`, which changes nothing on the board.
    let board = false;
    for (const event of events) {
      const { lastSeq } = this.picture;
      if (event.seq <= lastSeq) {
        this.repeats += 1;
        continue;
      }
      if (!this.#condensed && event.seq !== lastSeq + 1) {
        this.gaps += 1;
        this.picture = emptyPicture();
        this.#stream.reconnect();
        return;
      }
      this.picture.lastSeq = event.seq;
      this.#apply(event);
      board ||= event.event !== 'move';
    }
    this.#handlers.changed(board);
    if (!this.running) {
      this.#stream?.close();
      this.#stream = null;
    }
  }

  #apply(event) {
    const { picture } = this;
    switch (event.event) {
      case 'accepted':
        if (event.book) {
          picture.book = { book: event.book, task: event.task, done: 0, total: event.total ?? event.positions, records: [], failed: [] };
          break;
        }
        picture.position = event.position;
        picture.turn = event.turn;
        picture.pruned = event.pruned;
        event.kept.forEach(({ move, heat_cm, reason }, order) => {
          picture.rows.set(move, { move, heat_cm, reason, score_white: null, bound: 'exact', depth: 0, pv: [], nodes: 0, worker: '', order, seq: event.seq });
        });
        break;
      case 'heat':
        picture.heats.set(event.move ?? '', { display: event.cat_display, search: event.cat_search });
        break;
      case 'state':
        picture.state = event.state;
        picture.reason = event.reason;
        break;
      case 'move': {
        const { move, depth, score_white, bound, pv, nodes, worker } = event;
        const row = picture.rows.get(move);
        if (row) Object.assign(row, { depth, score_white, bound, pv, nodes, worker, seq: event.seq });
        break;
      }
      case 'iteration':
        // A job that goes on after a restart may complete a depth a second time: the later one holds.
        picture.iterations = [...picture.iterations.filter(({ depth }) => depth < event.depth), event];
        break;
      case 'audit':
        picture.audits.set(event.move, event);
        break;
      case 'position':
        if (!picture.book) break;
        picture.book.done = event.done;
        picture.book.total = event.total;
        picture.book.records = [event, ...picture.book.records].slice(0, MAX_BOOK_RECORDS);
        break;
      case 'position_failed':
        if (picture.book) picture.book.failed = [event, ...picture.book.failed].slice(0, MAX_BOOK_RECORDS);
        break;
      case 'done':
        picture.done = event;
        picture.state = 'done';
        picture.reason = '';
        for (const line of event.lines ?? []) {
          const row = picture.rows.get(line.move);
          // A line has no worker: the last one stays.
          if (row) Object.assign(row, line, { seq: event.seq });
        }
        break;
      case 'error':
        picture.error = event;
        picture.state = 'failed';
        picture.reason = '';
        break;
      default:
        // A later server may tell more than this page knows.
        break;
    }
  }

  /** The rows, best first for the side to move. After the end the server's own order holds. */
  sorted() {
    const { rows, turn, done, iterations } = this.picture;
    if (done?.lines?.length) {
      const place = new Map(done.lines.map(({ move }, index) => [move, index]));
      return [...rows.values()].sort((a, b) => (place.get(a.move) ?? 999) - (place.get(b.move) ?? 999) || a.order - b.order);
    }
    const sign = turn === 'white' ? 1 : -1;
    const best = iterations.at(-1)?.best_move;
    // Of equal scores one that may be better comes before an exact one, and that before one that may be worse.
    const openness = ({ bound }) => (bound === 'exact' ? 1 : (bound === 'lower') === (sign === 1) ? 0 : 2);
    return [...rows.values()].sort((a, b) => {
      if (!a.score_white || !b.score_white) return (a.score_white ? 0 : 1) - (b.score_white ? 0 : 1) || a.order - b.order;
      if ((a.move === best) !== (b.move === best)) return a.move === best ? -1 : 1;
      return sign * (scoreValue(b.score_white) - scoreValue(a.score_white)) || openness(a) - openness(b) || b.depth - a.depth || a.order - b.order;
    });
  }
}
