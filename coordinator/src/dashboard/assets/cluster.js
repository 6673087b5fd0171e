// The cluster: its workers and what they hold, its cache, its losses. One stream, one picture a message.

import { clusterEvents } from './api.js';
import { byId, el, keyed, setAttributes, setFacts, setText, show } from './dom.js';
import { duration, grouped, plural, short } from './format.js';
import { Rates, drawJobs } from './jobs.js';
import { Stream } from './stream.js';

/** A worker that was silent for so long may be gone: its lease ends after 10 s. */
const QUIET_MS = 5_000;
/** Moves of a held unit's path that are shown. */
const SHOWN_PATH = 4;

/** What a worker does now: the server tells how fast it is while it searches. */
const rateNow = (worker) => (worker.units ? worker.nodes_per_second : 0);

export class Cluster {
  /** The last picture; see the contract's `GET /api/v1/cluster`. */
  picture = null;
  #takenAt = 0;
  #rates = new Rates();
  #stream;

  /**
   * @param {{changed: () => void, restarted: () => void, stream: (state: string, detail: object) => void, heard: () => void}} handlers
   */
  constructor(handlers) {
    this.#stream = new Stream({
      address: () => clusterEvents,
      message: (picture) => {
        const before = this.picture?.instance;
        this.picture = picture;
        this.#takenAt = Date.now();
        this.#rates.note(picture.jobs, picture.now_ms);
        handlers.changed();
        if (before && before !== picture.instance) handlers.restarted();
      },
      state: handlers.stream,
      heard: handlers.heard,
    });
  }

  reconnect() {
    this.#stream.reconnect();
  }

  suspend() {
    this.#stream.suspend();
  }

  /** @returns {import('./api.js').Job|undefined} */
  job(number) {
    return this.picture?.jobs.find(({ job }) => job === number);
  }

  /** How old the picture is, in ms. */
  get age() {
    return Date.now() - this.#takenAt;
  }

  /** Nodes a second of a job. */
  rateOf(job) {
    return this.#rates.of(job);
  }

  /** @returns {Map<string, string[]>} of a job's root moves, the workers that have them now */
  holders(job) {
    const holders = new Map();
    for (const { name, holds } of this.picture?.workers ?? []) {
      for (const held of holds) {
        const move = held.moves[0];
        if (held.job !== job || !move) continue;
        const names = holders.get(move) ?? [];
        if (!names.includes(name)) names.push(name);
        holders.set(move, names);
      }
    }
    return holders;
  }

  /** @param {number|null} shownJob */
  draw(shownJob) {
    const { picture } = this;
    if (!picture) return;
    const { workers, jobs, cache, losses, epoch } = picture;
    const rate = workers.reduce((sum, worker) => sum + rateNow(worker), 0);
    setText(byId('cluster-text'), `${plural(workers.length, 'worker')} · ${epoch}`);
    setText(byId('rate'), workers.length ? `${short(rate)} nodes/s · ${plural(workers.length, 'worker')}` : 'no workers');
    keyed(byId('workers').tBodies[0], workers.length ? workers : [{ name: '' }], ({ name }) => name,
      ({ name }) => name ? createWorker(name) : el('tr', {}, el('td', { colspan: 5, class: 'quiet' }, 'No worker is connected. Jobs wait until one is.')),
      (node, worker) => worker.name && updateWorker(node, worker, this.age));
    setFacts(byId('cache'), [
      ['shared cache', `${short(cache.entries)} of ${short(cache.max_entries)}`],
      ['sent', short(cache.sent)],
      ['received', short(cache.received)],
      ['hits that paid', cache.received ? `${grouped(cache.cutoffs)} (${((100 * cache.cutoffs) / cache.received).toFixed(1)} %)` : grouped(cache.cutoffs)],
    ]);
    show(byId('losses'), losses.length > 0);
    const list = byId('losses').querySelector('ul');
    keyed(list, losses, (loss) => `${loss.worker} ${Math.round((picture.now_ms - loss.ago_ms) / 1000)}`, () => el('li'),
      (node, { worker, reason, units, ago_ms }) =>
        setText(node, `${worker}: ${reason}, ${plural(units, 'unit')} taken back, ${duration(ago_ms + this.age)} ago`));
    drawJobs(jobs, this.#rates, this.age, shownJob);
  }
}

function createWorker(name) {
  return el('tr', { 'data-testid': `worker-${name}` }, el('th', { scope: 'row' }, el('span', { class: 'dot' }), name),
    el('td'), el('td'), el('td', { class: 'wide holds' }), el('td'));
}

function updateWorker(node, worker, age) {
  const [name, rate, units, holds, heard] = node.children;
  const silent = worker.silent_ms + age;
  // The picture comes only when something has changed, so its age alone is no silence.
  const state = worker.draining ? 'draining' : worker.silent_ms > QUIET_MS ? 'quiet' : 'live';
  setAttributes(node, { 'data-state': state });
  setAttributes(name, { title: `${plural(worker.slots, 'slot')}, connected for ${duration(worker.connected_ms + age)}, ${grouped(worker.nodes)} nodes` });
  setText(rate, worker.units ? short(rateNow(worker)) : '–');
  setText(units, `${grouped(worker.units)}`);
  const held = worker.holds.map(({ job, moves, depth }) => {
    const path = moves.length ? moves.slice(0, SHOWN_PATH).join(' ') + (moves.length > SHOWN_PATH ? ' …' : '') : 'a book position';
    return `${path} d${depth} (job ${job})`;
  });
  setText(holds, held.length ? held.join(', ') : 'idle');
  setText(heard, state === 'draining' ? 'draining' : state === 'quiet' ? `silent ${duration(silent)}` : 'live');
}
