// The table of candidate moves. Values change at once; the order changes at most once a second, with a glide, and not
// at all while a pointer or the focus is in the table. Rows have a fixed height, so a glide needs no measuring. Rows that
// are scrolled out of sight follow once a second: most of a long table's cost would be theirs.

import { byId, el, motionAllowed, setAttributes, setText, show } from './dom.js';
import { boundSign, boundedText, grouped, leaning, plural, scoreShort, scoreText, short } from './format.js';
import { tint } from './heat.js';
import { moveInWords } from './moves.js';
import { stayers } from './order.js';

const REORDER_MS = 1000;
/** When so many rows move at once nobody can follow them: they do not glide, and the next time comes later. */
const CHURN_ROWS = 20;
const CHURN_MS = 2000;
const GLIDE_MS = 260;
/** How often rows out of sight are brought up to date. */
const REFRESH_MS = 1000;
/** Heat at which the bar is full. */
const FULL_BAR_CM = 480;

/** Longest name of a worker in the table. */
const WORKER_CHARS = 14;

const cut = (text, chars) => (text.length > chars ? `${text.slice(0, chars - 1)}…` : text);

const COLUMNS = ['Move', 'Score', 'Depth', 'Nodes', 'Heat', 'Worker', 'Line'];

/**
 * @typedef {object} CandidateHandlers
 * @property {(row: object|null) => void} look a row is pointed at or focused; null: none any more
 * @property {(move: string) => void} choose a row is chosen, to show the heat after its move
 * @property {(move: string) => void} play
 * @property {() => void} scrolled the table wants to be drawn
 */

export class Candidates {
  /** @type {Map<string, {node: Element, cells: object, row: object, drawn: string}>} */
  #rows = new Map();
  /** @type {string[]} moves in the order on the page */
  #order = [];
  #reorderedAt = 0;
  #pace = REORDER_MS;
  #timer = 0;
  #pointerInside = false;
  #focusInside = false;
  /** Places of the first and the last row in sight, and a row's height in px. */
  #sight = { first: 0, last: Infinity, height: 30 };
  #refreshedAt = 0;
  /** The one row that Tab reaches. */
  #reachable = null;
  #wanted = [];
  #handlers;

  /** @param {CandidateHandlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    const head = el('div', { role: 'row', class: 'c-row c-head' },
      ...COLUMNS.map((name) => el('div', { role: 'columnheader', class: `c-${name.toLowerCase()}` }, name)));
    this.body = el('div', { role: 'rowgroup', class: 'c-body' });
    this.scroller = el('div', { class: 'c-scroll' },
      el('div', { role: 'grid', 'aria-labelledby': 'candidates-title', class: 'c-grid' }, el('div', { role: 'rowgroup' }, head), this.body));
    byId('candidates').append(this.scroller);
    this.#listen();
  }

  /** Whether the order is held. */
  get frozen() {
    return this.#pointerInside || this.#focusInside;
  }

  /** Puts the focus on the row that was focused last, or the first. */
  focus() {
    this.#rows.get(this.#reachable)?.node.focus();
  }

