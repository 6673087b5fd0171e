// What the search thinks of the position: the bar, the headline, the figures and the graph over depth.

import { byId, keyed, setAttributes, setFacts, setText, show, svg } from './dom.js';
import { duration, grouped, plural, scoreText, scoreValue, short, whiteShare } from './format.js';

const WIDTH = 560;
const HEIGHT = 120;
const MARGIN = { left: 44, right: 14, top: 18, bottom: 20 };

/** Draws the bar: White's share, from White's side of the board whichever way it lies. */
export function drawBar(score, flipped) {
  const bar = byId('eval-bar');
  bar.classList.toggle('flipped', flipped);
  const share = score ? whiteShare(score) : 0.5;
  byId('eval-white').style.transform = `scaleY(${share})`;
  // No sign: the text stands at the end of the side that is ahead.
  const won = score && score.cm === undefined;
  setText(byId('eval-text'), !score ? '' : won ? `${score.white_wins_in !== undefined ? 'W' : 'B'}${score.white_wins_in ?? score.black_wins_in}` : (Math.abs(score.cm) / 100).toFixed(1));
  bar.classList.toggle('white-ahead', share >= 0.5);
  setAttributes(bar, { 'aria-label': score ? `Evaluation from White's view: ${scoreText(score)}` : 'No evaluation yet', 'data-share': share.toFixed(3) });
}

/** The sentence on top. */
export function headline(analysis) {
  const { picture, missing, job } = analysis;
  if (missing) return missing;
  if (job === null) return 'No analysis yet';
  if (picture.error) return `The analysis failed: ${picture.error.message}`;
  if (picture.book) return `${picture.book.task === 'expand' ? 'Expanding' : 'Analysing'} the book ${picture.book.book}`;
  const { result } = analysis;
  if (!result) return picture.state === 'running' ? 'Searching' : 'Waiting for the first depth';
  if (!result.best_move) {
    return picture.done ? 'The game is over: there is no move to search' : 'No best move yet';
  }
  return `${result.best_move} is best: ${scoreText(result.score_white)}`;
}

/**
 * The figures below it.
 * @param {import('./analysis.js').Analysis} analysis
 * @param {import('./api.js').Position|null} position on the board
 */
export function drawFacts(analysis, position) {
  const { picture } = analysis;
  const last = picture.iterations.at(-1);
  const result = picture.done ?? last;
  const path = (side) => position && `${plural(position[side].distance, 'step')}`;
  const nodes = result?.nodes;
  const rate = picture.done?.elapsed_ms ? (picture.done.nodes * 1000) / picture.done.elapsed_ms : last?.nodes_per_second;
  setFacts(byId('facts'), [
    ['depth', result?.depth ? String(result.depth) : null],
    ['nodes', nodes === undefined || nodes === null ? null : grouped(nodes)],
    ['nodes/s', rate ? short(rate) : null],
    ['time', result ? duration(result.elapsed_ms) : null],
    ['workers', last?.workers ? String(last.workers) : null],
    ['stopped by', picture.done?.stopped_by ?? null],
    ["White's way", path('white')],
    ["Black's way", path('black')],
  ]);
  setText(byId('best-line'), result?.pv?.length > 1 ? result.pv.join(' ') : '');
}

/** A score's height in the graph: the same scale as the bar, so that wins fit in. */
const heightOf = (score) => MARGIN.top + (1 - whiteShare(score)) * (HEIGHT - MARGIN.top - MARGIN.bottom);

/** Draws score and best move over depth. */
export class Graph {
  #drawn = null;

  constructor() {
    this.zero = svg('line', { class: 'g-zero' });
    this.path = svg('polyline', { class: 'g-line', fill: 'none' });
    this.scale = svg('g', { class: 'g-scale' });
    this.points = svg('g');
    this.root = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'No depth completed yet', 'data-testid': 'graph-svg' },
      this.scale, this.zero, this.path, this.points);
    for (const cm of [300, 100, 0, -100, -300]) {
      const y = heightOf({ cm });
      this.scale.append(svg('line', { x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: y, y2: y, class: cm === 0 ? 'g-zero' : 'g-grid' }),
        svg('text', { x: MARGIN.left - 8, y: y + 4, class: 'g-tick' }, cm > 0 ? `+${cm / 100}` : String(cm / 100).replace('-', '−')));
    }
    byId('graph').append(this.root);
  }

  /** @param {object[]} iterations `iteration` events, by depth */
  draw(iterations) {
    // A picture's list is another one after each iteration, and stays between them.
    if (iterations === this.#drawn) return;
    this.#drawn = iterations;
    show(byId('graph').parentElement, iterations.length > 0);
    const first = iterations[0]?.depth ?? 1;
    const last = Math.max(iterations.at(-1)?.depth ?? 1, first + 7);
    const x = (depth) => MARGIN.left + 12 + ((depth - first) * (WIDTH - MARGIN.left - MARGIN.right - 24)) / (last - first);
    setAttributes(this.path, { points: iterations.map(({ depth, score_white }) => `${x(depth).toFixed(1)},${heightOf(score_white).toFixed(1)}`).join(' ') });
    // With many depths not each has room for its number.
    const every = Math.ceil((last - first + 1) / 24);
    let before = null;
    const points = iterations.map((iteration, index) => {
      const changed = iteration.best_move !== before;
      before = iteration.best_move;
      return { ...iteration, changed, numbered: index % every === 0 };
    });
    keyed(this.points, points, ({ depth }) => depth,
      () => svg('g', {}, svg('circle', { class: 'g-point' }, svg('title')), svg('text', { class: 'g-move' }), svg('text', { class: 'g-tick middle' })),
      (node, { depth, score_white, best_move, changed, numbered }) => {
        const [circle, move, number] = node.children;
        const [left, top] = [x(depth), heightOf(score_white)];
        setAttributes(circle, { cx: left, cy: top, r: changed ? 4 : 2.6, 'data-depth': depth });
        setText(circle.firstChild, `Depth ${depth}: ${best_move}, ${scoreText(score_white)}`);
        setText(move, changed ? best_move : '');
        setAttributes(move, { x: left, y: top < MARGIN.top + 14 ? top + 17 : top - 8 });
        setText(number, numbered ? depth : '');
        setAttributes(number, { x: left, y: HEIGHT - 4 });
      });
    const end = iterations.at(-1);
    setAttributes(this.root, { 'aria-label': end
      ? `Score over depth, from depth ${first}, ${scoreText(iterations[0].score_white)}, to depth ${end.depth}, ${scoreText(end.score_white)}, best ${end.best_move}`
      : 'No depth completed yet' });
  }
}

/** Says the best move to a screen reader, when it changes and not more often than one can listen to. */
export class Announcer {
  #said = '';
  #saidAt = -Infinity;
  #timer = 0;

  /** @param {import('./analysis.js').Analysis} analysis */
  consider(analysis) {
    const { result, picture } = analysis;
    if (!result?.best_move) return;
    const text = `${picture.done ? 'Finished, ' : ''}best move ${result.best_move}, ${scoreText(result.score_white)}, depth ${result.depth}`;
    // Depth alone is no news.
    const news = `${result.best_move} ${Math.round(scoreValue(result.score_white) / 20)} ${Boolean(picture.done)}`;
    if (news === this.#said) return;
    const wait = this.#saidAt + 5000 - performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#said = news;
      this.#saidAt = performance.now();
      setText(byId('announcer'), text);
    }, Math.max(0, wait));
  }
}
