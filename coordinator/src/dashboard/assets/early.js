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

// The position on the board, asked for while the modules are still on their way. `api.js` takes the answer if it asks
// for the same; it is no more than a head start.
(() => {
  const fields = new URLSearchParams(location.hash.slice(1));
  const query = new URLSearchParams();
  if (fields.get('start')) query.set('position', fields.get('start'));
  if (fields.get('moves')) query.set('moves', fields.get('moves').replaceAll('.', ' '));
  const text = query.toString();
  const path = `/position${text ? `?${text}` : ''}`;
  const answer = fetch(`/api/v1${path}`, { cache: 'no-store' })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  window.early = { path, answer };
})();
