// The list of jobs: what each is, how far it is, how fast, how long it will take, and what can be done with it.

import * as api from './api.js';
import { byId, el, keyed, setAttributes, setText } from './dom.js';
import { duration, grouped, leaning, plural, scoreText, short } from './format.js';

export const OPEN_STATES = ['queued', 'running', 'waiting', 'paused', 'parked'];

/** Limits of the jobs that were started here, for servers that do not tell them. Kept over reloads. */
const KEPT = 'limits';
const MAX_KEPT = 50;

/** @type {object[]|null} read once: it is asked for with every picture */
let kept = null;

function keptLimits() {
  if (kept) return kept;
  try {
    kept = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
  } catch {
    kept = [];
  }
  return kept;
}

/** Keeps a job's limits. @param {{depth?: number, time_ms?: number, nodes?: number}} limits */
export function rememberLimits(job, limits) {
  kept = [...keptLimits().filter((entry) => entry.job !== job), { job, ...limits }].slice(-MAX_KEPT);
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // the limits are then known until the page is left
  }
}

/** @param {import('./api.js').Job} job */
const limitsOf = (job) => job.limits ?? keptLimits().find((entry) => entry.job === job.job) ?? {};

/**
 * How far a job is.
 * @param {import('./api.js').Job} job
 * @param {number} elapsedMs until now
 * @param {number} rate nodes a second, 0 if unknown
 * @returns {{share: number|null, text: string}} share 0..1 of the nearest limit, and what is left in words
 */
export function progressOf(job, elapsedMs, rate) {
  if (job.book) {
    const { done, total } = job.book;
    const left = done > 0 && job.state === 'running' ? `, ${duration((elapsedMs * (total - done)) / done)} left` : '';
    return { share: total ? done / total : null, text: `${grouped(done)} of ${grouped(total)}${left}` };
  }
  const limits = limitsOf(job);
  const candidates = [];
  if (limits.time_ms) {
    candidates.push({ share: elapsedMs / limits.time_ms, text: `${duration(limits.time_ms - elapsedMs)} left` });
  }
  if (limits.nodes) {
    const left = Math.max(0, limits.nodes - job.nodes);
    candidates.push({ share: job.nodes / limits.nodes, text: rate > 0 ? `${duration((left / rate) * 1000)} left` : `${short(left)} nodes left` });
  }
  // Each depth costs some times the one before, so depths done say little of the time left: only the count is told.
  if (limits.depth) candidates.push({ share: (job.depth ?? 0) / limits.depth, text: `depth ${job.depth ?? 0} of ${limits.depth}` });
  if (candidates.length === 0) return { share: null, text: '' };
  const nearest = candidates.reduce((a, b) => (b.share > a.share ? b : a));
  return { share: Math.min(1, nearest.share), text: nearest.text };
}

/** Rates of jobs from two pictures of the cluster. */
export class Rates {
  /** @type {Map<number, {nodes: number, at: number, rate: number}>} */
  #seen = new Map();

  /** @param {import('./api.js').Job[]} jobs @param {number} now ms */
  note(jobs, now) {
    const next = new Map();
    for (const { job, nodes, state } of jobs) {
      if (!OPEN_STATES.includes(state)) continue;
      const before = this.#seen.get(job);
      const seconds = before ? (now - before.at) / 1000 : 0;
      const fresh = seconds > 0.2 ? Math.max(0, (nodes - before.nodes) / seconds) : before?.rate ?? 0;
      // Results come in lumps: the rate is smoothed.
      next.set(job, { nodes, at: now, rate: before?.rate ? 0.7 * before.rate + 0.3 * fresh : fresh });
    }
    this.#seen = next;
  }

  /** @returns {number} nodes a second */
  of(job) {
    return this.#seen.get(job)?.rate ?? 0;
  }
}

/** Pauses, resumes or cancels a job, and says so if that fails. */
export async function steer(job, order) {
  setText(byId('jobs-error'), '');
  try {
    await api.steer(job, order);
  } catch (error) {
    setText(byId('jobs-error'), `Job ${job}: ${error.message}`);
  }
}

/**
 * @param {import('./api.js').Job[]} jobs
 * @param {Rates} rates
 * @param {number} ageMs since the picture was made
 * @param {number|null} shown the job that the page shows
 */
export function drawJobs(jobs, rates, ageMs, shown) {
  const open = jobs.filter(({ state }) => OPEN_STATES.includes(state)).length;
  setText(byId('jobs-count'), jobs.length ? `${open} open of ${jobs.length}` : 'none yet');
  keyed(byId('jobs'), jobs, ({ job }) => job, createJob, (node, job) => updateJob(node, job, rates.of(job.job), ageMs, shown));
}

function createJob({ job }) {
  const button = (order, text) => el('button', { type: 'button', 'data-order': order, 'data-job': job, 'data-testid': `${order}-${job}`, 'aria-label': `${text} job ${job}` }, text);
  return el('div', { role: 'listitem', class: 'job', 'data-testid': `job-${job}` },
    el('div', { class: 'job-line' }, el('button', { type: 'button', class: 'link', 'data-order': 'open', 'data-job': job, 'data-testid': `open-${job}` }, `Job ${job}`),
      el('span', { class: 'pill' }), el('span', { class: 'job-best' }), el('span', { class: 'quiet job-what' })),
    el('div', { class: 'job-line' }, el('progress', { max: 1, value: 0, 'aria-label': `Progress of job ${job}` }), el('span', { class: 'quiet job-left' }),
      el('span', { class: 'buttons small' }, button('pause', 'Pause'), button('resume', 'Resume'), button('cancel', 'Cancel'))));
}

function updateJob(node, job, rate, ageMs, shown) {
  const [top, bottom] = node.children;
  const [, state, best, what] = top.children;
  const [bar, left, buttons] = bottom.children;
  const running = job.state === 'running';
  const open = OPEN_STATES.includes(job.state);
  setText(state, job.state);
  setAttributes(state, { 'data-state': job.state, title: job.reason || null });
  setText(best, job.best_move ? `${job.best_move} ${scoreText(job.score_white)}` : '');
  setAttributes(best, { class: `job-best ${leaning(job.score_white)}` });
  setText(what, job.book ? `book ${job.book.book}: ${job.book.task}` : job.position);
  setAttributes(what, { title: job.book ? null : job.position });
  const elapsed = job.elapsed_ms + (running ? ageMs : 0);
  const { share, text } = progressOf(job, elapsed, rate);
  setAttributes(bar, { value: share === null ? 0 : share.toFixed(3) });
  bar.hidden = share === null || !open;
  const parts = [
    job.depth && !job.book ? `depth ${job.depth}` : null,
    `${short(job.nodes)} nodes`,
    running && rate > 0 ? `${short(rate)}/s` : null,
    open ? text || null : duration(job.elapsed_ms),
    job.priority ? `priority ${job.priority}` : null,
  ];
  setText(left, [...new Set(parts.filter(Boolean))].join(' · '));
  const [pause, resume, cancel] = buttons.children;
  pause.hidden = !open || job.state === 'paused';
  resume.hidden = job.state !== 'paused';
  cancel.hidden = !open;
  node.classList.toggle('shown', job.job === shown);
  setAttributes(node, { 'data-state': job.state, 'aria-label': `Job ${job.job}, ${job.state}, ${plural(job.nodes, 'node')}` });
}
