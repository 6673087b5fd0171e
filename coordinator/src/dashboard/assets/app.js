// The live board: makes the parts, and tells each what it needs to know of the others.

import { readAddress, writeAddress } from './address.js';
import { Analysis } from './analysis.js';
import * as api from './api.js';
import { Book, drawBookJob } from './book.js';
import { Candidates, drawPruned } from './candidates.js';
import { Cluster } from './cluster.js';
import { Connection } from './connection.js';
import { bindControls } from './controls.js';
import { byId, el, keyed, setAttributes, setText, show } from './dom.js';
import { Announcer, Graph, drawBar, drawFacts, headline } from './evaluation.js';
import { bindExchange } from './exchange.js';
import { clearErrors, showError } from './fields.js';
import { Game } from './game.js';
import { bindHeat, describeHeat } from './heat.js';
import { steer } from './jobs.js';
import { bindKeys } from './keyboard.js';
import { explain } from './overlay.js';
import { board, drawPosition, handlers } from './position.js';
import { mark, painter } from './state.js';

/** A tab that nobody sees gives its connections back after so long: a browser has six to a server. */
const HIDDEN_MS = 5_000;

let flipped = false;
/** What the pointer or the keyboard points at. */
let pointed = { move: null, by: 'pointer' };
/** @type {import('./overlay.js').View} */
const view = { rootMove: null, after: null, line: [] };

const game = new Game((how) => {
  // What was said of the move before is of no interest any more.
  clearErrors(byId('move-form'));
  choose(null);
  view.line = [];
  remember(how !== 'walked');
  mark('board', 'analysis');
  controls.boardChanged();
  book.look();
});

const analysis = new Analysis({
  changed: (onBoard) => mark('analysis', ...(onBoard ? ['board'] : [])),
  stream: (state, detail) => connection.state('job', state, detail),
  heard: () => connection.heard('job'),
});

const connection = new Connection(() => {
  cluster.reconnect();
  analysis.reconnect();
});

Object.assign(handlers, {
  play,
  point(move, by) {
    pointed = { move, by };
    mark('hint');
  },
  leave: () => byId('board-panel').focus(),
});

const candidates = new Candidates({
  look(row) {
    view.line = row && analysed() ? (row.pv.length > 0 ? row.pv : [row.move]) : [];
    mark('board');
  },
  choose: (move) => choose(view.rootMove === move ? null : move),
  play(move) {
    if (analysed()) play(move);
  },
  scrolled: () => mark('analysis'),
});

const book = new Book(game, {
  play,
  look(line) {
    view.line = line;
    mark('board');
  },
  search() {
    byId('analysis-panel').scrollIntoView({ block: 'start' });
    controls.start();
  },
  openJob: (job) => openJob(job),
});

/** Games whose positions were analysed from here: a job knows only its position. @type {Map<number, object>} */
const games = new Map();

const controls = bindControls(game, analysis, (job, asked) => {
  games.set(job, asked);
  analysis.open(job);
  choose(null);
  remember(true);
});

const cluster = new Cluster({
  changed: () => mark('cluster', 'analysis'),
  restarted() {
    analysis.verify();
    book.refresh();
  },
  stream: (state, detail) => connection.state('cluster', state, detail),
  heard: () => connection.heard('cluster'),
});

const graph = new Graph();
const announcer = new Announcer();
const exchange = bindExchange(game);
const heat = bindHeat(() => mark('board'));

/** Whether the analysis is of the position on the board. */
const analysed = () => analysis.picture.position !== null && analysis.picture.position === game.position?.position;

/** Writes the address bar. */
const remember = (push) => writeAddress(game, analysis.job, flipped, push);

/** Plays a move that was clicked. One that cannot be played is explained where the pointer is. */
async function play(move) {
  const { position } = game;
  if (!position) return;
  const playable = move.length === 3 ? !(move in position.illegal_walls) : position.pawn_moves.includes(move);
  if (!playable) return;
  try {
    await game.play(move);
  } catch (error) {
    setText(byId('move-error'), error.message);
  }
}

