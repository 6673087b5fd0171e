// The page's own keys. They are those of a page without a focus: whoever types into a field or stands on a control that
// uses a key itself keeps it.

/** Elements that use the arrows, the space bar or letters themselves. */
const KEEPS_ALL = 'input:not([type=checkbox]), select, textarea, [contenteditable], [role=region][tabindex]';
const KEEPS_SPACE = 'button, a, summary, input, [role=button]';

/**
 * @param {Object<string, () => void>} actions by the key's name (`event.key`, letters in lower case)
 */
export function bindKeys(actions) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    // The way out of a field, and back to the page's own keys.
    if (event.key === 'Escape' && target.matches('input, select, textarea')) target.blur();
    if (target.closest(KEEPS_ALL) || target.closest('dialog[open]')) return;
    if (event.key === ' ' && target.closest(KEEPS_SPACE)) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