  /**
   * @param {object[]} rows sorted
   * @param {Map<string, string[]>} holders names of the workers that have a move now
   * @param {string|null} chosen the move whose heat is shown
   */
  draw(rows, holders, chosen) {
    this.#wanted = rows.map(({ move }) => move);
    const present = new Set(this.#wanted);
    for (const [move, { node }] of this.#rows) {
      if (present.has(move)) continue;
      node.remove();
      this.#rows.delete(move);
    }
    this.#order = this.#order.filter((move) => present.has(move));
    const now = performance.now();
    const all = now - this.#refreshedAt > REFRESH_MS;
    if (all) this.#refreshedAt = now;
    const inSight = new Set(this.#order.slice(this.#sight.first, this.#sight.last + 1));
    for (const row of rows) {
      let entry = this.#rows.get(row.move);
      if (!entry) {
        entry = this.#create(row);
        this.#rows.set(row.move, entry);
        this.#order.push(row.move);
        this.body.append(entry.node);
      }
      entry.row = row;
      if (!all && !inSight.has(row.move) && entry.drawn) continue;
      // Most rows did not change since they were drawn last.
      const held = holders.get(row.move)?.join(', ') ?? '';
      const drawn = `${row.seq} ${held} ${row.move === chosen}`;
      if (entry.drawn === drawn) continue;
      entry.drawn = drawn;
      this.#update(entry, held, row.move === chosen);
    }
    if (!this.#rows.has(this.#reachable)) this.#reach(this.#wanted[0] ?? null);
    setText(byId('candidates-count'), rows.length ? plural(rows.length, 'move') : '');
    this.#reorderSoon();
  }

  #create(row) {
    const cells = {
      move: el('b'),
      bound: el('span', { class: 'bound' }),
      score: el('span'),
      depth: el('div', { role: 'gridcell' }),
      nodes: el('div', { role: 'gridcell' }),
      heat: el('span'),
      bar: el('i', { class: 'heat-bar-fill' }),
      worker: el('div', { role: 'gridcell', class: 'c-worker' }),
      line: el('div', { role: 'gridcell', class: 'c-line' }),
    };
    const node = el('div', { role: 'row', class: 'c-row', tabindex: -1, 'data-move': row.move, 'data-testid': `row-${row.move}` },
      el('div', { role: 'gridcell' }, cells.move),
      el('div', { role: 'gridcell', class: 'c-score' }, cells.bound, cells.score),
      cells.depth, cells.nodes,
      el('div', { role: 'gridcell', class: 'c-heat' }, cells.heat, el('span', { class: 'heat-bar-track' }, cells.bar)),
      cells.worker, cells.line);
    setText(cells.move, row.move);
    setText(cells.heat, row.heat_cm);
    cells.bar.style.width = `${Math.min(100, (100 * row.heat_cm) / FULL_BAR_CM)}%`;
    cells.bar.style.background = tint(row.heat_cm) ?? 'var(--faint)';
    setAttributes(node, { title: `${moveInWords(row.move)}: ${row.heat_cm} cm, searched (${row.reason})` });
    return { node, cells, row, drawn: '' };
  }

  #update({ node, cells, row }, held, chosen) {
    const searched = row.score_white !== null;
    setText(cells.bound, searched && row.bound !== 'exact' ? boundSign(row.bound) : '');
    setText(cells.score, searched ? scoreShort(row.score_white) : '');
    setAttributes(cells.score, {
      class: searched ? leaning(row.score_white) : null,
      'aria-label': null,
      title: searched && row.score_white.cm === undefined ? boundedText(row.score_white, row.bound) : null,
    });
    setText(cells.depth, row.depth || '');
    setText(cells.nodes, searched ? short(row.nodes) : '');
    // Cut here and not by the style sheet, which would have to clip each cell.
    setText(cells.worker, cut(held || row.worker, WORKER_CHARS));
    setAttributes(cells.worker, { title: held || row.worker });
    setText(cells.line, row.pv.slice(1).join(' '));
    setAttributes(node, {
      'aria-selected': String(chosen),
      class: `c-row${held ? ' held' : ''}${row.bound === 'exact' && searched ? ' exact' : ''}${searched ? '' : ' unsearched'}`,
    });
  }

  #reorderSoon() {
    show(byId('frozen'), this.frozen && this.#rows.size > 0);
    if (this.frozen || this.#timer) return;
    const wait = this.#reorderedAt + this.#pace - performance.now();
    if (wait <= 0) {
      this.#reorder();
    } else {
      this.#timer = setTimeout(() => {
        this.#timer = 0;
        if (!this.frozen) this.#reorder();
      }, wait);
    }
  }

  #reorder() {
    const before = new Map(this.#order.map((move, index) => [move, index]));
    if (this.#wanted.every((move, index) => before.get(move) === index)) return;
    this.#reorderedAt = performance.now();
    const stay = stayers(this.#wanted.map((move) => before.get(move)));
    const churn = this.#wanted.length - stay.size > CHURN_ROWS;
    this.#pace = churn ? CHURN_MS : REORDER_MS;
    let after = null;
    this.#wanted.forEach((move, index) => {
      const { node } = this.#rows.get(move);
      if (!stay.has(index)) this.body.insertBefore(node, after ? after.nextSibling : this.body.firstChild);
      after = node;
    });
    this.#order = [...this.#wanted];
    if (!churn && motionAllowed() && !document.hidden) this.#glide(before);
  }