async function walk(at) {
  try {
    await game.walk(at);
  } catch (error) {
    setText(byId('move-error'), error.message);
  }
}

/** Chooses the candidate whose heat is shown; null for the position itself. */
async function choose(move) {
  view.rootMove = move;
  view.after = null;
  mark('board', 'analysis');
  if (!move) return;
  try {
    const after = await game.ask([...game.moves.slice(0, game.at), move]);
    if (view.rootMove === move) view.after = after;
    mark('board');
  } catch {
    // The stream has the heat of both players; without an answer only that of one player is missing.
  }
}

/** Shows a job and, if it has one, its position. Returns whether it has. */
async function openJob(job, push = true) {
  analysis.open(job);
  choose(null);
  let position = null;
  try {
    ({ position } = await api.job(job));
  } catch {
    // The stream says what is wrong with it.
  }
  if (analysis.job !== job) return true;
  if (position && position !== game.position?.position) await showPosition(position);
  remember(push);
  return position !== null;
}

/** Puts the analysed position on the board: as the game it was analysed in if that was here, otherwise without moves. */
async function showPosition(text) {
  try {
    await game.load(games.get(analysis.job) ?? { position: text });
  } catch (error) {
    setText(byId('move-error'), error.message);
  }
}

function flip() {
  flipped = !flipped;
  setAttributes(byId('flip'), { 'aria-pressed': String(flipped) });
  remember(false);
  mark('board', 'analysis');
}

painter('board', () => {
  const { position } = game;
  if (!position) return;
  const picture = analysed() ? analysis.picture : null;
  describeHeat(view.rootMove, drawPosition(position, picture, view, flipped));
  drawMoves();
  drawHint();
});

painter('hint', drawHint);

painter('analysis', () => {
  const { picture } = analysis;
  // The bar stands beside the board: a score of another position would lie.
  drawBar(analysed() ? analysis.result?.score_white ?? null : null, flipped);
  const words = headline(analysis);
  setText(byId('headline'), words);
  const title = analysis.job === null ? 'Corridor' : `${words} · Corridor`;
  if (document.title !== title) document.title = title;
  drawFacts(analysis, game.position);
  graph.draw(picture.iterations);
  candidates.draw(analysis.sorted(), cluster.holders(analysis.job), view.rootMove);
  drawPruned(picture.pruned, picture.audits);
  drawBookJob(picture.book, picture.done);
  show(byId('search-part'), !picture.book);
  controls.draw(cluster);
  announcer.consider(analysis);
  setAttributes(byId('analysis-panel'), {
    'data-job': analysis.job, 'data-last-seq': picture.lastSeq, 'data-repeats': analysis.repeats, 'data-gaps': analysis.gaps,
    'data-state': analysis.job === null ? 'none' : analysis.missing ? 'missing' : picture.state,
  });
});

painter('cluster', () => {
  cluster.draw(analysis.job);
  book.drawProgress(cluster);
});

function drawHint() {
  const { position } = game;
  if (!position) return;
  const hint = byId('board-hint');
  const { text, illegal } = explain(pointed.move, position, analysed() ? analysis.picture : null, pointed.by === 'touch');
  // Only what the keyboard points at is read aloud: a mouse would make it chatter.
  setAttributes(hint, { 'aria-live': pointed.by === 'keyboard' ? 'polite' : 'off', class: illegal ? 'hint illegal' : 'hint' });
  setText(hint, text);
}

