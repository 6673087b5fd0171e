// The board's picture and what a pointer or the keyboard does to it. It draws what it is told and reports which move is
// pointed at or chosen; it knows no rules and nothing of analyses.

import { keyed, setAttributes, setText, svg } from './dom.js';
import {
  BOARD, FILES, HEIGHT, LEFT, SLOTS, SQUARE, SQUARES, TOP, WIDTH, cell, isWall, middle, squareAt, squareIndex, squareName,
  wallBar, wallZones,
} from './geometry.js';
import { tint } from './heat.js';

/** Breadth of the zones in which a pointer means a wall: a finger needs more than a mouse. */
const ZONE = matchMedia('(pointer: coarse)').matches ? 28 : 20;
/** A wall that could be placed is drawn shorter than it is, so that neighbours can be told apart. */
const SLOT_LONG = 38;
const SLOT_BROAD = 8;
/** Steps of the keyboard's cursor, over squares and the gaps between them. */
const STEPS = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * @typedef {object} Scene what the board shows
 * @property {import('./api.js').Position} position
 * @property {number[]|null} heat cm of 81 squares, or null for none
 * @property {boolean} numbers whether the cm stand on the squares
 * @property {boolean[]} reachable
 * @property {Map<string, 'out'|'skip'>|null} slots legal walls that are searched or skipped, or null for none
 * @property {{move: string, side: 'white'|'black', ply: number}[]} ghosts a line that has not been played
 * @property {string|null} best the best move
 */

export class Board {
  #flipped = false;
  /** @type {Scene|null} */
  #scene = null;
  #pointed = null;
  #tapped = null;
  /** The cursor on the lattice of squares (even, even) and gaps (one odd). */
  #cursor = [0, 8];
  #handlers;

