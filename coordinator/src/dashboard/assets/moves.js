// What a move does to a picture of the board. No rules: a move is taken as it comes from the server; this only draws
// what it says.

import { isWall } from './geometry.js';

/** @typedef {'white'|'black'} Side */

export const other = (side) => (side === 'white' ? 'black' : 'white');

/**
 * The moves of a line with who makes each, as ghosts.
 * @param {string[]} line
 * @param {Side} turn who makes the first
 * @returns {{move: string, side: Side, ply: number}[]} ply counts from 1
 */
export function ghostsOf(line, turn) {
  let side = turn;
  return line.map((move, index) => {
    const ghost = { move, side, ply: index + 1 };
    side = other(side);
    return ghost;
  });
}

/** `e3` as `pawn to e3`, `e3h` as `horizontal wall e3h`. */
export function moveInWords(move) {
  if (!isWall(move)) return `pawn to ${move}`;
  return `${move[2] === 'h' ? 'horizontal' : 'vertical'} wall ${move}`;
}