function drawMoves() {
  const { moves, at } = game;
  byId('first').disabled = at === 0;
  byId('undo').disabled = at === 0;
  byId('redo').disabled = at === moves.length;
  byId('last').disabled = at === moves.length;
  keyed(byId('moves'), moves.map((move, index) => ({ move, ply: index + 1 })), ({ move, ply }) => `${ply} ${move}`,
    ({ move, ply }) => el('li', {}, el('button', { type: 'button', class: 'move', 'data-ply': ply, 'aria-label': `Move ${ply}, ${move}` }, move)),
    (node, { ply }) => setAttributes(node.firstChild, { 'aria-current': ply === at ? 'step' : null, class: ply > at ? 'move undone' : 'move' }));
}

byId('first').addEventListener('click', () => walk(0));
byId('undo').addEventListener('click', () => walk(game.at - 1));
byId('redo').addEventListener('click', () => walk(game.at + 1));
byId('last').addEventListener('click', () => walk(game.moves.length));
byId('flip').addEventListener('click', flip);
byId('new-game').addEventListener('click', () => game.load({}).catch((error) => setText(byId('move-error'), error.message)));
byId('moves').addEventListener('click', (event) => {
  const ply = event.target.dataset.ply;
  if (ply) walk(Number(ply));
});
byId('move-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const [form, input] = [byId('move-form'), byId('move-input')];
  clearErrors(form);
  const text = input.value.trim();
  if (text === '') return;
  try {
    await game.play(text);
    input.value = '';
  } catch (error) {
    showError(form, error, byId('move-error'), input);
  }
});
byId('to-analysed').addEventListener('click', () => showPosition(analysis.picture.position));
byId('jobs').addEventListener('click', (event) => {
  const { order, job } = event.target.closest('button')?.dataset ?? {};
  if (order === 'open') openJob(Number(job));
  else if (order) steer(Number(job), order);
});
const keys = byId('keys');
byId('help').addEventListener('click', () => keys.showModal());

bindKeys({
  ArrowLeft: () => walk(game.at - 1),
  ArrowRight: () => walk(game.at + 1),
  Home: () => walk(0),
  End: () => walk(game.moves.length),
  ' ': () => controls.toggle(),
  f: flip,
  h: () => heat.next(),
  m: () => byId('move-input').focus(),
  b: () => board.focus(),
  c: () => candidates.focus(),
  '?': () => keys.showModal(),
});

/** Shows what the address bar says. */
async function followAddress() {
  const address = readAddress();
  flipped = address.flipped;
  setAttributes(byId('flip'), { 'aria-pressed': String(flipped) });
  const bare = !address.start && address.moves === '';
  if (address.job !== analysis.job) {
    if (address.job !== null && bare) {
      // A link to a job alone means its position, too.
      const has = await openJob(address.job, false);
      if (!has || !game.position) await game.load({}, undefined, 'walked');
      return;
    }
    analysis.open(address.job);
  }
  await game.load({ position: address.start, moves: address.moves }, address.at, 'walked');
}

async function open() {
  try {
    await followAddress();
  } catch (error) {
    // A link that is wrong must not leave an empty page. The change of the board takes away what was said before.
    await game.load({}, undefined, 'walked').catch(() => setTimeout(open, 2000));
    setText(byId('move-error'), `The address: ${error.message}`);
  }
}

addEventListener('popstate', open);
// A page that the browser keeps for the way back would keep its connections, too: of six to a server in all. `Connection` makes them
// anew when it comes back.
addEventListener('pagehide', () => {
  cluster.suspend();
  analysis.suspend();
});
let hiddenTimer = 0;
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) {
    hiddenTimer = setTimeout(() => {
      hiddenTimer = -1;
      cluster.suspend();
      analysis.suspend();
    }, HIDDEN_MS);
  } else if (hiddenTimer === -1) {
    hiddenTimer = 0;
    cluster.reconnect();
    analysis.reconnect();
  }
});
// Ages and remaining times go on between events.
setInterval(() => mark('cluster', 'analysis'), 1000);
open();
exchange.load().catch((error) => setText(byId('paste-error'), error.message));
show(byId('book-none'), true);
book.refresh();
