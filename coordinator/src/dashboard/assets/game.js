// The game on the board: where it starts, its moves, and how many of them are played. Every position is the server's
// answer; this keeps those that were asked for last.

import * as api from './api.js';

/** Answers kept, so that walking through a game does not ask again. */
const MAX_ANSWERS = 128;

export class Game {
  /** @type {string|null} text of the position in which the moves begin; null is the usual start */
  start = null;
  /** @type {string[]} all moves, in `man`, also those that were taken back */
  moves = [];
  /** @type {number} how many of them are played */
  at = 0;
  /** @type {import('./api.js').Position|null} the position on the board */
  position = null;
  #answers = new Map();
  #asked = 0;
  #changed;

  /** @param {(how: 'played'|'loaded'|'walked') => void} changed called after each change */
  constructor(changed) {
    this.#changed = changed;
  }

  /** The server's answer for the game's position after `moves`. Fails with an `ApiError`. */
  async ask(moves) {
    return this.#answer({ position: this.start, moves: moves.join(' ') });
  }

  /**
   * Plays a move in the position on the board. One that differs from the next of the game replaces what followed.
   * @param {string} text one or several moves in `man`
   */
  async play(text) {
    const asked = this.#next();
    const [start, played] = [this.start, this.moves.slice(0, this.at)];
    const answer = await this.#answer({ position: start, moves: [...played, text].join(' ') });
    if (asked !== this.#asked) return;
    const known = answer.moves.every((move, index) => this.moves[index] === move);
    if (!known) this.moves = answer.moves;
    this.at = answer.moves.length;
    this.#set(answer, 'played');
  }

  /**
   * Loads a game or a position.
   * @param {{position?: string|null, moves?: string, notation?: string}} asked
   * @param {number} [at] how many moves shall be played; all if absent
   * @param {'loaded'|'walked'} [how]
   */
  async load(asked, at, how = 'loaded') {
    const number = this.#next();
    const whole = await this.#answer(asked);
    if (number !== this.#asked) return;
    const played = Math.min(at ?? whole.moves.length, whole.moves.length);
    const start = asked.position ? whole.start : null;
    const answer = played === whole.moves.length
      ? whole
      : await this.#answer({ position: start, moves: whole.moves.slice(0, played).join(' ') });
    if (number !== this.#asked) return;
    this.start = start;
    this.moves = whole.moves;
    this.at = played;
    this.#set(answer, how);
  }

  /** Goes to the position after so many moves of the game. */
  async walk(at) {
    const target = Math.max(0, Math.min(this.moves.length, at));
    if (target === this.at) return;
    const asked = this.#next();
    // At once, so that the next key press counts from here.
    const before = this.at;
    this.at = target;
    try {
      const answer = await this.ask(this.moves.slice(0, target));
      if (asked === this.#asked) this.#set(answer, 'walked');
    } catch (error) {
      if (asked === this.#asked) this.at = before;
      throw error;
    }
  }

  #next() {
    this.#asked += 1;
    return this.#asked;
  }

  #set(answer, how) {
    this.position = answer;
    this.#changed(how);
  }

  async #answer(asked) {
    const key = JSON.stringify([asked.position ?? null, asked.moves ?? '', asked.notation ?? 'man']);
    let answer = this.#answers.get(key);
    if (!answer) answer = await api.position(asked);
    // Newest last: the first is the one that was not used for longest.
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    if (this.#answers.size > MAX_ANSWERS) this.#answers.delete(this.#answers.keys().next().value);
    return answer;
  }
}
