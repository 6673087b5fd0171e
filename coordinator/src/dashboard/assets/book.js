// The opening books: what a book knows of the position on the board, its moves, and the work that makes it grow.

import * as api from './api.js';
import { byId, el, keyed, setAttributes, setFacts, setText, show } from './dom.js';
import { clearErrors, showError, valueOf } from './fields.js';
import { boundedText, duration, grouped, leaning, plural, scoreText, short } from './format.js';
import { OPEN_STATES, progressOf } from './jobs.js';

const SOURCES = { search: 'its own search', children: 'its moves', rules: 'the rules', none: 'not searched' };

export class Book {
  /** @type {string|null} name of the book that is looked at */
  #name = null;
  #game;
  #asked = 0;
  #handlers;
  /** What of the books' jobs was seen last. */
  #followed = { states: '', done: '' };

  /**
   * @param {import('./game.js').Game} game
   * @param {{play: (move: string) => void, look: (moves: string[]) => void, search: () => void, openJob: (job: number) => void}} handlers
   */
  constructor(game, handlers) {
    this.#game = game;
    this.#handlers = handlers;
    byId('book-name').addEventListener('change', (event) => {
      this.#name = event.target.value;
      this.look();
    });
    byId('book-search').addEventListener('click', () => handlers.search());
    const rows = byId('book-rows');
    const moveOf = (event) => event.target.closest?.('tbody tr')?.dataset.key ?? null;
    rows.addEventListener('click', (event) => {
      const move = moveOf(event);
      if (move) handlers.play(move);
    });
    const point = (event) => handlers.look(moveOf(event) ? [moveOf(event)] : []);
    rows.addEventListener('pointerover', point);
    rows.addEventListener('focusin', point);
    rows.addEventListener('pointerleave', () => handlers.look([]));
    rows.addEventListener('focusout', () => handlers.look([]));
    byId('book-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#work(event.submitter?.value ?? 'analyze');
    });
    byId('book-progress').addEventListener('click', (event) => {
      const job = event.target.closest('[data-job]')?.dataset.job;
      if (job) handlers.openJob(Number(job));
    });
  }

  /** Asks which books there are, and looks at the board's position in the chosen one. */
  async refresh() {
    let books;
    try {
      ({ books } = await api.books());
    } catch (error) {
      setText(byId('book-none'), `The books cannot be read: ${error.message}`);
      show(byId('book-none'), true);
      return;
    }
    const select = byId('book-name');
    const names = books.map(({ book }) => book);
    if (!names.includes(this.#name)) this.#name = names.includes('main') ? 'main' : names[0] ?? null;
    keyed(select, books, ({ book }) => book, ({ book }) => el('option', { value: book }, book), () => {});
    select.hidden = books.length === 0;
    if (this.#name) select.value = this.#name;
    const chosen = books.find(({ book }) => book === this.#name);
    setText(byId('book-text'), chosen
      ? `${plural(chosen.positions, 'position')}, ${grouped(chosen.analysed)} analysed${chosen.stale ? `, ${grouped(chosen.stale)} stale` : ''}`
      : '');
    show(byId('book-work'), books.length > 0);
    await this.look();
  }

  /** Looks the board's position up. */
  async look() {
    this.#asked += 1;
    const asked = this.#asked;
    const { position, moves, start, at } = this.#game;
    if (!position) return;
    if (!this.#name) {
      this.#empty('There is no book yet: corridor book import makes one.');
      return;
    }
    try {
      const node = await api.bookNode(this.#name, { position: start, moves: moves.slice(0, at).join(' ') });
      if (asked !== this.#asked) return;
      if (node.in_book === false) this.#empty(`This position is not in the book ${this.#name}.`);
      else this.#draw(node, position.turn);
    } catch (error) {
      if (asked === this.#asked) this.#empty(error.message);
    }
  }

  #empty(why) {
    setText(byId('book-none'), why);
    show(byId('book-none'), true);
    setFacts(byId('book-facts'), []);
    setText(byId('book-from'), '');
    show(byId('book-rows').parentElement, false);
  }

  #draw(node, turn) {
    show(byId('book-none'), false);
    const backed = node.backed_up_white ? boundedText(node.backed_up_white, node.backed_up_bound) : null;
    const own = node.score_white ? boundedText(node.score_white, node.bound) : null;
    setFacts(byId('book-facts'), [
      ['value', backed ?? own ?? 'not analysed'],
      ['backed up', backed],
      ['own search', own],
      ['depth', node.depth ? String(node.depth) : null],
      ['best', node.best_move ?? null],
      ['nodes', node.nodes ? short(node.nodes) : null],
      ['state', node.stale ? 'stale' : null],
    ]);
    const when = node.analysed_at ? new Date(node.analysed_at).toLocaleString() : null;
    setText(byId('book-from'), node.engine ? `Searched by ${node.engine}${when ? `, ${when}` : ''}${node.stale ? '. Another engine counts now: the value is stale.' : ''}` : '');
    show(byId('book-rows').parentElement, node.rows.length > 0);
    if (node.rows.length === 0) {
      setText(byId('book-none'), 'The book ends here: it has no move of this position.');
      show(byId('book-none'), true);
    }
    keyed(byId('book-rows').tBodies[0], node.rows, ({ move }) => move,
      ({ move }) => el('tr', { 'data-testid': `book-row-${move}` }, el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link' }, move)),
        el('td', { class: 'score' }), el('td'), el('td'), el('td', { class: 'wide' })),
      (row, { move, score_white, bound, depth, nodes, source, from_depth, stale }) => {
        const [head, score, depthCell, nodesCell, from] = row.children;
        setAttributes(head.firstChild, { 'aria-label': `${turn === 'white' ? 'White' : 'Black'} plays ${move}` });
        setText(score, score_white ? boundedText(score_white, bound) : '–');
        setAttributes(score, { class: `score ${leaning(score_white)}` });
        setText(depthCell, depth || '');
        setText(nodesCell, nodes ? short(nodes) : '');
        const depthFrom = from_depth && from_depth !== depth ? ` at depth ${from_depth}` : '';
        setText(from, `${SOURCES[source] ?? source}${depthFrom}${stale ? ', stale' : ''}`);
        row.classList.toggle('stale', Boolean(stale));
      });
  }

  /**
   * Shows how far the books' jobs are, and what has come of them.
   * @param {import('./cluster.js').Cluster} cluster
   */
  drawProgress(cluster) {
    const all = (cluster.picture?.jobs ?? []).filter(({ book }) => book);
    const jobs = all.filter(({ state }) => OPEN_STATES.includes(state));
    keyed(byId('book-progress'), jobs, ({ job }) => job,
      ({ job }) => el('div', { class: 'progress-line', 'data-testid': `book-job-${job}` }, el('button', { type: 'button', class: 'link', 'data-job': job }, `Job ${job}`),
        el('progress', { max: 1, 'aria-label': `Progress of job ${job}` }), el('span', { class: 'quiet num' })),
      (node, job) => {
        const { share, text } = progressOf(job, job.elapsed_ms + (job.state === 'running' ? cluster.age : 0), 0);
        setAttributes(node.children[1], { value: (share ?? 0).toFixed(3) });
        setText(node.children[2], `${job.book.book}: ${job.book.task}, ${text}${job.state === 'running' ? '' : `, ${job.state}`}`);
      });
    this.#follow(all.map(({ job, state }) => `${job} ${state}`).join(), all.map(({ book }) => book.done).join());
  }

  /** Reads the book again when a job has begun or ended, however short it was, and the position while one goes on. */
  #follow(states, done) {
    const before = this.#followed;
    this.#followed = { states, done };
    if (before.states !== states) this.refresh();
    else if (before.done !== done) this.look();
  }

  async #work(task) {
    const form = byId('book-form');
    clearErrors(form);
    const body = {
      depth: valueOf(byId('book-depth')),
      time_ms: valueOf(byId('book-time'), 1000),
      nodes: valueOf(byId('book-nodes')),
      priority: valueOf(byId('book-priority')),
    };
    if (task === 'expand') {
      body.positions = valueOf(byId('book-positions'));
      body.max_cost_cm = valueOf(byId('book-cost'));
      body.stop_after_ms = valueOf(byId('book-stop'), 1000);
      body.side = byId('book-side').value;
    } else if (byId('book-stale').checked) {
      body.stale = true;
    }
    try {
      const { job } = await api.startBookJob(this.#name, task, body);
      this.#handlers.openJob(job);
    } catch (error) {
      showError(form, error, byId('book-error'));
    }
  }
}

/**
 * A book's job in the place of a position's analysis.
 * @param {object|null} book what the analysis knows of it
 * @param {object|null} done the `done` event
 */
export function drawBookJob(book, done) {
  const container = byId('book-job');
  show(container, Boolean(book));
  if (!book) return;
  if (!container.firstChild) container.append(el('p', { class: 'num' }), el('ul', { class: 'records num' }));
  const [text, list] = container.children;
  setText(text, done
    ? `${grouped(done.searched)} searched, ${grouped(done.added)} added, ${grouped(done.failed)} failed, ${grouped(done.left)} left, in ${duration(done.elapsed_ms)} (${done.stopped_by})`
    : `${grouped(book.done)} of ${grouped(book.total ?? 0)} positions`);
  const records = [
    ...book.failed.map(({ position, message, seq }) => ({ seq, text: `${position}: ${message}` })),
    ...book.records.map(({ position, moves, best_move, score_white, depth, seq }) => ({
      seq,
      text: `${moves?.length ? moves.join(' ') : position}: ${best_move ?? 'over'} ${scoreText(score_white)}, depth ${depth}`,
    })),
  ];
  keyed(list, records, ({ seq }) => seq, () => el('li'), (node, record) => setText(node, record.text));
}