  /**
   * @param {Element} container
   * @param {{play: (move: string) => void, point: (move: string|null, by: 'pointer'|'touch'|'keyboard') => void, leave: () => void}} handlers
   */
  constructor(container, handlers) {
    this.#handlers = handlers;
    const layer = (name, attributes = {}) => svg('g', { class: name, ...attributes });
    this.root = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, id: 'board-svg', role: 'group', 'aria-label': 'Quoridor board',
      'data-testid': 'board-svg' });
    this.labels = layer('labels', { 'aria-hidden': 'true' });
    this.squares = layer('squares');
    this.numbers = layer('numbers', { 'aria-hidden': 'true' });
    this.marks = layer('marks');
    this.slots = layer('slots');
    this.walls = layer('walls', { 'data-testid': 'walls' });
    this.targets = layer('targets');
    this.best = layer('best-layer', { 'data-testid': 'best-move' });
    this.pawns = layer('pawns');
    this.ghosts = layer('ghosts', { 'data-testid': 'ghosts' });
    this.zones = layer('zones');
    this.preview = svg('rect', { class: 'preview', rx: 3, visibility: 'hidden', 'data-testid': 'wall-preview' });
    this.cursor = svg('g', { id: 'board-cursor', class: 'cursor', tabindex: 0, role: 'button', 'data-testid': 'board-cursor' },
      svg('rect', { rx: 7 }));
    const head = svg('marker', { id: 'arrow-head', viewBox: '0 0 10 10', refX: 6, refY: 5, markerWidth: 3.4, markerHeight: 3.4,
      orient: 'auto' }, svg('path', { d: 'M0 0 10 5 0 10z', class: 'arrow-head' }));
    this.root.append(
      svg('defs', {}, head),
      svg('rect', { class: 'frame', x: LEFT, y: TOP, width: BOARD, height: BOARD, rx: 10 }),
      this.labels, this.squares, this.marks, this.numbers, this.slots, this.walls, this.targets, this.best, this.pawns, this.ghosts,
      this.preview, this.zones, this.cursor,
    );
    this.#build();
    this.#place();
    this.#listen();
    container.append(this.root);
  }

  /** Turns the picture round; nothing else changes. */
  flip(flipped) {
    if (flipped === this.#flipped) return;
    this.#flipped = flipped;
    this.#place();
    if (this.#scene) this.draw(this.#scene);
  }

  /** Puts the keyboard's focus on the board. */
  focus() {
    this.cursor.focus();
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.#scene = scene;
    this.#drawSquares(scene);
    this.#drawSlots(scene);
    this.#drawWalls(scene.position);
    this.#drawTargets(scene.position);
    this.#drawPawns(scene);
    this.#drawLastMove(scene.position);
    this.#drawGhosts(scene.ghosts);
    this.#drawBest(scene);
    this.#drawPreview();
  }

  #build() {
    for (const file of FILES) this.labels.append(svg('text', { class: 'co' }, file));
    for (let rank = 1; rank <= 9; rank += 1) this.labels.append(svg('text', { class: 'co' }, String(rank)));
    for (const name of SQUARES) {
      this.squares.append(svg('rect', { class: 'sq', width: SQUARE, height: SQUARE, rx: 6, 'data-move': name, 'data-testid': `square-${name}` }));
      this.numbers.append(svg('text', { class: 'cm' }));
    }
    for (const slot of SLOTS) {
      this.slots.append(svg('rect', { rx: 4, visibility: 'hidden', 'data-slot': slot }));
      wallZones(slot, false, ZONE).forEach((_, arm) => {
        this.zones.append(svg('rect', { 'data-move': slot, 'data-testid': arm === 0 ? `slot-${slot}` : null }));
      });
    }
    for (const side of ['white', 'black']) {
      this.pawns.append(svg('circle', { class: side, r: 17, 'data-testid': `pawn-${side}` }), svg('text', { class: `cm on${side}` }));
    }
  }

  /** Puts everything that never moves where the side at the bottom wants it. */
  #place() {
    const flipped = this.#flipped;
    [...FILES].forEach((file, index) => {
      const { x } = middle(`${file}1`, flipped);
      setAttributes(this.labels.children[index], { x, y: TOP + BOARD + 17 });
    });
    for (let row = 0; row < 9; row += 1) {
      const { y } = middle(squareName(row, 0), flipped);
      setAttributes(this.labels.children[9 + row], { x: LEFT - 12, y: y + 5 });
    }
    SQUARES.forEach((name, index) => {
      setAttributes(this.squares.children[index], squareAt(name, flipped));
      const { x, y } = middle(name, flipped);
      setAttributes(this.numbers.children[index], { x, y: y + 4 });
    });
    let zone = this.zones.firstElementChild;
    SLOTS.forEach((slot, index) => {
      setAttributes(this.slots.children[index], wallBar(slot, flipped, SLOT_LONG, SLOT_BROAD));
      for (const place of wallZones(slot, flipped, ZONE)) {
        setAttributes(zone, place);
        zone = zone.nextElementSibling;
      }
    });
    this.#placeCursor();
  }

  #drawSquares({ position, heat, numbers, reachable }) {
    const taken = [position.white.pawn, position.black.pawn];
    SQUARES.forEach((name, index) => {
      const sealed = heat !== null && !reachable[index];
      const heatCm = heat && !sealed ? heat[index] : 0;
      const colour = heatCm ? tint(heatCm) : null;
      const square = this.squares.children[index];
      setAttributes(square, { class: sealed ? 'sq void' : 'sq', 'data-heat': heat ? heatCm : null });
      const fill = colour ?? '';
      if (square.dataset.fill !== fill) {
        square.dataset.fill = fill;
        square.style.fill = fill;
      }
      const text = this.numbers.children[index];
      setText(text, numbers && heatCm > 0 && !taken.includes(name) ? heatCm : '');
      setAttributes(text, { class: colour ? 'cm warm' : 'cm cold' });
    });
  }

  #drawSlots({ slots }) {
    SLOTS.forEach((slot, index) => {
      const kind = slots?.get(slot);
      setAttributes(this.slots.children[index], { class: kind ?? null, visibility: kind ? null : 'hidden' });
    });
  }

  #drawWalls(position) {
    keyed(this.walls, position.walls, (wall) => wall,
      (wall) => svg('rect', { class: 'wall', rx: 3, 'data-testid': `wall-${wall}` }),
      (node, wall) => setAttributes(node, wallBar(wall, this.#flipped)));
  }

  #drawTargets(position) {
    keyed(this.targets, position.pawn_moves, (move) => move,
      (move) => svg('circle', { class: 'target', r: 19, 'data-testid': `target-${move}` }),
      (node, move) => {
        const { x, y } = middle(move, this.#flipped);
        setAttributes(node, { cx: x, cy: y });
      });
  }

  #drawPawns({ position, heat, numbers }) {
    ['white', 'black'].forEach((side, index) => {
      const [circle, text] = [this.pawns.children[2 * index], this.pawns.children[2 * index + 1]];
      const square = position[side].pawn;
      const { x, y } = middle(square, this.#flipped);
      setAttributes(circle, { cx: x, cy: y, 'data-square': square, class: position.turn === side && !position.winner ? `${side} turn` : side });
      const heatCm = heat && numbers ? heat[squareIndex(square)] : 0;
      setText(text, heatCm > 0 ? heatCm : '');
      setAttributes(text, { x, y: y + 4 });
    });
  }

  #drawLastMove(position) {
    const move = position.last_move;
    keyed(this.marks, move && !isWall(move) ? [move] : [], () => 'last',
      () => svg('rect', { class: 'last', width: SQUARE, height: SQUARE, rx: 6 }),
      (node) => setAttributes(node, squareAt(move, this.#flipped)));
    for (const wall of this.walls.children) wall.classList.toggle('latest', wall.dataset.key === move);
  }

  #drawGhosts(ghosts) {
    keyed(this.ghosts, ghosts, ({ move, ply }) => `${ply} ${move}`,
      ({ move, side, ply }) => {
        const shape = isWall(move) ? svg('rect', { rx: 3 }) : svg('circle', { r: 15 });
        return svg('g', { class: `ghost ${isWall(move) ? 'ghost-wall' : 'ghost-pawn'} ${side}`, 'data-move-ghost': move }, shape,
          svg('circle', { class: 'ply-plate', r: 7.5 }), svg('text', { class: 'ply' }, String(ply)));
      },
      (node, { move }) => {
        const [shape, plate, text] = node.children;
        const { x, y } = middle(move, this.#flipped);
        if (isWall(move)) setAttributes(shape, wallBar(move, this.#flipped));
        else setAttributes(shape, { cx: x, cy: y });
        setAttributes(plate, { cx: x, cy: y, visibility: isWall(move) ? null : 'hidden' });
        setAttributes(text, { x, y: y + 4 });
      });
  }

  #drawBest({ best, position, ghosts }) {
    // A line that is being looked at says more than the arrow, and would be hidden by it.
    const shown = best && ghosts.length === 0 ? [best] : [];
    keyed(this.best, shown, (move) => `${position[position.turn].pawn} ${move}`,
      (move) => isWall(move)
        ? svg('rect', { class: 'best-wall', rx: 3, 'data-move-best': move })
        : svg('line', { class: 'best-arrow', 'marker-end': 'url(#arrow-head)', 'data-move-best': move }),
      (node, move) => {
        if (isWall(move)) {
          setAttributes(node, wallBar(move, this.#flipped));
          return;
        }
        const from = middle(position[position.turn].pawn, this.#flipped);
        const to = middle(move, this.#flipped);
        const length = Math.hypot(to.x - from.x, to.y - from.y);
        const along = (distance) => ({ x: from.x + ((to.x - from.x) * distance) / length, y: from.y + ((to.y - from.y) * distance) / length });
        const [tail, head] = [along(19), along(length - 8)];
        setAttributes(node, { x1: tail.x, y1: tail.y, x2: head.x, y2: head.y });
      });
  }

  #drawPreview() {
    const move = this.#pointed;
    const position = this.#scene?.position;
    // A wall that was just placed is still pointed at, and needs no preview.
    const wall = Boolean(move && position && isWall(move) && !position.walls.includes(move));
    setAttributes(this.preview, { visibility: wall ? null : 'hidden' });
    for (const target of this.targets.children) target.classList.toggle('aimed', target.dataset.key === move);
    if (!wall) return;
    const legal = !(move in position.illegal_walls);
    setAttributes(this.preview, { ...wallBar(move, this.#flipped), class: legal ? 'preview' : 'preview illegal', 'data-move-preview': move });
  }

  #point(move, by) {
    if (move === this.#pointed) return;
    this.#pointed = move;
    this.#drawPreview();
    this.#handlers.point(move, by);
  }

  #listen() {
    const moveOf = (event) => event.target.dataset?.move ?? null;
    this.root.addEventListener('pointerover', (event) => {
      if (event.pointerType !== 'touch') this.#point(moveOf(event), 'pointer');
    });
    this.root.addEventListener('pointerleave', (event) => {
      if (event.pointerType !== 'touch') this.#point(null, 'pointer');
    });
    this.root.addEventListener('click', (event) => {
      const move = moveOf(event);
      if (!move) return;
      // A finger cannot hover and is broader than a gap: the first tap shows the wall, the second places it.
      if (event.pointerType === 'touch' && isWall(move) && this.#tapped !== move) {
        this.#tapped = move;
        this.#point(move, 'touch');
        return;
      }
      this.#tapped = null;
      this.#handlers.play(move);
    });
    this.cursor.addEventListener('keydown', (event) => this.#key(event));
    this.cursor.addEventListener('focus', () => this.#point(this.#cursorMove(), 'keyboard'));
    this.cursor.addEventListener('blur', () => this.#point(null, 'keyboard'));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      this.#walk(step, event.shiftKey);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.#handlers.play(this.#cursorMove());
    } else if (event.key === 'Escape') {
      this.#handlers.leave();
    } else {
      return;
    }
    // The page's own keys use arrows and the space bar, too.
    event.preventDefault();
    event.stopPropagation();
  }

  /** One step on the lattice, in the direction that the reader sees. */
  #walk([up, right], whole) {
    const sign = this.#flipped ? -1 : 1;
    const [row, column] = this.#cursor;
    const [inRowGap, inColumnGap] = [row % 2 === 1, column % 2 === 1];
    // Along a gap every second point is a crossing, where no wall has its name: those are left out.
    const alongGap = (up !== 0 && inColumnGap) || (right !== 0 && inRowGap);
    const size = sign * (whole || alongGap ? 2 : 1);
    const next = [row + up * size, column + right * size];
    if (next.some((place) => place < 0 || place > 16)) return;
    this.#cursor = next;
    this.#placeCursor();
    this.#point(this.#cursorMove(), 'keyboard');
  }

  #cursorMove() {
    const [row, column] = this.#cursor;
    if (row % 2 === 1) return `${squareName((row - 1) / 2, Math.min(column / 2, 7))}h`;
    if (column % 2 === 1) return `${squareName(Math.min(row / 2, 7), (column - 1) / 2)}v`;
    return squareName(row / 2, column / 2);
  }

  #placeCursor() {
    const move = this.#cursorMove();
    const [row, column] = cell(move);
    const square = squareAt(squareName(row, column), this.#flipped);
    const place = isWall(move) ? wallBar(move, this.#flipped) : { ...square, width: SQUARE, height: SQUARE };
    setAttributes(this.cursor.firstChild, { x: place.x - 3, y: place.y - 3, width: place.width + 6, height: place.height + 6 });
    setAttributes(this.cursor, { 'aria-label': `Play ${move}` });
  }
}
