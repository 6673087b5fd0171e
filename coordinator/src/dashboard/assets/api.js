// Calls of the coordinator's HTTP interface (`/api/v1/openapi.json`). Nothing else in the page knows addresses.

const BASE = '/api/v1';

/** A call that failed: what the server said of it, with the field at fault if there is one. */
export class ApiError extends Error {
  /**
   * @param {number} status HTTP status; 0 if the server was not reached
   * @param {string} message
   * @param {string|null} field
   * @param {number|null} ply from 1
   */
  constructor(status, message, field = null, ply = null) {
    super(message);
    this.status = status;
    this.field = field;
    this.ply = ply;
  }
}

/** Longest wait for an answer. */
const PATIENCE_MS = 15_000;

async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(BASE + path, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS), ...options });
  } catch (error) {
    throw new ApiError(0, error.name === 'TimeoutError' ? 'the coordinator does not answer' : 'the coordinator cannot be reached');
  }
  const body = await response.json().catch(() => null);
  if (response.ok) return body;
  const said = body?.error;
  throw new ApiError(response.status, said?.message ?? `the coordinator answered ${response.status}`, said?.field ?? null, said?.ply ?? null);
}

/** What early.js has asked for; the first time only, since later it is old. */
function take(name) {
  const { early } = window;
  const taken = early?.[name] ?? null;
  if (taken) early[name] = null;
  return taken;
}

function query(parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, value);
  }
  const text = search.toString();
  return text ? `?${text}` : '';
}

function post(path, body) {
  return call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/**
 * What the server says of a position; see the contract's `GET /api/v1/position`.
 * @typedef {object} Position
 * @property {string} position text of the position
 * @property {string} start text of the position in which `moves` begin
 * @property {string[]} moves in `man`
 * @property {'white'|'black'} turn
 * @property {'white'|'black'|null} winner
 * @property {number} ply moves since `start`
 * @property {{pawn: string, walls_left: number, distance: number}} white distance: steps to the goal row
 * @property {{pawn: string, walls_left: number, distance: number}} black
 * @property {string[]} walls that stand
 * @property {string|null} last_move
 * @property {string[]} pawn_moves
 * @property {string[]} legal_walls
 * @property {Object<string, string>} illegal_walls slot to reason
 * @property {Cat} cat
 *
 * Heat in cm, arrays of 81 row by row from a1.
 * @typedef {object} Cat
 * @property {number[]} white
 * @property {number[]} black
 * @property {number[]} display the players' maximum
 * @property {number[]} search the players' sum
 * @property {boolean[]} reachable
 * @property {{white: string[], black: string[]}} witness
 * @property {Object<string, {heat_cm: number, shape_bonus_cm: number, searched: boolean, reason: string}>} walls
 *
 * @typedef {object} Job a line of the list of jobs
 * @property {number} job
 * @property {string} state
 * @property {string} reason
 * @property {string|null} position
 * @property {{book: string, task: string, done: number, total: number}|null} book
 * @property {number|null} depth plies of the last iteration
 * @property {string|null} best_move
 * @property {import('./format.js').Score|null} score_white
 * @property {number} nodes
 * @property {number} elapsed_ms
 * @property {number} last_seq
 * @property {number} priority
 * @property {{depth?: number, time_ms?: number, nodes?: number}} [limits]
 */

/**
 * @param {{position?: string, moves?: string, notation?: string}} asked
 * @returns {Promise<Position>}
 */
export async function position(asked) {
  const path = `/position${query(asked)}`;
  const early = await take('position');
  return (early?.path === path ? early.answer : null) ?? call(path);
}

/** @returns {Promise<{notations: {name: string, title: string}[]}>} */
export const notations = () => call('/notations');

/** @param {{from: string, to: string, moves: string, position?: string}} asked @returns {Promise<{moves: string}>} */
export const convert = (asked) => call(`/convert${query(asked)}`);

/** @returns {Promise<{job: number}>} */
export const startJob = (body) => post('/jobs', body);

/** @param {number} job @returns {Promise<Job>} */
export async function job(job) {
  const early = take('job');
  return (early?.number === job ? await early.answer : null) ?? call(`/jobs/${job}`);
}

/** @param {number} job @param {'pause'|'resume'|'cancel'} order @returns {Promise<Job>} */
export const steer = (job, order) => post(`/jobs/${job}/${order}`, {});

/** @returns {Promise<{books: {book: string, positions: number, analysed: number, stale: number}[]}>} */
export const books = () => call('/books');

/** What a book knows of a position; fails with status 404 if nothing. */
export const bookNode = (book, asked) => call(`/books/${encodeURIComponent(book)}/node${query(asked)}`);

/** @param {string} book @param {'analyze'|'expand'} task @returns {Promise<{job: number}>} */
export const startBookJob = (book, task, body) => post(`/books/${encodeURIComponent(book)}/${task}`, body);

/**
 * Where a job's events are.
 * @param {number} job
 * @param {number} after seq of the last event that is known; 0 for none
 * @param {boolean} picture whether earlier events may be condensed to what the current picture needs
 */
export const jobEvents = (job, after, picture) =>
  `${BASE}/jobs/${job}/events${query({ after: after || null, picture: picture || null })}`;

/** Where the cluster's pictures are. */
export const clusterEvents = `${BASE}/cluster/events`;
