// Starting an analysis with its limits, and steering the one that is shown.

import * as api from './api.js';
import { byId, setAttributes, setText, show } from './dom.js';
import { clearErrors, showError, valueOf } from './fields.js';
import { progressOf, rememberLimits } from './jobs.js';

/** What the server takes if no limit is given. */
const DEFAULT_TIME_MS = 30_000;

/** Jobs that this tab started: starting the next one ends them, so that a player does not leave a trail of searches. */
const startedHere = new Set();

/**
 * @param {import('./game.js').Game} game
 * @param {import('./analysis.js').Analysis} analysis
 * @param {(job: number, asked: {position: string|null, moves: string}) => void} opened a job was started on this game's position
 */
export function bindControls(game, analysis, opened) {
  const form = byId('analysis-form');
  const error = byId('form-error');
  let starting = false;
  /** The board has changed meanwhile. */
  let again = false;

  async function start() {
    if (starting || !game.position) return;
    starting = true;
    again = false;
    clearErrors(form);
    setText(error, '');
    const prune = byId('prune').value;
    const body = {
      position: game.start ?? undefined,
      moves: game.moves.slice(0, game.at).join(' '),
      depth: valueOf(byId('depth')),
      time_ms: valueOf(byId('time'), 1000),
      nodes: valueOf(byId('nodes')),
      multipv: valueOf(byId('multipv')),
      priority: valueOf(byId('priority')),
      prune: prune === 'cat' ? undefined : prune,
      deterministic: byId('deterministic').checked || undefined,
      fresh: byId('fresh').checked || undefined,
    };
    try {
      const before = analysis.running && startedHere.has(analysis.job) ? analysis.job : null;
      const { job } = await api.startJob(body);
      const { depth, time_ms, nodes } = body;
      rememberLimits(job, depth || time_ms || nodes ? { depth, time_ms, nodes } : { time_ms: DEFAULT_TIME_MS });
      startedHere.clear();
      startedHere.add(job);
      opened(job, { position: body.position ?? null, moves: body.moves });
      if (before !== null) await api.steer(before, 'cancel');
    } catch (failure) {
      showError(form, failure, error);
    } finally {
      starting = false;
    }
    if (again) follow();
  }

  /** An analysis that follows the board starts anew where that is now. */
  function follow() {
    again = starting;
    if (!starting && byId('follow').checked && analysis.running && !analysis.picture.book && !same()) start();
  }

  async function steer(order) {
    setText(error, '');
    try {
      await api.steer(analysis.job, order);
    } catch (failure) {
      setText(error, failure.message);
    }
  }

  const same = () => analysis.picture.position !== null && analysis.picture.position === game.position?.position;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    start();
  });
  byId('pause').addEventListener('click', () => steer(analysis.picture.state === 'paused' ? 'resume' : 'pause'));
  byId('cancel').addEventListener('click', () => steer('cancel'));

  return {
    start,
    /** What the space bar does: stop what runs on this position, or start. */
    toggle() {
      if (analysis.running && (same() || analysis.picture.book)) steer('cancel');
      else start();
    },
    boardChanged: follow,
    /**
     * @param {import('./cluster.js').Cluster} cluster
     */
    draw(cluster) {
      const { picture, job, running, missing } = analysis;
      setText(byId('job-name'), job === null ? '' : `job ${job}`);
      const state = byId('job-state');
      show(state, job !== null && !missing);
      setText(state, picture.state);
      setAttributes(state, { 'data-state': picture.state });
      setText(byId('job-reason'), running && picture.state !== 'running' ? picture.reason : '');
      const pause = byId('pause');
      pause.disabled = !running;
      setText(pause, picture.state === 'paused' ? 'Resume' : 'Pause');
      byId('cancel').disabled = !running;
      setText(byId('start'), running && !same() && !picture.book ? 'Start here' : 'Start');
      show(byId('elsewhere'), picture.position !== null && !same());
      const listed = job === null ? undefined : cluster.job(job);
      const { share, text } = running && listed
        ? progressOf(listed, listed.elapsed_ms + (picture.state === 'running' ? cluster.age : 0), cluster.rateOf(job))
        : { share: null, text: '' };
      show(byId('progress'), share !== null);
      setAttributes(byId('progress-bar'), { value: (share ?? 0).toFixed(3) });
      setText(byId('progress-text'), text);
    },
  };
}
