// Light or dark: the system's choice unless the reader made another, which is kept. A classic script that runs before
// the first paint, since a module would come after it and the page would flash.
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