  /** Moves rows from where they were to where they are; only those that are in sight at either end. */
  #glide(before) {
    const { first, last, height } = this.#sight;
    const inSight = (index) => index >= first && index <= last;
    this.#order.forEach((move, index) => {
      const from = before.get(move);
      if (from === index || !(inSight(from) || inSight(index))) return;
      const { node } = this.#rows.get(move);
      node.animate([{ transform: `translateY(${(from - index) * height}px)` }, { transform: 'none' }],
        { duration: GLIDE_MS, easing: 'cubic-bezier(.2,.7,.3,1)' });
    });
  }

  #reach(move) {
    const old = this.#rows.get(this.#reachable);
    if (old) setAttributes(old.node, { tabindex: -1 });
    this.#reachable = move;
    const now = this.#rows.get(move);
    if (now) setAttributes(now.node, { tabindex: 0 });
  }

  /** Notes which rows are in sight; asked for when that may have changed, since the answer costs a layout. */
  #look() {
    const height = this.body.firstElementChild?.offsetHeight || 30;
    const first = Math.floor(this.scroller.scrollTop / height);
    this.#sight = { first, last: first + Math.ceil(this.scroller.clientHeight / height), height };
    // What comes into sight must not be old.
    this.#refreshedAt = 0;
    this.#handlers.scrolled();
  }

  #listen() {
    new ResizeObserver(() => this.#look()).observe(this.scroller);
    this.scroller.addEventListener('scroll', () => this.#look(), { passive: true });
    const rowOf = (event) => this.#rows.get(event.target.closest?.('.c-body .c-row')?.dataset.move);
    const { scroller, body } = this;
    scroller.addEventListener('pointerenter', () => {
      this.#pointerInside = true;
      this.#reorderSoon();
    });
    scroller.addEventListener('pointerleave', () => {
      this.#pointerInside = false;
      this.#handlers.look(this.#focusInside ? this.#rows.get(this.#reachable)?.row ?? null : null);
      this.#reorderSoon();
    });
    body.addEventListener('pointerover', (event) => {
      const entry = rowOf(event);
      if (entry) this.#handlers.look(entry.row);
    });
    body.addEventListener('focusin', (event) => {
      const entry = rowOf(event);
      if (!entry) return;
      this.#reach(entry.row.move);
      // A click leaves the focus behind when the pointer goes: that must not hold the order for ever.
      if (!event.target.matches(':focus-visible')) return;
      this.#focusInside = true;
      this.#handlers.look(entry.row);
      this.#reorderSoon();
    });
    body.addEventListener('focusout', (event) => {
      if (body.contains(event.relatedTarget)) return;
      this.#focusInside = false;
      if (!this.#pointerInside) this.#handlers.look(null);
      this.#reorderSoon();
    });
    body.addEventListener('click', (event) => {
      const entry = rowOf(event);
      // The second click of a double click must not take the choice back.
      if (entry && event.detail < 2) this.#handlers.choose(entry.row.move);
    });
    body.addEventListener('dblclick', (event) => {
      const entry = rowOf(event);
      if (entry) this.#handlers.play(entry.row.move);
    });
    body.addEventListener('keydown', (event) => this.#key(event, rowOf(event)));
  }

  #key(event, entry) {
    if (!entry || event.ctrlKey || event.metaKey || event.altKey) return;
    const { move } = entry.row;
    const index = this.#order.indexOf(move);
    const focusAt = (place) => this.#rows.get(this.#order[Math.max(0, Math.min(this.#order.length - 1, place))])?.node.focus();
    const keys = {
      ArrowDown: () => focusAt(index + 1),
      ArrowUp: () => focusAt(index - 1),
      PageDown: () => focusAt(index + 10),
      PageUp: () => focusAt(index - 10),
      Enter: () => this.#handlers.choose(move),
      p: () => this.#handlers.play(move),
      Escape: () => document.activeElement.blur(),
    };
    const act = keys[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * The moves that were not searched, by reason, with the audit's verdicts.
 * @param {{move: string, heat_cm: number, reason: string}[]} pruned
 * @param {Map<string, {score_white: object, miss: boolean}>} audits
 */
export function drawPruned(pruned, audits) {
  show(byId('pruned'), pruned.length > 0);
  const misses = [...audits.values()].filter(({ miss }) => miss).length;
  const verdict = audits.size ? `, ${audits.size} audited, ${plural(misses, 'miss', 'misses')}` : '';
  setText(byId('pruned-title'), `${plural(pruned.length, 'move')} not searched${verdict}`);
  const list = byId('pruned-list');
  // Built anew only when something came: the list stands still during a search.
  const mark = `${pruned.length} ${pruned[0]?.move} ${audits.size}`;
  if (list.dataset.mark === mark) return;
  list.dataset.mark = mark;
  const groups = Map.groupBy(pruned, ({ reason }) => reason);
  list.replaceChildren(...[...groups].map(([reason, moves]) => el('div', {},
    el('h4', {}, `${reason} `, el('span', { class: 'quiet' }, String(moves.length))),
    el('ul', {}, ...[...moves].sort((a, b) => b.heat_cm - a.heat_cm).map(({ move, heat_cm }) => {
      const audit = audits.get(move);
      return el('li', { 'data-testid': `pruned-${move}`, class: audit?.miss ? 'miss' : null },
        el('b', {}, move), ` ${grouped(heat_cm)} cm`,
        audit ? ` ${audit.miss ? 'missed' : 'checked'} ${scoreText(audit.score_white)}` : '');
    })))));
}
