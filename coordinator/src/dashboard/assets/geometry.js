// Where squares, gaps and walls lie on the board's picture, in the units of its viewBox. The same measures as in the
// pictures of `corridor heat --svg`.

export const SQUARE = 46;
const GAP = 10;
const PITCH = SQUARE + GAP;
const FRAME = 14;
export const LEFT = 24;
export const TOP = 2;
export const BOARD = 9 * SQUARE + 8 * GAP + 2 * FRAME;
export const WIDTH = LEFT + BOARD + 2;
export const HEIGHT = TOP + BOARD + 24;

export const FILES = 'abcdefghi';

/** @param {string} name `e3` or `e3h` @returns {[number, number]} row and column, 0..8 */
export const cell = (name) => [Number(name[1]) - 1, FILES.indexOf(name[0])];

/** @returns {string} the square's name */
export const squareName = (row, column) => `${FILES[column]}${row + 1}`;

/** @returns {number} the square's place in arrays of 81, row by row from a1 */
export const squareIndex = (name) => {
  const [row, column] = cell(name);
  return row * 9 + column;
};

/** All 81 squares in that order. */
export const SQUARES = Array.from({ length: 81 }, (_, index) => squareName(Math.floor(index / 9), index % 9));

/** All 128 wall slots. */
export const SLOTS = ['h', 'v'].flatMap((way) =>
  Array.from({ length: 64 }, (_, index) => squareName(Math.floor(index / 8), index % 8) + way));

export const isWall = (move) => move.length === 3;

/** Upper left corner of the square at (row, column). Halves are allowed: they lie in the gaps. */
function corner(row, column, flipped) {
  const [across, down] = flipped ? [8 - column, row] : [column, 8 - row];
  return [LEFT + FRAME + across * PITCH, TOP + FRAME + down * PITCH];
}

/** @returns {{x: number, y: number}} a square's upper left corner */
export function squareAt(name, flipped) {
  const [x, y] = corner(...cell(name), flipped);
  return { x, y };
}

/** @returns {{x: number, y: number}} the middle of a square, or of a wall */
export function middle(move, flipped) {
  const [row, column] = cell(move);
  const [x, y] = isWall(move) ? corner(row + 0.5, column + 0.5, flipped) : corner(row, column, flipped);
  return { x: x + SQUARE / 2, y: y + SQUARE / 2 };
}

/** The rectangle of so long and so broad a bar along a wall, round the wall's middle. */
export function wallBar(wall, flipped, long = 2 * SQUARE + GAP, broad = GAP - 2) {
  const { x, y } = middle(wall, flipped);
  const [width, height] = wall[2] === 'h' ? [long, broad] : [broad, long];
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/**
 * Where a pointer means a wall: the gap round its middle, half a square to either side, to the board's edge for the
 * outermost. A vertical slot leaves the crossing of the gaps to the horizontal one, so it has two arms.
 * @param {number} broad breadth of the zone: more for fingers than for a mouse
 * @returns {{x: number, y: number, width: number, height: number}[]}
 */
export function wallZones(wall, flipped, broad) {
  const { x, y } = middle(wall, flipped);
  const [row, column] = cell(wall);
  const half = PITCH / 2;
  if (wall[2] === 'h') {
    // The outermost slots also cover the half squares that have no slot of their own.
    const low = half + (column === 0 ? half : 0);
    const high = half + (column === 7 ? half : 0);
    const [left, right] = flipped ? [high, low] : [low, high];
    return [{ x: x - left, y: y - broad / 2, width: left + right, height: broad }];
  }
  const low = half + (row === 0 ? half : 0) - broad / 2;
  const high = half + (row === 7 ? half : 0) - broad / 2;
  const [up, down] = flipped ? [low, high] : [high, low];
  return [
    { x: x - broad / 2, y: y - broad / 2 - up, width: broad, height: up },
    { x: x - broad / 2, y: y + broad / 2, width: broad, height: down },
  ];
}
