// What cannot wait for the modules, in a classic script that runs before the first paint.

// Light or dark: the system's choice unless the reader made another, which is kept. Later, the page would flash.
(() => {
  const CHOICES = ['auto', 'light', 'dark'];
  const root = document.documentElement;
  const read = () => {
    try {
      return localStorage.getItem('theme');
    } catch {
      return null; // storage is refused: the choice then lasts as long as the page
    }
  };
  const apply = (choice) => {
    root.dataset.theme = CHOICES.includes(choice) ? choice : 'auto';
    const button = document.getElementById('theme');
    if (button) button.textContent = `Theme: ${root.dataset.theme}`;
  };
  apply(read());
  document.addEventListener('DOMContentLoaded', () => {
    apply(root.dataset.theme);
    document.getElementById('theme').addEventListener('click', () => {
      apply(CHOICES[(CHOICES.indexOf(root.dataset.theme) + 1) % CHOICES.length]);
      try {
        localStorage.setItem('theme', root.dataset.theme);
      } catch {
        // as above
      }
    });
  });
})();

// The position that the address means, asked for while the modules are still on their way. `position.js` draws it, `api.js` takes the
// answers if it asks for the same; all of it is no more than a head start.
(() => {
  const ask = (path) => fetch(`/api/v1${path}`, { cache: 'no-store' })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  const fields = new URLSearchParams(location.hash.slice(1));
  const askPosition = async (asked) => {
    const query = new URLSearchParams();
    for (const [name, text] of Object.entries(asked)) if (text) query.set(name, text);
    const path = `/position${query.size ? `?${query}` : ''}`;
    return { path, answer: await ask(path) };
  };
  const [start, moves, number] = ['start', 'moves', 'job'].map((name) => fields.get(name) ?? '');
  // A job alone means its position.
  const job = /^\d{1,15}$/.test(number) && !start && !moves ? { number: Number(number), answer: ask(`/jobs/${Number(number)}`) } : null;
  const position = job
    ? job.answer.then((answer) => (answer?.position ? askPosition({ position: answer.position }) : { path: null, answer: null }))
    : askPosition({ position: start, moves: moves.replaceAll('.', ' ') });
  // Whether the board shows the end of the moves, and which way round.
  window.early = { job, position, whole: !fields.has('at'), flipped: fields.get('flip') === '1' };
})();
