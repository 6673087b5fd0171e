// Pasting positions, move lists and replay codes in a declared notation, and copying them. No notation is guessed: a
// game in a wrong one may replay legally.

import * as api from './api.js';
import { byId, el, setText } from './dom.js';
import { clearErrors, showError } from './fields.js';

/** Copies through the clipboard if the page may use it (only on localhost and under TLS), and always shows the text. */
async function copy(text) {
  const shown = byId('copied');
  shown.value = text;
  try {
    await navigator.clipboard.writeText(text);
    setText(byId('copy-error'), '');
  } catch {
    shown.focus();
    shown.select();
    setText(byId('copy-error'), 'The browser does not let this page copy; the text is selected, copy it yourself.');
  }
}

/** @param {import('./game.js').Game} game */
export function bindExchange(game) {
  const form = byId('paste-form');
  const kind = byId('paste-kind');
  const text = byId('paste-text');

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    clearErrors(form);
    if (text.value.trim() === '') {
      showError(form, new Error('There is nothing to load: paste something first.'), byId('paste-error'));
      text.focus();
      return;
    }
    const asked = kind.value === 'position'
      ? { position: text.value.trim() }
      : { moves: text.value.trim(), notation: kind.value };
    try {
      await game.load(asked);
      text.value = '';
    } catch (error) {
      showError(form, error, byId('paste-error'), text);
      text.setAttribute('aria-invalid', 'true');
    }
  });

  const guarded = (action) => async () => {
    setText(byId('copy-error'), '');
    try {
      await copy(await action());
    } catch (error) {
      setText(byId('copy-error'), error.message);
    }
  };
  byId('copy-position').addEventListener('click', guarded(async () => game.position?.position ?? ''));
  byId('copy-link').addEventListener('click', guarded(async () => location.href));
  byId('copy-moves').addEventListener('click', guarded(async () => {
    const { moves } = await api.convert({
      from: 'man',
      to: byId('copy-notation').value,
      moves: game.moves.slice(0, game.at).join(' '),
      position: game.start ?? undefined,
    });
    return moves;
  }));

  return {
    /** Fills the lists of notations. */
    async load() {
      const { notations } = await api.notations();
      const option = ({ name, title }) => el('option', { value: name }, title ? `${name}: ${title}` : name);
      kind.replaceChildren(el('option', { value: 'position' }, 'Position text'), ...notations.map(option));
      byId('copy-notation').replaceChildren(...notations.map(({ name }) => el('option', { value: name }, name)));
    },
  };
}
