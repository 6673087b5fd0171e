// Form fields: what is typed into them, and the server's word on it next to the one at fault.

import { byId, setText } from './dom.js';

/** A whole number whose thousands may be set apart. A decimal comma is none: nobody's 1,5 becomes 15. */
const GROUPED = /^\d{1,3}([ \u00a0\u202f,_'’]\d{3})+$/;

/** A number as people write it, a million as 1e6 included. */
const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)(e\d+)?$/i;

/**
 * What a field holds for the wire: a number if it reads as one, whole in the wire's unit; otherwise the text as it is, so
 * that the server says what is wrong with it. Nothing for an empty field.
 * @param {HTMLInputElement} input
 * @param {number} [factor] from the field's unit to the wire's, such as 1000 from seconds to ms
 * @returns {number|string|undefined}
 */
export function valueOf(input, factor = 1) {
  const text = input.value.trim();
  if (text === '') return undefined;
  const plain = GROUPED.test(text) ? text.replaceAll(/\D/g, '') : text;
  if (!PLAIN.test(plain)) return text;
  // A unit of the reader's may be told in parts, such as half a second; nodes may not.
  const whole = factor === 1 ? Number(plain) : Math.round(Number(plain) * factor);
  return Number.isSafeInteger(whole) ? whole : text;
}

/** Takes away what was said of the fields of a form. */
export function clearErrors(form) {
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
  for (const note of form.querySelectorAll('.error')) setText(note, '');
}

/**
 * Says what is wrong, next to the field with the error's name if the form has it.
 * @param {HTMLFormElement} form
 * @param {Error} error
 * @param {Element} elsewhere where an error of no field of the form is said
 * @param {Element} [fallback] the field to blame if the error names none of the form's
 */
export function showError(form, error, elsewhere, fallback) {
  const name = error.field;
  const input = (name && [...form.elements].find((element) => element.name === name)) || (error.status === 400 ? fallback : null);
  const note = input && byId(input.getAttribute('aria-describedby') ?? '');
  if (!note) {
    setText(elsewhere, error.message);
    return;
  }
  input.setAttribute('aria-invalid', 'true');
  setText(note, error.message);
  input.focus();
}
