// What lies over the board: which heat, which walls are searched, whose ghosts, which best move, and the line of text
// that explains what is pointed at.

import { SQUARES, isWall, squareIndex } from './geometry.js';
import { choice } from './heat.js';
import { sideName } from './format.js';
import { ghostsOf } from './moves.js';

/**
 * @typedef {object} View what the reader looks at
 * @property {string|null} rootMove the candidate whose heat is shown
 * @property {import('./api.js').Position|null} after the position after it, once it has come
 * @property {string[]} line moves from the board's position that are shown as ghosts
 */

/**
 * @param {import('./api.js').Position} position on the board
 * @param {object|null} picture of the analysis, if it is of this position
 * @param {View} view
 * @returns {{scene: import('./board.js').Scene, heatKnown: boolean}}
 */
export function compose(position, picture, view) {
  const { rootMove, after } = view;
  const heat = choice.who === 'off' ? null : heatOf(position, picture, view);
  const cat = rootMove ? after?.cat : position.cat;
  const ghosts = view.line.length > 0 ? view.line : rootMove ? [rootMove] : [];
  const best = picture ? picture.done?.best_move ?? picture.iterations.at(-1)?.best_move ?? null : null;
  return {
    heatKnown: heat !== null,
    scene: {
      position,
      heat,
      numbers: choice.numbers,
      reachable: cat?.reachable ?? position.cat.reachable,
      slots: choice.who !== 'off' && choice.walls && !rootMove ? slotsOf(position, picture) : null,
      ghosts: ghostsOf(ghosts, position.turn),
      best,
    },
  };
}

/** The heat of the choice, or null if it has not come yet. */
function heatOf(position, picture, { rootMove, after }) {
  if (!rootMove) return choice.who === 'both' ? position.cat[choice.table] : position.cat[choice.who];
  // The stream has the heat of both; that of one player alone is the server's answer for the position after the move.
  if (choice.who === 'both') return picture?.heats.get(rootMove)?.[choice.table] ?? null;
  return after?.cat[choice.who] ?? null;
}

/** Whether a legal wall is searched: by the analysis if there is one of this position, otherwise by its heat. */
function verdictOn(wall, position, picture) {
  const row = picture?.rows.get(wall);
  if (row) return { searched: true, reason: row.reason };
  const pruned = picture?.pruned.find(({ move }) => move === wall);
  if (pruned) return { searched: false, reason: pruned.reason };
  return position.cat.walls[wall] ?? null;
}

function slotsOf(position, picture) {
  const pruned = new Set(picture?.pruned.map(({ move }) => move));
  const slots = new Map();
  for (const wall of position.legal_walls) {
    const searched = picture?.rows.has(wall) || (!pruned.has(wall) && position.cat.walls[wall]?.searched);
    slots.set(wall, searched ? 'out' : 'skip');
  }
  return slots;
}

/**
 * What is to be said of the square or wall that is pointed at.
 * @param {string|null} move
 * @param {import('./api.js').Position} position
 * @param {object|null} picture
 * @param {boolean} tapped whether a second tap plays it
 * @returns {{text: string, illegal: boolean}}
 */
export function explain(move, position, picture, tapped) {
  const say = (text, illegal = false) => ({ text, illegal });
  if (!move) {
    if (position.winner) return say(`${sideName(position.winner)} has won.`);
    return say(`${sideName(position.turn)} to move. Click a ringed square, or a gap for a wall.`);
  }
  if (!isWall(move)) {
    const { display, search, white, black, reachable } = position.cat;
    const index = squareIndex(move);
    const heat = reachable[index] ? `${display[index]} cm shown, ${search[index]} in the search (White ${white[index]}, Black ${black[index]})` : 'unreachable';
    const can = position.pawn_moves.includes(move) ? `, ${sideName(position.turn)} can move here` : '';
    return say(`${SQUARES[index]}${can}: ${heat}`);
  }
  if (position.walls.includes(move)) return say(`${move} stands.`);
  const reason = position.illegal_walls[move];
  if (reason !== undefined) return say(`${move} is not possible: ${reason}.`, true);
  const wall = position.cat.walls[move];
  const verdict = verdictOn(move, position, picture);
  const bonus = wall?.shape_bonus_cm ? ` + ${wall.shape_bonus_cm} for its shape` : '';
  const heat = wall ? `${wall.heat_cm}${bonus} cm, ` : '';
  const again = tapped ? ' Tap again to place it.' : '';
  return say(`${move}: ${heat}${verdict?.searched ? 'searched' : 'skipped'} (${verdict?.reason ?? 'unknown'}).${again}`);
}
