// The position on the page: the board, and both players beside it. It is the head of a small graph of modules, so that the first
// picture need not wait for all the others: it draws what early.js has asked for, and `app.js` takes over.

import { Board } from './board.js';
import { byId, el, setAttributes, setText } from './dom.js';
import { plural, sideName } from './format.js';
import { compose } from './overlay.js';

/** What is done when somebody points at the board; `app.js` fills it in. */
export const handlers = { play() {}, point() {}, leave() {} };

export const board = new Board(byId('board'), handlers);

let drawn = false;

/**
 * @param {import('./api.js').Position} position
 * @param {object|null} picture of the analysis, if it is of this position
 * @param {import('./overlay.js').View} view
 * @param {boolean} flipped
 * @returns {boolean} whether the chosen heat is known
 */
export function drawPosition(position, picture, view, flipped) {
  drawn = true;
  const { scene, heatKnown } = compose(position, picture, view);
  board.flip(flipped);
  board.draw(scene);
  setAttributes(board.root, { 'aria-label': describe(position), 'data-position': position.position });
  drawPlayer(byId('player-far'), flipped ? 'white' : 'black', position);
  drawPlayer(byId('player-near'), flipped ? 'black' : 'white', position);
  return heatKnown;
}

/** The position in a sentence, for a screen reader. */
function describe(position) {
  const side = (name) => `${name === 'white' ? 'White' : 'Black'} on ${position[name].pawn} with ${position[name].walls_left} walls and ${position[name].distance} steps to go`;
  const walls = position.walls.length ? `Walls ${position.walls.join(' ')}` : 'No walls';
  const turn = position.winner ? `${position.winner} has won` : `${position.turn} to move`;
  return `Quoridor board. ${side('white')}. ${side('black')}. ${walls}. ${turn}.`;
}

/** One side's line beside the board: to move or not, steps to go, walls in hand. */
function drawPlayer(container, side, position) {
  if (!container.firstChild) {
    container.append(el('span', { class: 'p-disc' }), el('b'), el('span', { class: 'quiet p-state' }), el('span', { class: 'p-walls quiet num' }),
      el('span', { class: 'p-bars', 'aria-hidden': 'true' }, ...Array.from({ length: 10 }, () => el('i'))));
  }
  const [disc, name, state, walls, bars] = container.children;
  const { distance, walls_left: left } = position[side];
  setAttributes(disc, { class: `p-disc ${side}` });
  setText(name, sideName(side));
  const steps = `${distance} to go`;
  setText(state, position.winner === side ? 'has won' : position.winner ? '' : position.turn === side ? `to move · ${steps}` : steps);
  setText(walls, plural(left, 'wall'));
  [...bars.children].forEach((bar, index) => setAttributes(bar, { class: index < left ? 'in-hand' : null }));
  setAttributes(container, { 'data-side': side, class: position.turn === side && !position.winner ? 'player to-move' : 'player' });
}

const { early } = window;
early?.position.then(({ answer }) => {
  if (answer && early.whole && !drawn) drawPosition(answer, null, { rootMove: null, after: null, line: [] }, early.flipped);
});
