// How fresh the picture is: the light in the header, and the banner that says when the page shows the past and for how
// long it has.

import { byId, setAttributes, setText, show } from './dom.js';
import { duration } from './format.js';

/** A live connection says something each 10 s; a little later than that the picture counts as stale. */
const STALE_MS = 13_000;
/** A connection that comes back within this time was not worth a banner. */
const GRACE_MS = 1_500;

export class Connection {
  /** @type {Map<string, {state: string, heardAt: number, retryAt: number|null, lostAt: number|null, said: string|null}>} */
  #streams = new Map();
  #lastTick = Date.now();
  #revive;

  /** @param {() => void} revive makes all connections anew */
  constructor(revive) {
    this.#revive = revive;
    byId('banner-retry').addEventListener('click', revive);
    addEventListener('online', revive);
    addEventListener('pageshow', (event) => {
      if (event.persisted) revive();
    });
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && this.#staleSince() !== null) revive();
    });
    setInterval(() => this.#tick(), 1000);
  }

  /** Something came on a stream. */
  heard(name) {
    const stream = this.#streams.get(name);
    if (!stream) return;
    stream.heardAt = Date.now();
    if (stream.lostAt !== null) this.#draw();
  }

  /** A stream's state changed. */
  state(name, state, detail) {
    if (state === 'closed' || state === 'refused' || state === 'suspended') {
      this.#streams.delete(name);
    } else {
      const now = Date.now();
      const stream = this.#streams.get(name) ?? { heardAt: now, lostAt: null };
      stream.state = state;
      stream.retryAt = detail.retryAt ?? null;
      stream.said = detail.message ?? null;
      if (state === 'live') {
        stream.heardAt = now;
        stream.lostAt = null;
      } else if (state === 'waiting' && stream.lostAt === null) {
        stream.lostAt = now;
      }
      this.#streams.set(name, stream);
    }
    this.#draw();
  }

  /** When the oldest part of the picture was last known to be right, or null if all of it is. */
  #staleSince() {
    const now = Date.now();
    let since = null;
    for (const { state, heardAt, lostAt } of this.#streams.values()) {
      const lost = lostAt !== null && now - lostAt > GRACE_MS;
      const silent = state === 'live' && now - heardAt > STALE_MS;
      if ((lost || silent) && (since === null || heardAt < since)) since = heardAt;
    }
    return since;
  }

  #tick() {
    const now = Date.now();
    // Timers stand still while a computer sleeps: its connections are then dead, whatever they say.
    if (now - this.#lastTick > 10_000) this.#revive();
    this.#lastTick = now;
    this.#draw();
  }

  #draw() {
    const since = this.#staleSince();
    const streams = [...this.#streams.values()];
    const live = streams.length > 0 && streams.every(({ state }) => state === 'live');
    const state = since !== null ? 'stale' : live ? 'live' : 'connecting';
    setAttributes(byId('connection'), { 'data-state': state });
    setText(byId('connection-text'), state);
    show(byId('banner'), since !== null);
    if (since === null) {
      setText(byId('banner-text'), '');
      setText(byId('banner-age'), '');
      return;
    }
    const retryAt = Math.min(...streams.map(({ retryAt: at }) => at ?? Infinity));
    const next = Number.isFinite(retryAt) && retryAt > Date.now() ? `Next try in ${Math.ceil((retryAt - Date.now()) / 1000)} s.` : 'Trying now.';
    // Two parts: a screen reader hears of the loss once, not of each second of it.
    // It may be there and refuse, such as for too many viewers.
    const said = streams.find((stream) => stream.said)?.said;
    setText(byId('banner-text'), said ? `The coordinator answers: ${said}.` : 'No word from the coordinator.');
    setText(byId('banner-age'), `What you see is ${duration(Math.floor((Date.now() - since) / 1000) * 1000).replace('.0', '')} old, from ${new Date(since).toLocaleTimeString()}. ${next}`);
  }
}
